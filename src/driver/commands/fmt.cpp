#include <fmt/format.h>

#include <algorithm>

#include "diag/render.h"
#include "driver/commands/command.h"
#include "driver/files.h"
#include "driver/model.h"
#include "driver/pipeline.h"
#include "sknd/syntax/parser.h"
#include "sknd/syntax/printer.h"

namespace lemma::driver {

namespace {

constexpr const char* kStandardInput = "-";

class Fmt final : public Command {
public:
    std::string name() const override { return "fmt"; }
    std::string summary() const override { return "formats SkriptND files, in place"; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    Outcome format(const std::string& path, bool colour, std::istream& input) const;
    Outcome deliver(const std::string& path, const std::string& old, std::string text) const;

    std::vector<std::string> files_;
    sknd::PrintOptions print_;
    sknd::ParseLimits limits_;
    Colour colour_ = Colour::Auto;
    bool check_ = false;
    bool stdout_ = false;
};

void Fmt::declare(Arguments& arguments) {
    arguments.words("FILE", files_, "a .sknd file; `-`: from standard input to standard output");
    arguments.flag("--check", check_, "change nothing; list the files that would change, exit 1");
    arguments.flag("--stdout", stdout_, "print the result instead of writing the file");
    const Choices<sknd::Spelling> spellings = {{"spec", sknd::Spelling::Spec},
                                               {"khronos", sknd::Spelling::Khronos}};
    arguments.choice("--dialect", print_.spelling, spellings, "the spelling to write (spec)");
    declare_colour(arguments, colour_);
    arguments.number("--max-depth", limits_.max_depth, {1, kMaxDepth}, "nesting to accept (256)");
}

Result<std::string> read(const std::string& path, std::istream& input) {
    if (path == kStandardInput) return read_all(input);
    Result<std::string> text = read_text(path);
    if (!text) return text;
    if (auto unsupported = unsupported_format(path)) return std::unexpected(*unsupported);
    return text;
}

// Imports may leave out their `;` at the end of a line (notes, resolution 16); we say that it came.
std::string import_notes(const sknd::Module& module, const diag::SourceMap& sources) {
    std::string notes;
    const std::string_view text = sources.text(module.file);
    for (const sknd::Import& import : module.imports) {
        const size_t next = text.find_first_not_of(" \t", import.span.end);
        const bool closed = sources.text(import.span).ends_with(';') ||
                            (next != std::string_view::npos && text[next] == ';');
        if (closed) continue;
        const diag::Place place = sources.place(module.file, import.span.end);
        notes += fmt::format("{}:{}:{}: note: added the missing `;` after this import\n",
                             sources.name(module.file),
                             place.line,
                             place.column);
    }
    return notes;
}

// A formatter that loses a part of the program is worse than none.
bool same_program(const sknd::Module& module, const std::string& text, sknd::ParseLimits limits) {
    diag::SourceMap sources;
    Diagnostics diag;
    limits.max_depth = kMaxDepth;
    const diag::FileId file = sources.add("formatted", text);
    const sknd::Module again = sknd::parse_module(sources, file, limits, diag);
    return !diag.has_errors() && sknd::dump_tree(again) == sknd::dump_tree(module);
}

Outcome Fmt::deliver(const std::string& path, const std::string& old, std::string text) const {
    if (check_) {
        if (text == old) return {};
        return {.status = kWrong, .out = path + "\n"};
    }
    if (stdout_ || path == kStandardInput) {
        return {.status = kGood, .out = std::move(text)};
    }
    if (text == old) return {};
    const Result<void> written = replace_file(path, text);
    if (written) return {};
    return {.status = kUnusable, .err = fmt::format("lemma: {}\n", written.error().message)};
}

Outcome Fmt::format(const std::string& path, bool colour, std::istream& input) const {
    const Result<std::string> text = read(path, input);
    if (!text) return {.status = kUnusable, .err = unreadable_line(text.error())};
    diag::SourceMap sources;
    Diagnostics diag;
    const std::string shown = path == kStandardInput ? "<stdin>" : path;
    const diag::FileId file = sources.add(shown, *text);
    const sknd::Module module = sknd::parse_module(sources, file, limits_, diag);
    if (diag.has_errors()) {
        diag.sort_by_place();
        return {.status = kWrong,
                .err = diag::render(sources, diag, {.brief = false, .colour = colour})};
    }
    std::string formatted = sknd::print(module, sources, print_);
    if (!same_program(module, formatted, limits_)) {
        return {
            .status = kFault,
            .err = fmt::format(
                "lemma: internal fault: formatting `{}` would change it; left as it is\n", shown)};
    }
    Outcome outcome = deliver(path, *text, std::move(formatted));
    outcome.err = import_notes(module, sources) + outcome.err;
    return outcome;
}

Outcome Fmt::run(Terminal terminal, std::istream& input) const {
    Outcome all;
    for (const std::string& path : files_) {
        const Outcome one = format(path, colour_errors(colour_, terminal), input);
        all.status = std::max(all.status, one.status);
        all.out += one.out;
        all.err += one.err;
    }
    return all;
}

}  // namespace

std::unique_ptr<Command> fmt_command() { return std::make_unique<Fmt>(); }

}  // namespace lemma::driver

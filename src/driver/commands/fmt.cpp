#include <fmt/format.h>

#include <algorithm>

#include "diag/render.h"
#include "driver/commands/command.h"
#include "driver/inputs.h"
#include "model/files.h"
#include "model/find_model.h"
#include "model/options.h"
#include "nnef1/syntax/parser.h"
#include "nnef1/syntax/printer.h"
#include "sknd/print/printer.h"
#include "sknd/syntax/parser.h"

namespace lemma::driver {

namespace {

enum class Dialect { Spec, Khronos, Tract };

// Empty if the text has errors.
struct Formatted {
    std::string text;
    bool same = false;  // it reads back as the same program
    std::string notes;  // remarks about changes
};

class Fmt final : public Command {
public:
    std::string name() const override { return "fmt"; }
    std::string summary() const override { return "formats SkriptND and NNEF 1.0 files, in place"; }
    std::string group() const override { return kLanguageCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    Outcome format(const std::string& path, bool colour, std::istream& input) const;
    Outcome deliver(const std::string& path, const std::string& old, std::string text) const;
    Formatted format_sknd(const diag::SourceMap& sources,
                          diag::FileId file,
                          Diagnostics& diag) const;
    Formatted format_nnef1(const diag::SourceMap& sources,
                           diag::FileId file,
                           Diagnostics& diag) const;

    std::vector<std::string> files_;
    Dialect dialect_ = Dialect::Spec;
    int max_depth_ = sknd::ParseLimits{}.max_depth;
    Colour colour_ = Colour::Auto;
    bool brief_ = false;
    bool check_ = false;
    bool stdout_ = false;
};

void Fmt::declare(Arguments& arguments) {
    arguments.words(
        "FILE", files_, "a .sknd or .nnef file; `-`: standard input to standard output");
    arguments.group("Output");
    arguments.flag(
        "--check", check_, "change nothing; list the files that would change and exit with 1");
    arguments.flag("--stdout", stdout_, "print the result instead of writing the file");
    arguments.group("Report");
    arguments.flag("--brief", brief_, "print one line per diagnostic, without excerpts");
    arguments.group("Output");
    const Choices<Dialect> dialects = {
        {"spec", Dialect::Spec}, {"khronos", Dialect::Khronos}, {"tract", Dialect::Tract}};
    arguments.choice("--dialect",
                     dialect_,
                     dialects,
                     "spelling to write; for NNEF 1.0 also the dialect to read (spec)");
    declare_colour(arguments, colour_);
    arguments.group("Limits");
    arguments.number("--max-depth", max_depth_, {1, model::kMaxDepth}, "limit on nesting (256)");
    arguments.example("lemma fmt main.sknd", "Formats a file in place.");
    arguments.example("lemma fmt --check src/*.sknd",
                      "Lists the files that would change; the status is 1 if there are any.");
    arguments.example("lemma fmt - < graph.nnef", "Formats standard input to standard output.");
}

std::string_view first_word(std::string_view text) {
    while (!text.empty()) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\f\v"), text.size()));
        if (!text.starts_with('#')) break;
        text.remove_prefix(std::min(text.find_first_of("\r\n\f"), text.size()));
    }
    return text.substr(0, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
}

// Decides by the file name, else by the beginning of the text.
bool is_nnef1(const std::string& path, std::string_view text) {
    if (path != kStandardInput) return path.ends_with(".nnef");
    return first_word(text) == "version" || first_word(text) == "fragment";
}

Result<std::string> read(const std::string& path, std::istream& input) {
    if (path == kStandardInput) return model::read_all(input);
    Result<std::string> text = model::read_text(path, FileKind::Any);
    if (!text || path.ends_with(".nnef")) return text;
    if (auto unsupported = model::unsupported_format(path)) return std::unexpected(*unsupported);
    if (path.ends_with(".onnx")) {
        return std::unexpected(
            Error{fmt::format("`{}`: ONNX models are no text", path), ErrorKind::Unreadable});
    }
    return text;
}

// Imports may omit the `;` at the end of a line (notes, resolution 16); a remark reports the added
// one.
std::string import_notes(const sknd::Module& module, const diag::SourceMap& sources) {
    std::string notes;
    const std::string_view text = sources.text(module.file);
    for (const sknd::Import& import : module.imports) {
        const size_t next = text.find_first_not_of(" \t", import.span.end);
        const bool closed = sources.text(import.span).ends_with(';') ||
                            (next != std::string_view::npos && text[next] == ';');
        if (closed) continue;
        const diag::LineColumn place = sources.place(module.file, import.span.end);
        notes += fmt::format("{}:{}:{}: note: added the missing `;` after this import\n",
                             sources.name(module.file),
                             place.line,
                             place.column);
    }
    return notes;
}

// A formatter must not lose a part of the program, so both formatters read their text back.
Formatted Fmt::format_sknd(const diag::SourceMap& sources,
                           diag::FileId file,
                           Diagnostics& diag) const {
    const sknd::Module module = sknd::parse_module(sources, file, {.max_depth = max_depth_}, diag);
    if (diag.has_errors()) return {};
    const sknd::Spelling spelling =
        dialect_ == Dialect::Khronos ? sknd::Spelling::Khronos : sknd::Spelling::Spec;
    std::string text = sknd::print(module, sources, {.spelling = spelling});
    diag::SourceMap again_sources;
    Diagnostics again_diag;
    const diag::FileId again_file = again_sources.add("formatted", text);
    const sknd::Module again =
        sknd::parse_module(again_sources, again_file, {.max_depth = model::kMaxDepth}, again_diag);
    return {.text = std::move(text),
            .same = !again_diag.has_errors() && sknd::dump_tree(again) == sknd::dump_tree(module),
            .notes = import_notes(module, sources)};
}

Formatted Fmt::format_nnef1(const diag::SourceMap& sources,
                            diag::FileId file,
                            Diagnostics& diag) const {
    const nnef1::Dialect dialect = dialect_ == Dialect::Khronos ? nnef1::Dialect::Khronos
                                   : dialect_ == Dialect::Tract ? nnef1::Dialect::Tract
                                                                : nnef1::Dialect::Strict;
    nnef1::ParseOptions options = {.dialect = dialect, .limits = {.max_depth = max_depth_}};
    if (first_word(sources.text(file)) == "fragment") options.kind = nnef1::DocumentKind::Library;
    const nnef1::Document document = nnef1::parse_document(sources, file, options, diag);
    if (diag.has_errors()) return {};
    std::string text = nnef1::print(document, sources, {.dialect = dialect});
    diag::SourceMap again_sources;
    Diagnostics again_diag;
    const diag::FileId again_file = again_sources.add("formatted", text);
    options.limits.max_depth = model::kMaxDepth;
    const nnef1::Document again =
        nnef1::parse_document(again_sources, again_file, options, again_diag);
    const bool same =
        !again_diag.has_errors() && nnef1::dump_tree(again) == nnef1::dump_tree(document);
    return {.text = std::move(text), .same = same, .notes = {}};
}

Outcome Fmt::deliver(const std::string& path, const std::string& old, std::string text) const {
    if (check_) {
        if (text == old) return {};
        return {.status = model::kWrong, .out = path + "\n"};
    }
    if (stdout_ || path == kStandardInput) {
        return {.status = model::kGood, .out = std::move(text)};
    }
    if (text == old) return {};
    const Result<void> written = model::replace_file(path, text);
    if (written) return {};
    return {.status = model::kUnusable, .err = model::error_line(written.error())};
}

Outcome Fmt::format(const std::string& path, bool colour, std::istream& input) const {
    const Result<std::string> text = read(path, input);
    if (!text) return {.status = model::kUnusable, .err = model::error_line(text.error())};
    if (dialect_ == Dialect::Tract && !is_nnef1(path, *text)) {
        return {.status = model::kUnusable,
                .err = fmt::format("lemma: --dialect=tract is for NNEF 1.0, not for `{}`\n", path)};
    }
    diag::SourceMap sources;
    Diagnostics diag;
    const std::string shown = path == kStandardInput ? "<stdin>" : path;
    const diag::FileId file = sources.add(shown, *text);
    Formatted formatted = is_nnef1(path, *text) ? format_nnef1(sources, file, diag)
                                                : format_sknd(sources, file, diag);
    if (diag.has_errors()) {
        diag.sort_by_place();
        return {.status = model::kWrong,
                .err = diag::render(sources, diag, {.brief = brief_, .colour = colour})};
    }
    if (!formatted.same) {
        return {
            .status = model::kFault,
            .err = fmt::format(
                "lemma: internal fault: formatting `{}` would change it; left as it is\n", shown)};
    }
    Outcome outcome = deliver(path, *text, std::move(formatted.text));
    outcome.err = formatted.notes + outcome.err;
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

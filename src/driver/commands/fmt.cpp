// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "diag/render.h"
#include "driver/commands/command.h"
#include "driver/inputs.h"
#include "model/files.h"
#include "model/find_model.h"
#include "model/format_text.h"
#include "model/options.h"

namespace lemma::driver {

namespace {

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

    std::vector<std::string> files_;
    model::FormatOptions options_;
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
    using Dialect = model::TextDialect;
    const Choices<Dialect> dialects = {
        {"spec", Dialect::Spec}, {"khronos", Dialect::Khronos}, {"tract", Dialect::Tract}};
    arguments.choice("--dialect",
                     options_.dialect,
                     dialects,
                     "spelling to write; for NNEF 1.0 also the dialect to read (spec)");
    declare_colour(arguments, colour_);
    arguments.group("Limits");
    arguments.number(
        "--max-depth", options_.max_depth, {1, model::kMaxDepth}, "limit on nesting (256)");
    arguments.example("lemma fmt main.sknd", "Formats a file in place.");
    arguments.example("lemma fmt --check src/*.sknd",
                      "Lists the files that would change; the status is 1 if there are any.");
    arguments.example("lemma fmt - < graph.nnef", "Formats standard input to standard output.");
}

// Decides by the file name, else by the beginning of the text.
model::TextLanguage language_of(const std::string& path, std::string_view text) {
    if (path == kStandardInput) return model::language_of(text);
    return path.ends_with(".nnef") ? model::TextLanguage::Nnef1 : model::TextLanguage::SkriptND;
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
    model::FormatOptions options = options_;
    options.language = language_of(path, *text);
    model::Finding finding;
    auto formatted =
        model::format_text(path == kStandardInput ? "<stdin>" : path, *text, options, finding);
    if (finding.unusable) {
        return {.status = finding.status, .err = model::error_line(*finding.unusable)};
    }
    if (!formatted) {
        return {.status = finding.status,
                .err = diag::render(
                    finding.sources, finding.diag, {.brief = brief_, .colour = colour})};
    }
    Outcome outcome = deliver(path, *text, std::move(*formatted));
    outcome.err = model::remarks_text(finding) + outcome.err;
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

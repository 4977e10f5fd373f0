// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "diag/render.h"
#include "driver/commands/command.h"
#include "model/files.h"
#include "ops/examples.h"
#include "ops/library.h"
#include "ops/markdown.h"
#include "ops/select.h"
#include "ops/text.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;
using ops::ModuleText;
using ops::Page;
using ops::Selection;

class Ops final : public Command {
public:
    std::string name() const override { return "ops"; }
    std::string summary() const override { return "lists or explains the standard operators"; }
    std::string group() const override { return kLanguageCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    Outcome explain(const std::vector<ModuleText>& library) const;
    Outcome write_examples(const std::vector<ModuleText>& library) const;
    void add_file(const std::string& path, Outcome& outcome, std::vector<ModuleText>& chosen) const;
    Outcome compare_pages(const std::vector<Page>& pages) const;

    std::vector<std::string> names_;
    std::string markdown_, examples_;
    bool json_ = false;
    bool all_ = false;
    bool check_ = false;
};

void Ops::declare(Arguments& arguments) {
    arguments.optional_words("NAME",
                             names_,
                             "`nn.conv`, `relu`, a module, or a pattern such as `nn.*_pool`; "
                             "FILE.sknd: the operators of a file");
    arguments.flag("--all", all_, "include private operators, whose names begin with `_`");
    arguments.flag("--json", json_, "print one JSON document instead of text");
    arguments.text("--markdown", markdown_, "DIR", "write a page per operator, and an index");
    arguments.flag(
        "--check", check_, "with --markdown: write nothing, list the pages that would change");
    arguments.text(
        "--examples", examples_, "DIR", "write the example of each operator: a model and its test");
    arguments.exclude("--json", "--markdown");
    arguments.exclude("--examples", "--json");
    arguments.exclude("--examples", "--markdown");
    arguments.need("--check", "--markdown");
    arguments.remark("To list operators of other formats, name them: `onnx.*` or `nnef1.*`.");
    arguments.example("lemma ops nn.conv", "An operator: signature, asserts and formula.");
    arguments.example("lemma ops 'onnx.*'", "The operators of ONNX.");
    arguments.example("lemma ops nn.conv --examples=. && lemma test nn",
                      "A small model that calls the operator, with the numbers that come out.");
    arguments.example("lemma ops my_ops.sknd", "The operators of a file.");
}

// All definitions of a file, in full.
void Ops::add_file(const std::string& path,
                   Outcome& outcome,
                   std::vector<ModuleText>& chosen) const {
    const auto text = model::read_text(path, FileKind::Regular);
    if (!text) {
        outcome.status = model::kUnusable;
        outcome.err += model::error_line(text.error());
        return;
    }
    diag::SourceMap sources;
    Diagnostics diag;
    ModuleText module = ops::describe_text(sources, sources.add(path, *text), diag);
    if (diag.has_errors()) {
        outcome.status = std::max<int>(outcome.status, model::kWrong);
        outcome.err += diag::render(sources, diag, {});
        return;
    }
    for (const ops::OperatorText& op : module.operators) {
        if (json_) break;
        if (!outcome.out.empty()) outcome.out += "\n";
        outcome.out += model::safe_text(operator_text(op));
    }
    chosen.push_back(std::move(module));
}

// Each name separately: one operator in full, several as a list.
Outcome Ops::explain(const std::vector<ModuleText>& library) const {
    Outcome outcome;
    std::vector<ModuleText> chosen;
    for (const std::string& name : names_) {
        if (name.ends_with(".sknd")) {
            add_file(name, outcome, chosen);
            continue;
        }
        Result<Selection> selection = select_operators(library, name);
        if (!selection) {
            outcome.status = model::kWrong;
            outcome.err += model::error_line(selection.error());
            continue;
        }
        auto& modules = selection->modules;
        if (!json_) {
            if (!outcome.out.empty()) outcome.out += "\n";
            outcome.out += selection->one ? operator_text(modules.front().operators.front())
                                          : list_text(modules);
        }
        std::ranges::move(modules, std::back_inserter(chosen));
    }
    if (json_) outcome.out = operators_json(chosen);
    return outcome;
}

// ---- Pages --------------------------------------------------------------------------------------

Result<void> write_page(const fs::path& path, const std::string& text) {
    LEMMA_TRY(tensor::make_folder(path.parent_path().string()));
    return tensor::write_file(path.string(), text);
}

Outcome write_pages(const std::string& folder, const std::vector<Page>& pages) {
    for (const Page& page : pages) {
        const fs::path path = fs::path(folder) / page.path;
        const auto written = write_page(path, page.text);
        if (!written)
            return {.status = model::kUnusable, .err = model::error_line(written.error())};
    }
    return {};
}

// Lists missing, changed and obsolete pages.
Outcome Ops::compare_pages(const std::vector<Page>& pages) const {
    Outcome outcome;
    std::set<fs::path> known;
    const auto complain = [&](const fs::path& path, const char* what) {
        outcome.status = model::kWrong;
        outcome.out += fmt::format("{}: {}\n", path.string(), what);
    };
    for (const Page& page : pages) {
        const fs::path path = fs::path(markdown_) / page.path;
        known.insert(path);
        const Result<std::string> text = model::read_text(path.string(), FileKind::Regular);
        if (!text)
            complain(path, "missing");
        else if (*text != page.text)
            complain(path, "differs from its definition");
    }
    std::set<fs::path> stale;
    std::error_code trouble;
    for (fs::recursive_directory_iterator entry(markdown_, trouble), end; !trouble && entry != end;
         entry.increment(trouble)) {
        if (entry->path().extension() == ".md" && !known.contains(entry->path())) {
            stale.insert(entry->path());
        }
    }
    for (const fs::path& path : stale) complain(path, "of no operator");
    return outcome;
}

// Those of the named operators, or of all.
Outcome Ops::write_examples(const std::vector<ModuleText>& library) const {
    std::vector<Page> files;
    const auto add = [&](const std::vector<ModuleText>& modules) {
        for (const ModuleText& module : modules) {
            for (const ops::OperatorText& op : module.operators) {
                const ops::OperatorExample* found = ops::example_of(op.module, op.name);
                if (found == nullptr) continue;
                const std::string path = fmt::format("{}/{}", op.module, op.name);
                files.push_back({path + ".sknd", std::string(found->model)});
                files.push_back({path + ".test", std::string(found->test)});
            }
        }
    };
    if (names_.empty()) add(library);
    for (const std::string& name : names_) {
        const Result<Selection> selection = select_operators(library, name);
        if (!selection)
            return {.status = model::kWrong, .err = model::error_line(selection.error())};
        add(selection->modules);
    }
    if (files.empty())
        return {.status = model::kWrong,
                .err = "lemma: no operator of these names has an example\n"};
    return write_pages(examples_, files);
}

Outcome Ops::run(Terminal, std::istream&) const {
    const std::vector<ModuleText> modules = ops::listed_library(names_, all_);
    if (!markdown_.empty()) {
        const std::vector<Page> pages = markdown_pages(modules);
        return check_ ? compare_pages(pages) : write_pages(markdown_, pages);
    }
    if (!examples_.empty()) return write_examples(modules);
    if (!names_.empty()) return explain(modules);
    return {.status = model::kGood, .out = json_ ? operators_json(modules) : list_text(modules)};
}

}  // namespace

std::unique_ptr<Command> ops_command() { return std::make_unique<Ops>(); }

}  // namespace lemma::driver

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "diag/json_text.h"
#include "driver/commands/command.h"
#include "driver/folder.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/testing/case_run.h"
#include "model/files.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using session::EngineKind;

constexpr const char* kEnding = ".test";
enum class Engines { Both, Interpret, Jit };

class Test final : public Command {
public:
    std::string name() const override { return "test"; }
    std::string summary() const override { return "compares operators and models with test files"; }
    std::string group() const override { return kLanguageCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    struct Counts {
        size_t passed = 0, failed = 0;
    };
    Result<std::vector<std::string>> files() const;
    Result<Json> run_file(const std::string& path,
                          const Terminal& terminal,
                          Counts& counts,
                          std::string& text) const;
    std::vector<EngineKind> engines() const;

    std::vector<std::string> paths_;
    std::string filter_;
    Engines engines_ = Engines::Both;
    session::SessionOptions session_;
    bool verbose_ = false;
    bool json_ = false;
};

void Test::declare(Arguments& arguments) {
    arguments.words(
        "FILE", paths_, "a .test file, the .sknd file beside it, or a folder with .test files");
    arguments.group("Cases");
    arguments.text("--filter", filter_, "TEXT", "run the cases with this text in their name");
    const Choices<Engines> engines = {
        {"both", Engines::Both}, {"interpret", Engines::Interpret}, {"jit", Engines::Jit}};
    arguments.choice(
        "--engine", engines_, engines, "run in the interpreter, as compiled code, or both (both)");
    declare_compile_options(arguments, session_.compile);
    arguments.group("Report");
    arguments.flag("-v,--verbose", verbose_, "also list the cases that pass");
    arguments.flag("--json", json_, "print one JSON document instead of text");
    declare_limits(arguments, session_.check);
    declare_source_limits(arguments, session_.source);
    arguments.remark(
        "A case has a call or a graph, inputs, and the expected outputs or error. A value passes "
        "if "
        "|found - expected| <= atol + rtol * |expected|, with 1e-5 and 1e-6 unless the file says "
        "otherwise. The exit status is 1 if a case fails, and 2 if a file cannot be read.");
    arguments.example("lemma test ops.test", "Runs the cases of a file in both engines.");
    arguments.example("lemma test . --filter=softsign",
                      "Runs the cases of all files below this folder with that name.");
}

void collect(const fs::path& folder, int depth, std::vector<std::string>& found) {
    std::error_code ignored;
    for (const fs::path& path : entries_of(folder)) {
        if (path.filename().string().starts_with('.')) continue;
        if (path.extension() == kEnding && !fs::is_directory(path, ignored)) {
            found.push_back(path.string());
        } else if (depth > 0 && fs::is_directory(path, ignored)) {
            collect(path, depth - 1, found);
        }
    }
}

Result<std::vector<std::string>> Test::files() const {
    constexpr int kDepth = 8;
    std::vector<std::string> files;
    std::error_code ignored;
    for (const std::string& path : paths_) {
        if (fs::is_directory(path, ignored)) {
            const size_t before = files.size();
            collect(path, kDepth, files);
            if (files.size() == before) return cannot_read(path, "no .test file in it or below it");
            continue;
        }
        const fs::path named = path;
        const fs::path beside = fs::path(path).replace_extension(kEnding);
        const bool other = named.extension() != kEnding;
        if (other && !fs::exists(beside, ignored))
            return cannot_read(path, fmt::format("there is no `{}` beside it", beside.string()));
        files.push_back(other ? beside.string() : path);
    }
    return files;
}

// The model that the cases of a file are about, if they do not say otherwise.
std::string model_beside(const fs::path& file) {
    std::error_code ignored;
    for (const char* ending : {".sknd", ".nnef", ".onnx", ""}) {
        fs::path path = file;
        path.replace_extension(ending);
        if (fs::exists(path, ignored)) return path.filename().string();
    }
    return "";
}

std::vector<EngineKind> Test::engines() const {
    switch (engines_) {
        case Engines::Interpret:
            return {EngineKind::Interpret};
        case Engines::Jit:
            return {EngineKind::Jit};
        case Engines::Both:
            break;
    }
    return {EngineKind::Interpret, EngineKind::Jit};
}

std::string failure_text(const std::string& place,
                         const TestCase& test,
                         const TestFailure& failure) {
    std::string text =
        fmt::format("FAILED {}: {} ({}): {}\n", place, test.name, failure.engine, failure.message);
    if (!failure.expected.empty()) text += fmt::format("    expected {}\n", failure.expected);
    if (!failure.found.empty()) text += fmt::format("    found    {}\n", failure.found);
    return text;
}

Json case_json(const TestCase& test, const std::vector<TestFailure>& failures) {
    Json list = Json::array();
    for (const TestFailure& failure : failures) {
        Json json = {{"engine", failure.engine}, {"message", failure.message}};
        if (!failure.expected.empty()) json["expected"] = failure.expected;
        if (!failure.found.empty()) json["found"] = failure.found;
        list.push_back(std::move(json));
    }
    return {{"name", test.name},
            {"line", test.line},
            {"passed", failures.empty()},
            {"failures", std::move(list)}};
}

Result<Json> Test::run_file(const std::string& path,
                            const Terminal& terminal,
                            Counts& counts,
                            std::string& text) const {
    LEMMA_TRY(const std::string content, model::read_text(path, FileKind::Any));
    const auto cases = read_test_cases(content);
    if (!cases) return std::unexpected(Error{fmt::format("{}:{}", path, cases.error().message)});
    const fs::path folder = fs::path(path).parent_path();
    const TestOptions options{.folder = folder.empty() ? "." : folder.string(),
                              .beside = model_beside(path),
                              .session = session_,
                              .engines = engines()};
    Json list = Json::array();
    for (const TestCase& test : *cases) {
        if (test.name.find(filter_) == std::string::npos) continue;
        show_stage(terminal, bar_text(list.size(), cases->size(), path));
        const auto failures = run_test_case(test, options);
        ++(failures.empty() ? counts.passed : counts.failed);
        const std::string place = fmt::format("{}:{}", path, test.line);
        if (verbose_ && failures.empty()) text += fmt::format("passed {}: {}\n", place, test.name);
        for (const TestFailure& failure : failures) text += failure_text(place, test, failure);
        list.push_back(case_json(test, failures));
    }
    return Json{{"file", path}, {"cases", std::move(list)}};
}

Outcome Test::run(Terminal terminal, std::istream&) const {
    const auto paths = files();
    if (!paths) return {.status = model::kUnusable, .err = model::error_line(paths.error())};
    Outcome outcome;
    Counts counts;
    Json documents = Json::array();
    for (const std::string& path : *paths) {
        auto document = run_file(path, terminal, counts, outcome.out);
        if (document) {
            documents.push_back(std::move(*document));
            continue;
        }
        outcome.status = model::kUnusable;
        outcome.err += model::error_line(document.error());
        documents.push_back({{"file", path}, {"error", document.error().message}});
    }
    if (counts.passed + counts.failed == 0 && outcome.status == model::kGood) {
        outcome.status = model::kUnusable;
        outcome.err +=
            model::error_line(Error{fmt::format("no case has `{}` in its name", filter_)});
    }
    if (counts.failed > 0) outcome.status = std::max<int>(outcome.status, model::kWrong);
    if (json_) {
        outcome.out = diag::json_text({{"files", std::move(documents)},
                                       {"passed", counts.passed},
                                       {"failed", counts.failed}});
    } else {
        outcome.out = model::safe_text(outcome.out) +
                      fmt::format("{} passed, {} failed\n", counts.passed, counts.failed);
    }
    return outcome;
}

}  // namespace

std::unique_ptr<Command> test_command() { return std::make_unique<Test>(); }

}  // namespace lemma::driver

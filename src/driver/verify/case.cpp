// SPDX-License-Identifier: Apache-2.0
#include "driver/verify/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "diag/render.h"
#include "driver/folder.h"
#include "driver/verify/onnx_case.h"
#include "model/files.h"
#include "session/tensors.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

bool is_case(const fs::path& folder) {
    std::error_code ignored;
    return fs::exists(folder / "case.json", ignored) || fs::exists(folder / "model.onnx", ignored);
}

void collect_cases(const fs::path& folder, int depth, std::vector<std::string>& cases) {
    if (is_case(folder)) {
        cases.push_back(folder.string());
        return;
    }
    if (depth == 0) return;
    std::error_code ignored;
    for (const fs::path& path : entries_of(folder)) {
        if (fs::is_directory(path, ignored)) collect_cases(path, depth - 1, cases);
    }
}

// The content of case.json.
struct Description {
    Tolerance tolerance;
    std::string graph;
    std::vector<std::string> attributes;  // NAME=VALUE
    int64_t steps = 0;                    // 0: a single run without folders for steps
    bool quantize = false;
};

Result<Description> read_description(const fs::path& folder) {
    const std::string path = (folder / "case.json").string();
    LEMMA_TRY(const std::string text, model::read_text(path, FileKind::Regular));
    const json document = json::parse(text, nullptr, false);
    if (!document.is_object()) return bad(fmt::format("`{}` is not a JSON object", path));
    Description description;
    const auto number = [&](const char* key, double& value) {
        if (document.contains(key) && document[key].is_number()) value = document[key];
    };
    number("rtol", description.tolerance.relative);
    number("atol", description.tolerance.absolute);
    if (document.contains("graph") && document["graph"].is_string()) {
        description.graph = document["graph"];
    }
    if (document.contains("quant") && document["quant"].is_boolean()) {
        description.quantize = document["quant"];
    }
    if (document.contains("steps") && document["steps"].is_number_integer()) {
        description.steps = document["steps"];
    }
    if (document.contains("attribs") && document["attribs"].is_object()) {
        for (const auto& [name, value] : document["attribs"].items()) {
            description.attributes.push_back(fmt::format("{}={}", name, value.dump()));
        }
    }
    return description;
}

// The folders of one step: inputs and expected outputs.
struct StepFolders {
    std::string inputs, outputs;
};
StepFolders step_folders(const fs::path& folder, const Description& description, int64_t step) {
    if (description.steps == 0) {
        return {(folder / "inputs").string(), (folder / "outputs").string()};
    }
    const std::string number = fmt::format("{}", step);
    std::error_code ignored;
    if (fs::is_directory(folder / "steps" / number, ignored)) {
        const fs::path inside = folder / "steps" / number;
        return {(inside / "inputs").string(), (inside / "outputs").string()};
    }
    return {(folder / "inputs" / number).string(), (folder / "outputs" / number).string()};
}

Tolerance tolerance_of(const Description& description, const CaseOptions& options) {
    return {.relative = options.relative.value_or(description.tolerance.relative),
            .absolute = options.absolute.value_or(description.tolerance.absolute)};
}

session::SessionOptions session_of(const Description& description, const CaseOptions& options) {
    session::SessionOptions session = options.session;
    if (!description.graph.empty()) session.check.graph.graph = description.graph;
    auto& attributes = session.check.graph.attributes;
    attributes.insert(
        attributes.end(), description.attributes.begin(), description.attributes.end());
    session.quantize = session.quantize || description.quantize;
    return session;
}

// The inputs of a step, complete.
Result<interpret::NamedArrays> inputs_of(const ir::Program& program, const std::string& folder) {
    const ir::Graph& main = program.graphs[program.main];
    LEMMA_TRY(auto inputs, session::read_folder(program, main.inputs, folder));
    // An empty pack has no file.
    for (const ir::Port& port : main.inputs) {
        if (port.operand.packed) inputs.try_emplace(port.name);
    }
    const auto missing = session::missing_inputs(program, inputs);
    if (missing.empty()) return inputs;
    return bad(fmt::format("no file for the input `{}` in `{}`", missing[0], folder));
}

class CaseRun {
public:
    CaseRun(fs::path folder, const CaseOptions& options, CaseResult& result)
        : folder_(std::move(folder)), options_(options), result_(result) {}

    void run();

private:
    bool run_step(session::Session& session, const Description& description, int64_t step);
    void compare_port(const ir::Port& port,
                      const std::vector<interpret::Array>& got,
                      const std::string& folder,
                      const std::string& where);
    bool fail(std::string text) {
        result_.failures.push_back(std::move(text));
        return false;
    }
    bool fail_by_finding();

    fs::path folder_;
    const CaseOptions& options_;
    CaseResult& result_;
    model::Finding finding_{.model = "", .diag = Diagnostics()};
    Tolerance tolerance_;
};

bool CaseRun::fail_by_finding() {
    if (finding_.unusable) return fail(finding_.unusable->message);
    std::string text = diag::render(finding_.sources, finding_.diag, {.brief = true});
    while (text.ends_with('\n')) text.pop_back();
    return fail(std::move(text));
}

void CaseRun::run() {
    const auto description = read_description(folder_);
    if (!description) {
        fail(description.error().message);
        return;
    }
    tolerance_ = tolerance_of(*description, options_);
    const auto session = session::Session::open(
        (folder_ / "model").string(), session_of(*description, options_), finding_);
    if (!session) {
        fail_by_finding();
        return;
    }
    const int64_t steps = std::max<int64_t>(description->steps, 1);
    for (int64_t step = 0; step < steps; ++step) {
        if (!run_step(*session, *description, step)) break;
    }
    add_remarks(finding_, result_);
}

bool CaseRun::run_step(session::Session& session, const Description& description, int64_t step) {
    const ir::Program& program = session.program();
    const ir::Graph& main = program.graphs[program.main];
    const StepFolders folders = step_folders(folder_, description, step);
    const auto inputs = inputs_of(program, folders.inputs);
    if (!inputs) return fail(inputs.error().message);
    const auto outputs = session.step(*inputs, finding_);
    if (!outputs) return fail_by_finding();
    const std::string where = description.steps == 0 ? "" : fmt::format("step {}: ", step);
    for (const ir::Port& port : main.outputs) {
        compare_port(port, outputs->at(port.name), folders.outputs, where);
    }
    return true;
}

void CaseRun::compare_port(const ir::Port& port,
                           const std::vector<interpret::Array>& got,
                           const std::string& folder,
                           const std::string& where) {
    const auto expected = [&](const std::string& name) { return session::find_file(folder, name); };
    const auto names = session::item_names(port, got.size() + 1);
    std::error_code ignored;
    if (port.operand.packed && fs::exists(expected(names.back()), ignored)) {
        fail(fmt::format("{}{} has {} items, expected more", where, port.name, got.size()));
    }
    for (size_t i = 0; i < got.size(); ++i) {
        const auto want = session::read_array(expected(names[i]));
        if (!want) {
            fail(where + want.error().message);
            continue;
        }
        const auto difference = compare(names[i], got[i], *want, tolerance_);
        if (difference) fail(where + difference->text);
    }
}

}  // namespace

Result<std::vector<std::string>> find_cases(const std::string& path) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        return cannot_read(path,
                           fs::exists(path, ignored) ? "it is not a folder" : file_trouble(ENOENT));
    }
    constexpr int kDepth = 4;
    std::vector<std::string> cases;
    collect_cases(path, kDepth, cases);
    if (cases.empty()) return cannot_read(path, "no case.json in it or below it");
    return cases;
}

void add_remarks(const model::Finding& finding, CaseResult& result) {
    for (const diag::Note& remark : finding.remarks) result.remarks.push_back(remark.message);
}

Result<PreparedCase> prepare_case(const std::string& folder, const CaseOptions& options) {
    std::error_code ignored;
    if (!fs::exists(fs::path(folder) / "case.json", ignored))
        return prepare_onnx_case(folder, options);
    LEMMA_TRY(const Description description, read_description(folder));
    return PreparedCase{.model = (fs::path(folder) / "model").string(),
                        .session = session_of(description, options),
                        .tolerance = tolerance_of(description, options),
                        .steps = std::max<int64_t>(description.steps, 1),
                        .inputs = [folder, description](const ir::Program& program, int64_t step) {
                            return inputs_of(program,
                                             step_folders(folder, description, step).inputs);
                        }};
}

CaseResult run_case(const std::string& folder, const CaseOptions& options) {
    CaseResult result{.name = folder, .failures = {}, .remarks = {}};
    std::error_code ignored;
    if (!fs::exists(fs::path(folder) / "case.json", ignored)) {
        run_onnx_case(folder, options, result);
        return result;
    }
    CaseRun(folder, options, result).run();
    return result;
}

}  // namespace lemma::driver

// SPDX-License-Identifier: Apache-2.0
#include "driver/verify/onnx_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "diag/render.h"
#include "driver/folder.h"
#include "tensor/files/tensor_file.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

// The tolerances of the ONNX project's own runner. Half precision has fewer digits.
constexpr Tolerance kTolerance = {.relative = 1e-3, .absolute = 1e-7};
constexpr Tolerance kHalfTolerance = {.relative = 4e-3, .absolute = 2e-3};
constexpr Tolerance kBrainTolerance = {.relative = 2e-2, .absolute = 1e-2};

const Tolerance& tolerance_of(ir::DType dtype) {
    if (dtype == ir::DType::F16) return kHalfTolerance;
    return dtype == ir::DType::BF16 ? kBrainTolerance : kTolerance;
}

std::vector<std::string> numbered_files(const fs::path& folder, const std::string& stem) {
    std::vector<std::string> files;
    std::error_code ignored;
    for (int i = 0;; ++i) {
        const fs::path path = folder / fmt::format("{}_{}.pb", stem, i);
        if (!fs::exists(path, ignored)) return files;
        files.push_back(path.string());
    }
}

// A tensor whose name matches a port belongs to it; the others follow the order of the ports.
Result<interpret::NamedArrays> read_arrays(const std::vector<ir::Port>& ports,
                                           const std::vector<std::string>& files) {
    interpret::NamedArrays arrays;
    for (size_t i = 0; i < files.size(); ++i) {
        LEMMA_TRY(const tensor::NamedTensor named, tensor::read_tensor_file(files[i]));
        const bool known = std::ranges::any_of(
            ports, [&](const ir::Port& port) { return port.name == named.name; });
        if (!known && i >= ports.size())
            return std::unexpected(Error{fmt::format("`{}` is one too many", files[i])});
        const std::string& name = known ? named.name : ports[i].name;
        LEMMA_TRY(interpret::Array array, interpret::to_array(named.tensor));
        arrays[name] = {std::move(array)};
    }
    return arrays;
}

class OnnxCase {
public:
    OnnxCase(fs::path folder, const CaseOptions& options, CaseResult& result)
        : folder_(std::move(folder)), options_(options), result_(result) {}

    void run();

private:
    bool run_set(const fs::path& data);
    void compare_outputs(const std::vector<ir::Port>& ports,
                         const interpret::NamedArrays& outputs,
                         const std::vector<std::string>& files);
    bool fail(std::string text) {
        result_.failures.push_back(std::move(text));
        return false;
    }
    bool fail_by_finding(const model::Finding& finding);

    fs::path folder_;
    const CaseOptions& options_;
    CaseResult& result_;
};

bool OnnxCase::fail_by_finding(const model::Finding& finding) {
    if (finding.unusable) return fail(finding.unusable->message);
    std::string text = diag::render(finding.sources, finding.diag, {.brief = true});
    while (text.ends_with('\n')) text.pop_back();
    return fail(std::move(text));
}

void OnnxCase::run() {
    std::vector<fs::path> sets = entries_of(folder_);
    std::erase_if(sets, [](const fs::path& path) {
        return !path.filename().string().starts_with("test_data_set_");
    });
    if (sets.empty()) fail("no test_data_set_0 in it");
    for (const fs::path& data : sets) run_set(data);
}

bool OnnxCase::run_set(const fs::path& data) {
    model::Finding finding{.model = folder_.string(), .diag = Diagnostics()};
    const std::vector<std::string> files = numbered_files(data, "input");
    session::SessionOptions session_options = options_.session;
    session_options.inputs = files;
    const auto session =
        session::Session::open((folder_ / "model.onnx").string(), session_options, finding);
    if (!session) return fail_by_finding(finding);
    const ir::Program& program = session->program();
    const ir::Graph& main = program.graphs[program.main];
    const auto inputs = read_arrays(main.inputs, files);
    if (!inputs) return fail(inputs.error().message);
    const auto outputs = session->step(*inputs, finding);
    add_remarks(finding, result_);
    if (!outputs) return fail_by_finding(finding);
    const std::vector<std::string> expected = numbered_files(data, "output");
    if (expected.empty())
        return fail(fmt::format("no output_0.pb in `{}`", data.filename().string()));
    compare_outputs(main.outputs, *outputs, expected);
    return true;
}

void OnnxCase::compare_outputs(const std::vector<ir::Port>& ports,
                               const interpret::NamedArrays& outputs,
                               const std::vector<std::string>& files) {
    const auto expected = read_arrays(ports, files);
    if (!expected) {
        fail(expected.error().message);
        return;
    }
    for (const ir::Port& port : ports) {
        const auto want = expected->find(port.name);
        if (want == expected->end()) continue;
        const interpret::Array& got = outputs.at(port.name)[0];
        Tolerance tolerance = tolerance_of(want->second[0].dtype);
        tolerance.relative = options_.relative.value_or(tolerance.relative);
        tolerance.absolute = options_.absolute.value_or(tolerance.absolute);
        if (got.dtype != want->second[0].dtype) {
            fail(fmt::format("{} has elements of {}, expected {}",
                             port.name,
                             tensor::dtype_name(got.dtype),
                             tensor::dtype_name(want->second[0].dtype)));
            continue;
        }
        const auto difference = compare(port.name, got, want->second[0], tolerance);
        if (difference) fail(difference->text);
    }
}

}  // namespace

Result<PreparedCase> prepare_onnx_case(const std::string& folder, const CaseOptions& options) {
    const fs::path data = fs::path(folder) / "test_data_set_0";
    PreparedCase prepared{.model = (fs::path(folder) / "model.onnx").string(),
                          .session = options.session,
                          .tolerance = {.relative = options.relative.value_or(kTolerance.relative),
                                        .absolute = options.absolute.value_or(kTolerance.absolute)},
                          .inputs = {}};
    std::error_code ignored;
    if (!fs::is_directory(data, ignored))
        return std::unexpected(Error{fmt::format("no test_data_set_0 in `{}`", folder)});
    prepared.session.inputs = numbered_files(data, "input");
    prepared.inputs = [files = prepared.session.inputs](const ir::Program& program, int64_t) {
        return read_arrays(program.graphs[program.main].inputs, files);
    };
    return prepared;
}

void run_onnx_case(const std::string& folder, const CaseOptions& options, CaseResult& result) {
    OnnxCase(folder, options, result).run();
}

}  // namespace lemma::driver

// Sessions of ONNX models: their weights come from the model, and the values of some inputs may
// have decided shapes.
#include <fmt/format.h>

#include "driver/run/session.h"

namespace lemma::driver {

std::unique_ptr<Session> Session::open_onnx(const ModelFile& file,
                                            const SessionOptions& options,
                                            Finding& finding) {
    const auto unusable = [&](Error error) {
        finding.unusable = std::move(error);
        finding.status = kUnusable;
        return nullptr;
    };
    auto model = load_onnx(file, options.check, options.inputs, finding.sources, finding.diag);
    if (!model) return unusable(model.error());
    onnx::Imported& imported = model->imported;
    if (!imported.program) {
        finding.status = kWrong;
        if (finding.diag.has_errors()) return nullptr;
        return unusable({undecided_text(imported) + ": give them when the model is loaded"});
    }
    auto session = std::unique_ptr<Session>(new Session());
    session->model_.file = model->file;
    session->model_.model = file;
    session->deciding_ = imported.deciding;
    session->interpreter_ =
        std::make_unique<loop::Interpreter>(std::move(*imported.program), options.run);
    if (!session->load_onnx_data(*model, finding)) return nullptr;
    return session;
}

bool Session::load_onnx_data(const OnnxModel& model, Finding& finding) {
    for (const onnx::VariableData& variable : model.imported.data) {
        const auto tensor = onnx::decode_tensor(variable.data, model.read_external);
        if (!tensor) {
            const onnx::Place place = variable.data.place;
            finding.diag.error(
                {model.file, place.begin, place.end}, DiagKind::BadData, tensor.error().message);
            finding.status = kWrong;
            continue;
        }
        auto array = loop::to_array(*tensor);
        Result<void> done;
        if (array) {
            const std::string& name = program().tensors[variable.tensor].name;
            done = interpreter_->set_variable(name, std::move(*array));
        } else {
            done = std::unexpected(array.error());
        }
        if (done) continue;
        finding.unusable = done.error();
        finding.status = kUnusable;
        return false;
    }
    return finding.status == kGood;
}

// The values that decided shapes were read before the first step, and are the same ever after.
bool Session::check_deciding(const loop::NamedArrays& inputs, Finding& finding) {
    for (const std::string& name : deciding_) {
        const auto given = inputs.find(name);
        if (given == inputs.end() || given->second.size() != 1) continue;
        const auto [before, first] = decided_.emplace(name, given->second);
        if (first) continue;
        const loop::Array& a = before->second[0];
        const loop::Array& b = given->second[0];
        if (a.shape == b.shape && a.integers == b.integers && a.reals == b.reals) continue;
        finding.unusable = Error{fmt::format(
            "the input `{}` decided shapes when the model was loaded, and has another value now",
            name)};
        finding.status = kUnusable;
        return false;
    }
    return true;
}

}  // namespace lemma::driver

#include <fmt/format.h>

#include <lemma/lemma.hpp>

#include "api/convert.h"
#include "api/inspect.h"
#include "api/report.h"
#include "base/checked.h"
#include "base/version.h"
#include "engine/engine.h"
#include "session/session.h"
#include "session/tensors.h"

namespace lemma {

struct Model::State {
    model::Finding finding;  // owns the texts that the model refers to
    std::unique_ptr<session::Session> session;
    api::Inspection about;
};

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

// Prepares for the next call; the texts stay.
void clear(model::Finding& finding) {
    finding.status = model::kGood;
    finding.diag = Diagnostics();
    finding.unusable.reset();
    finding.remarks.clear();
}

Result<session::SessionOptions> session_options(const LoadOptions& options) {
    session::SessionOptions session;
    model::GraphOptions& graph = session.check.graph;
    for (const std::string& attribute : options.attributes) {
        const size_t middle = attribute.find('=');
        if (middle == 0 || middle == std::string::npos) {
            return bad(fmt::format("`{}` is not of the form NAME=VALUE", attribute));
        }
    }
    if (!api::is_type(options.real) || !tensor::is_real(api::internal_type(options.real))) {
        return bad("`real` can be computed in f16, bf16, f32 and f64 only");
    }
    graph.graph = options.graph;
    graph.attributes = options.attributes;
    graph.compose.real = api::internal_type(options.real);
    session.random_weights = options.random_weights;
    session.weights = options.weights;
    session.quantize = options.quantize;
    session.run.seed = options.seed;
    switch (options.engine) {
        case EngineChoice::Auto:
            session.engine = session::EngineKind::Auto;
            break;
        case EngineChoice::Interpret:
            session.engine = session::EngineKind::Interpret;
            break;
        case EngineChoice::Compile:
            session.engine = session::EngineKind::Jit;
            break;
        default:
            return bad("there is no such engine");
    }
    constexpr int kMostThreads = 1024;
    if (options.threads < 1 || options.threads > kMostThreads) {
        return bad(
            fmt::format("there can be 1 to {} threads, not {}", kMostThreads, options.threads));
    }
    session.threads = options.threads;
    return session;
}

Result<interpret::NamedArrays> given_inputs(const ir::Program& program, const Tensors& inputs) {
    std::map<std::string, interpret::Array> arrays;
    for (const auto& [name, tensor] : inputs) {
        LEMMA_TRY(arrays[name], api::internal_array(name, tensor));
    }
    return session::gather_inputs(program, std::move(arrays));
}

Result<Tensors> public_outputs(const ir::Program& program, const interpret::NamedArrays& outputs) {
    Tensors tensors;
    for (const ir::Port& port : program.graphs[program.main].outputs) {
        const auto& items = outputs.at(port.name);
        const auto names = session::item_names(port, items.size());
        for (size_t i = 0; i < items.size(); ++i) {
            LEMMA_TRY(tensors[names[i]], api::public_tensor(items[i]));
        }
    }
    return tensors;
}

// Runs without a copy to the interpreter's form and back, if possible.
std::optional<Tensors> run_directly(session::Session& session, const Tensors& inputs) {
    engine::Engine* const engine = session.direct_engine();
    if (!engine) return std::nullopt;
    const ir::Program& program = session.program();
    const ir::Graph& graph = program.graphs[program.main];
    std::vector<engine::Engine::Bytes> given;
    for (const ir::Port& port : graph.inputs) {
        const auto names = session::item_names(port, port.operand.items.size());
        for (size_t i = 0; i < names.size(); ++i) {
            const auto found = inputs.find(names[i]);
            if (found == inputs.end()) return std::nullopt;
            const Tensor& tensor = found->second;
            if (!api::is_type(tensor.type) || tensor.type == DataType::Str) return std::nullopt;
            const tensor::DType dtype = api::internal_type(tensor.type);
            const auto count = tensor::volume(tensor.shape);
            const auto wanted = count ? checked_mul(*count, tensor::dtype_size(dtype)) : count;
            if (!wanted || tensor.bytes.size() != static_cast<size_t>(*wanted)) return std::nullopt;
            given.push_back({port.operand.items[i], dtype, &tensor.shape, tensor.bytes.data()});
        }
    }
    if (given.size() != inputs.size()) return std::nullopt;
    Tensors outputs;
    std::unordered_map<ir::TensorId, std::string, IdHash> names;
    for (const ir::Port& port : graph.outputs) {
        const auto items = session::item_names(port, port.operand.items.size());
        for (size_t i = 0; i < items.size(); ++i) names[port.operand.items[i]] = items[i];
    }
    const auto receive = [&](ir::TensorId id, tensor::DType dtype, const tensor::Shape& shape) {
        Tensor& tensor = outputs[names.at(id)];
        tensor.type = api::public_type(dtype);
        tensor.shape = shape;
        tensor.bytes.resize(
            static_cast<size_t>(*tensor::volume(shape) * tensor::dtype_size(dtype)));
        return static_cast<void*>(tensor.bytes.data());
    };
    const auto done = engine->run_directly(given, receive);
    // Two names for one tensor are rare; the general path handles them.
    if (!done || !*done || outputs.size() != names.size()) return std::nullopt;
    return outputs;
}

}  // namespace

const char* version() { return kVersion.data(); }

Model::Model(std::unique_ptr<State> state) : state_(std::move(state)) {}
Model::Model(Model&& other) noexcept = default;
Model& Model::operator=(Model&& other) noexcept = default;
Model::~Model() = default;

LoadResult Model::load(const std::string& path, const LoadOptions& options) {
    LoadResult result;
    api::guarded(result, [&] {
        const auto session = session_options(options);
        if (!session) return api::report_unusable(session.error(), result);
        auto state = std::make_unique<State>();
        state->finding.model = path;
        state->session = session::Session::open(path, *session, state->finding);
        api::report(state->finding, result);
        if (!state->session) return;
        state->about = api::inspect(state->session->program());
        result.model = Model(std::move(state));
    });
    return result;
}

const std::string& Model::name() const { return state_->session->program().name; }
const std::vector<TensorInfo>& Model::inputs() const { return state_->about.inputs; }
const std::vector<TensorInfo>& Model::outputs() const { return state_->about.outputs; }
const std::vector<TensorInfo>& Model::variables() const { return state_->about.variables; }
const std::vector<Operation>& Model::operations() const { return state_->about.operations; }

RunResult Model::run(const Tensors& inputs) {
    RunResult result;
    api::guarded(result, [&] {
        session::Session& session = *state_->session;
        model::Finding& finding = state_->finding;
        if (auto outputs = run_directly(session, inputs)) {
            clear(finding);
            result.outputs = std::move(*outputs);
            return;
        }
        const auto given = given_inputs(session.program(), inputs);
        if (!given) return api::report_unusable(given.error(), result);
        clear(finding);
        const auto outputs = session.step(*given, finding);
        api::report(finding, result);
        if (!outputs) return;
        auto tensors = public_outputs(session.program(), *outputs);
        if (!tensors) return api::report_unusable(tensors.error(), result);
        result.outputs = std::move(*tensors);
    });
    return result;
}

std::optional<Tensor> Model::variable(const std::string& name) const {
    std::optional<Tensor> value;
    Outcome ignored;
    api::guarded(ignored, [&] {
        const interpret::Array* const array = state_->session->variable(name);
        if (!array) return;
        if (auto tensor = api::public_tensor(*array)) value = std::move(*tensor);
    });
    return value;
}

Outcome Model::set_variable(const std::string& name, const Tensor& value) {
    Outcome outcome;
    api::guarded(outcome, [&] {
        auto array = api::internal_array(name, value);
        if (!array) return api::report_unusable(array.error(), outcome);
        const auto done = state_->session->set_variable(name, std::move(*array));
        if (!done) api::report_unusable(done.error(), outcome);
    });
    return outcome;
}

Outcome Model::save_variables(const std::string& folder) const {
    Outcome outcome;
    api::guarded(outcome, [&] {
        const auto done = state_->session->save_variables(folder);
        if (!done) api::report_unusable(done.error(), outcome);
    });
    return outcome;
}

}  // namespace lemma

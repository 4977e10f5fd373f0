#include "session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "engine/engine.h"
#include "interpret/random.h"
#include "loop/plan/plan.h"
#include "model/data_files.h"
#include "model/weights.h"
#include "session/quantize.h"
#include "session/widen.h"
#include "tensor/files/nnef_data.h"

namespace lemma::session {

namespace {

// Random weights that keep values bounded: matrices and filters scale with the number of summed
// terms; vectors are near 1, so that they can also be variances and scales.
Result<tensor::Tensor> random_weights(const ir::Tensor& tensor,
                                      tensor::Shape shape,
                                      uint64_t seed) {
    LEMMA_TRY(tensor::Tensor result, tensor::Tensor::zeros(tensor.dtype, std::move(shape)));
    for (const char c : tensor.name) seed = interpret::mix_bits(seed + static_cast<uint8_t>(c));
    const tensor::Shape& extents = result.shape();
    const int64_t rows = extents.empty() ? 1 : std::max<int64_t>(extents[0], 1);
    const auto long_axes = std::ranges::count_if(extents, [](int64_t n) { return n > 1; });
    const int64_t terms = long_axes > 1 ? std::max<int64_t>(result.size() / rows, 1) : 1;
    const double width = terms > 1 ? std::sqrt(3.0 / static_cast<double>(terms)) : 0.5;
    const double middle = terms > 1 ? 0.0 : 1.0;
    const bool real = tensor::is_real(tensor.dtype);
    if (tensor.dtype == tensor::DType::Str) return result;
    for (int64_t i = 0; i < result.size(); ++i) {
        const auto at = static_cast<size_t>(i);
        if (real) {
            result.set_real(i, middle + width * (2 * interpret::random_unit(seed, at) - 1));
        } else {
            result.set_integer(i, static_cast<int64_t>(interpret::random_bits(seed, at) & 1));
        }
    }
    return result;
}

Result<tensor::Shape> known_shape(const ir::Program& program, const ir::Tensor& tensor) {
    tensor::Shape shape;
    for (const ir::SymId part : tensor.shape) {
        const auto extent = program.symbols.as_int(part);
        if (!extent) {
            return std::unexpected(Error{fmt::format(
                "the shape of the variable `{}` is known only when it has data", tensor.name)});
        }
        shape.push_back(*extent);
    }
    return shape;
}

// The operation and the compounds that contain it, innermost first.
std::vector<const ir::Operation*> with_compounds(const ir::Program& program,
                                                 const ir::Operation& operation) {
    std::vector<const ir::Operation*> chain = {&operation};
    std::unordered_map<const ir::Operation*, const ir::Operation*> compounds;
    for (const ir::Operation& op : program.operations) {
        for (const ir::OpId part : op.parts) compounds.emplace(&program.operations[part], &op);
    }
    while (chain.size() <= program.operations.size()) {
        const auto found = compounds.find(chain.back());
        if (found == compounds.end()) break;
        chain.push_back(found->second);
    }
    return chain;
}

// The name in the model: `conv` for its operator `nnef1.filter.conv`.
std::string_view name_in_model(std::string_view op) {
    const bool other_format = op.starts_with("nnef1.") || op.starts_with("onnx.");
    return other_format ? op.substr(op.rfind('.') + 1) : op;
}

// Reports at the innermost call in the model's text; library calls below it are notes.
void report_failure(const model::LoadedModel& model,
                    const ir::Program& program,
                    const ir::Operation& op,
                    const Error& error,
                    model::Finding& finding) {
    const auto chain = with_compounds(program, op);
    size_t blamed = 0;
    while (blamed + 1 < chain.size() && sknd::is_standard(model.package, chain[blamed]->span))
        ++blamed;
    const ir::Operation& call = *chain[blamed];
    auto report =
        finding.diag.error(call.span.valid() ? call.span : Span{model.source, 0, 0},
                           DiagKind::RunFailed,
                           fmt::format("`{}` fails: {}", name_in_model(call.op), error.message));
    for (size_t i = blamed; i-- > 0;) {
        report.note(chain[i]->span, fmt::format("in `{}`, called here", chain[i]->op));
    }
    if (!op.label.empty()) report.note(fmt::format("it is the operation `{}`", op.label));
}

// The name of the graph that runs.
Span graph_place(const model::LoadedModel& model, const ir::Program& program) {
    const Span whole{model.source, 0, 0};
    if (model.package.modules.empty()) return whole;
    const sknd::LoadedModule& main = model.package[model.package.main()];
    const auto found = main.definition_index.find(program.name);
    const bool here = found != main.definition_index.end() && !main.standard;
    return here ? main.module.definitions[found->second].name.span : whole;
}

}  // namespace

Session::Session() = default;

Session::~Session() = default;

Result<void> Session::set_variable(const std::string& name, interpret::Array value) {
    executor_->variables_changed();
    return state_->set_variable(name, std::move(value));
}

std::unique_ptr<Session> Session::open(const std::string& model,
                                       const SessionOptions& options,
                                       model::Finding& finding) {
    if (options.run.accumulate == ir::Accumulate::F32 && options.engine != EngineKind::Interpret &&
        options.compile.numerics.value_or(loop::Numerics::Strict) != loop::Numerics::Strict) {
        finding.fail(Error{
            "`--accumulate=f32` needs `--numerics=strict`, because other compiled code adds in "
            "another order; `--engine=interpret` needs neither"});
        return nullptr;
    }
    std::unique_ptr<model::Weights> weights;
    if (!options.weights.empty()) {
        auto opened = model::Weights::open(options.weights);
        if (!opened) {
            finding.fail(opened.error());
            return nullptr;
        }
        weights = std::make_unique<model::Weights>(std::move(*opened));
    }
    const bool complete = !options.random_weights && !weights;
    const model::DataMode data = complete ? model::DataMode::Require : model::DataMode::Ignore;
    auto loaded = model::load_model(model,
                                    {.check = options.check,
                                     .source = options.source,
                                     .data = data,
                                     .inputs = options.inputs,
                                     .read_input = options.read_input},
                                    finding);
    if (!loaded) return nullptr;
    auto session = std::unique_ptr<Session>(new Session());
    session->model_ = std::move(*loaded);
    session->weights_ = std::move(weights);
    session->run_ = options.run;
    session->numerics_ = compiler_options(options.compile, options.run.accumulate).numerics;
    session->random_weights_ = options.random_weights;
    if (!session->prepare_program(options, finding)) return nullptr;
    session->state_ = std::make_unique<interpret::State>(std::move(session->model_.program));
    if (session->weights_ && !session->check_weights(finding)) return nullptr;
    if (!session->open_executor(options, finding)) return nullptr;
    return session;
}

namespace {

// Up to this many steps, the interpreter finishes before the compiler would be loaded and had made
// its first kernels, which takes at least 30 ms.
constexpr double kFewSteps = 1.5e6;

bool unusable(model::Finding& finding, Error error) {
    finding.fail(std::move(error));
    return false;
}

diag::Note slow(const model::LoadedModel& model, const std::string& why) {
    return {Span{model.source, 0, 0},
            fmt::format("the interpreter runs it, which is slow: {}", why)};
}

}  // namespace

// Quantisers become operations of the program, and kept tensors become outputs, so both engines
// support them.
bool Session::prepare_program(const SessionOptions& options, model::Finding& finding) {
    if (options.quantize) {
        const auto quantizers = model_.quantizers(model_, finding);
        if (!quantizers) {
            finding.status = model::kWrong;
            return false;
        }
        if (auto done = insert_quantizers(model_.program, *quantizers); !done) {
            return unusable(finding, done.error());
        }
    }
    engine_asked_ = options.engine == EngineKind::Jit;
    compiled_ = engine_asked_ || (options.engine == EngineKind::Auto &&
                                  loop::steps_of(model_.program, kFewSteps) >= kFewSteps);
    if (auto done = add_outputs(options.extra_outputs); !done) {
        return unusable(finding, done.error());
    }
    if (options.keep.choose && !keep_tensors(options, finding)) return false;
    const bool exact = !compiled_ || numerics_ == loop::Numerics::Strict;
    const bool in_double = options.run.accumulate == ir::Accumulate::F64;
    if (exact && in_double) widen_inner_tensors(model_.program);
    return true;
}

Result<void> Session::add_outputs(const std::vector<std::string>& names) {
    std::vector<ir::Port>& ports = model_.program.graphs[model_.program.main].outputs;
    const std::vector<ir::TensorId> outside = made_tensors(model_.program).outside;
    std::unordered_set<std::string> known;
    for (const ir::Port& port : ports) known.insert(port.name);
    const auto add = [&](ir::TensorId id) {
        const std::string& name = model_.program.tensors[id].name;
        if (known.insert(name).second) ports.push_back({name, ir::Operand::single(id)});
    };
    for (const std::string& name : names) {
        if (name == "*") {
            for (const ir::TensorId id : outside) add(id);
            continue;
        }
        LEMMA_TRY(const std::vector<ir::TensorId> found,
                  named_tensors(model_.program, std::span(&name, 1)));
        if (std::ranges::find(outside, found[0]) == outside.end()) {
            return std::unexpected(Error{fmt::format(
                "the tensor `{}` is inside of a loop or branch, and cannot be an output", name)});
        }
        add(found[0]);
    }
    return {};
}

bool Session::keep_tensors(const SessionOptions& options, model::Finding& finding) {
    const auto chosen = options.keep.choose(model_.program);
    if (!chosen) return unusable(finding, chosen.error());
    const std::vector<ir::TensorId> inner = made_tensors(model_.program).inside;
    const std::unordered_set<ir::TensorId, IdHash> inside(inner.begin(), inner.end());
    std::vector<ir::TensorId> outside;
    std::ranges::copy_if(*chosen, std::back_inserter(outside), [&](ir::TensorId id) {
        return !inside.contains(id);
    });
    const size_t left_out = chosen->size() - outside.size();
    if (compiled_ && left_out > 0 && !engine_asked_) {
        finding.remarks.push_back(slow(model_, "tensors inside of loops and branches are dumped"));
        compiled_ = false;
    } else if (compiled_ && left_out > 0) {
        finding.remarks.push_back(
            {Span{model_.source, 0, 0},
             fmt::format("compiled code does not hand over tensors inside of loops and branches, "
                         "here {}; `--engine=interpret` does",
                         left_out)});
    }
    keep_ = options.keep;
    if (compiled_) {
        kept_.add(model_.program, outside);
        return true;
    }
    std::unordered_set<std::string> names;
    for (const ir::TensorId id : *chosen) names.insert(model_.program.tensors[id].name);
    run_.on_tensor = [names = std::move(names), receive = options.keep.receive](
                         const ir::Tensor& tensor, const interpret::Array& array) -> Result<void> {
        return names.contains(tensor.name) ? receive(tensor, array) : Result<void>();
    };
    return true;
}

std::span<const ir::Port> Session::outputs() const {
    const std::span<const ir::Port> ports = program().graphs[program().main].outputs;
    return ports.first(ports.size() - kept_.added());
}

// The engine, if compiled code is wanted and there is a compiler; else the interpreter.
bool Session::open_executor(const SessionOptions& options, model::Finding& finding) {
    const bool asked = options.engine != EngineKind::Auto;
    reason_ =
        asked ? "it was asked for" : "compiling so small a model takes longer than running it";
    if (compiled_) {
        if (!asked) reason_ = "compiled code is faster for a model of this size";
        auto engine = make_engine(options);
        if (!engine && engine_asked_) return unusable(finding, engine.error());
        if (!engine) {
            reason_ = engine.error().message;
            finding.remarks.push_back(slow(model_, engine.error().message));
        } else {
            engine_ = engine->get();
            executor_ = std::move(*engine);
            return true;
        }
    }
    executor_ = std::make_unique<interpret::Interpreter>(*state_, run_);
    return load_variables(finding);
}

std::string Session::target() const {
    return engine_ ? engine_->compiler_stats().target : std::string();
}

// The engine reads weights as they are stored; the state has those that interpreted operations
// need.
Result<std::unique_ptr<engine::Engine>> Session::make_engine(const SessionOptions& options) {
    state_->set_variable_source(
        [this](const ir::Tensor& tensor) -> Result<std::optional<interpret::Array>> {
            LEMMA_TRY(const auto data, variable_data(tensor));
            if (!data) return std::nullopt;
            LEMMA_TRY(interpret::Array array, interpret::to_array(*data));
            return array;
        });
    return engine::Engine::create(
        *state_,
        {.threads = options.threads,
         .run = run_,
         .weights = [this](const ir::Tensor& tensor) { return variable_data(tensor); },
         .compiler = compiler_options(options.compile, run_.accumulate),
         .dump_pass = options.compile.dump_pass});
}

Result<std::optional<tensor::Tensor>> Session::variable_data(const ir::Tensor& tensor) const {
    std::optional<tensor::Tensor> stored;
    if (weights_) {
        LEMMA_TRY(stored, weights_->read(tensor));
    }
    if (!stored) {
        LEMMA_TRY(stored, model_.data(tensor));
    }
    if (stored || !random_weights_) return stored;
    LEMMA_TRY(tensor::Shape shape, known_shape(program(), tensor));
    LEMMA_TRY(tensor::Tensor data, random_weights(tensor, std::move(shape), *random_weights_));
    return data;
}

bool Session::check_weights(model::Finding& finding) const {
    weights_->check(program(), finding.diag);
    const std::vector<bool> read = model::read_tensors(program());
    for (uint32_t i = 0; i < program().tensors.size() && !random_weights_; ++i) {
        const ir::Tensor& tensor = program().tensors[make_id<ir::TensorId>(i)];
        if (tensor.role != ir::TensorRole::Variable || !read[i] || weights_->has(tensor)) continue;
        const auto own = model_.data(tensor);  // loading reports read errors
        if (own && !*own) weights_->report_missing(program(), tensor, finding.diag);
    }
    if (finding.diag.has_errors()) finding.status = model::kWrong;
    return !finding.diag.has_errors();
}

bool Session::load_variables(model::Finding& finding) {
    for (const ir::Tensor& tensor : program().tensors) {
        if (tensor.role != ir::TensorRole::Variable) continue;
        const auto data = variable_data(tensor);
        if (!data) return unusable(finding, data.error());
        if (!*data) continue;  // nothing reads it
        auto array = interpret::to_array(**data);
        if (!array) return unusable(finding, array.error());
        if (auto done = state_->set_variable(tensor.name, std::move(*array)); !done) {
            return unusable(finding, done.error());
        }
    }
    return true;
}

// The inputs that decide shapes keep the values of the first step.
bool Session::check_deciding(const interpret::NamedArrays& inputs, model::Finding& finding) {
    for (const std::string& name : model_.deciding) {
        const auto given = inputs.find(name);
        if (given == inputs.end() || given->second.size() != 1) continue;
        const auto [before, first] = decided_.emplace(name, given->second);
        if (first) continue;
        const interpret::Array& a = before->second[0];
        const interpret::Array& b = given->second[0];
        if (a.shape == b.shape && a.integers == b.integers && a.reals == b.reals) continue;
        return unusable(
            finding,
            Error{fmt::format("the input `{}` decided shapes when the model was loaded, and has "
                              "another value now",
                              name)});
    }
    return true;
}

std::optional<interpret::NamedArrays> Session::step(const interpret::NamedArrays& inputs,
                                                    model::Finding& finding) {
    if (!check_deciding(inputs, finding)) return std::nullopt;
    auto outputs = executor_->run(inputs);
    if (!outputs && engine_) outputs = interpret_instead(inputs, outputs.error(), finding);
    if (!outputs) {
        report_failed_step(outputs.error(), finding);
        return std::nullopt;
    }
    if (auto done = kept_.hand_over(program(), *outputs, keep_); !done) {
        unusable(finding, done.error());
        return std::nullopt;
    }
    return std::move(*outputs);
}

// Runs the step again after the engine has failed: the interpreter reports the fault of the model
// and its place. If it succeeds, the engine is at fault. A user who asked for the engine gets its
// error; otherwise the interpreter takes over, and a remark says so.
Result<interpret::NamedArrays> Session::interpret_instead(const interpret::NamedArrays& inputs,
                                                          const Error& trouble,
                                                          model::Finding& finding) {
    if (engine_asked_ && engine_->without_code()) return std::unexpected(trouble);
    auto interpreter = std::make_unique<interpret::Interpreter>(*state_, run_);
    LEMMA_TRY(interpret::NamedArrays outputs, interpreter->run(inputs));
    if (engine_asked_) {
        engine_->variables_changed();
        return std::unexpected(trouble);
    }
    finding.remarks.push_back(slow(model_, trouble.message));
    reason_ = trouble.message;
    engine_ = nullptr;  // it would fail again
    executor_ = std::move(interpreter);
    return outputs;
}

void Session::report_failed_step(const Error& error, model::Finding& finding) const {
    if (const ir::Operation* const op = state_->failed()) {
        finding.status = model::kWrong;
        report_failure(model_, program(), *op, error, finding);
    } else if (state_->failed_for_inputs()) {
        finding.status = model::kUnusable;
        finding.diag.error(graph_place(model_, program()), DiagKind::RunFailed, error.message);
    } else {  // the inputs do not fit, or the requested engine does not work
        finding.fail(error);
    }
}

Result<void> Session::save_weights(const std::string& path) const {
    tensor::SafetensorsFile file;
    for (const ir::Tensor& tensor : program().tensors) {
        if (tensor.role != ir::TensorRole::Variable) continue;
        const interpret::Array* const value = state_->variable(tensor.name);
        if (!value) continue;
        LEMMA_TRY(tensor::Tensor data, interpret::to_tensor(*value));
        file.tensors.push_back({.name = tensor.name, .tensor = std::move(data)});
    }
    return tensor::write_safetensors(path, file);
}

Result<void> Session::save_variables(const std::string& path) const {
    if (path.ends_with(model::kWeightsEnding)) return save_weights(path);
    std::error_code failed;
    for (const ir::Tensor& tensor : program().tensors) {
        if (tensor.role != ir::TensorRole::Variable) continue;
        const interpret::Array* const value = state_->variable(tensor.name);
        if (!value) continue;
        LEMMA_TRY(const tensor::Tensor data, interpret::to_tensor(*value));
        const auto file = std::filesystem::path(path) / model_.data_name(tensor);
        std::filesystem::create_directories(file.parent_path(), failed);
        LEMMA_TRY(tensor::write_nnef(file.string(), data));
    }
    return {};
}

}  // namespace lemma::session

#include "driver/run/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "driver/run/engine.h"
#include "driver/run/quantize.h"
#include "loop/random.h"
#include "tensor/nnef_data.h"

namespace lemma::driver {

namespace {

// Weights that keep values within bounds: matrices and filters by the number of terms that are
// summed, vectors near 1, so that they can be variances and scales, too.
loop::Array random_weights(const ir::Tensor& tensor, loop::Array array, uint64_t seed) {
    for (const char c : tensor.name) seed = loop::mix_bits(seed + static_cast<uint8_t>(c));
    const int64_t rows = array.shape.empty() ? 1 : std::max<int64_t>(array.shape[0], 1);
    const auto long_axes = std::ranges::count_if(array.shape, [](int64_t n) { return n > 1; });
    const int64_t terms = long_axes > 1 ? std::max<int64_t>(array.size / rows, 1) : 1;
    const double width = terms > 1 ? std::sqrt(3.0 / static_cast<double>(terms)) : 0.5;
    const double middle = terms > 1 ? 0.0 : 1.0;
    for (size_t i = 0; i < array.reals.size(); ++i) {
        array.reals[i] = middle + width * (2 * loop::random_unit(seed, i) - 1);
    }
    for (size_t i = 0; i < array.integers.size(); ++i) {
        array.integers[i] = static_cast<int64_t>(loop::random_bits(seed, i) & 1);
    }
    return array;
}

Result<loop::Array> zeros_like(const ir::Program& program, const ir::Tensor& tensor) {
    tensor::Shape shape;
    for (const ir::SymId part : tensor.shape) {
        const auto extent = program.symbols.as_int(part);
        if (!extent) {
            return std::unexpected(Error{fmt::format(
                "the shape of the variable `{}` is known only when it has data", tensor.name)});
        }
        shape.push_back(*extent);
    }
    return loop::Array::zeros(tensor.dtype, std::move(shape));
}

// The operation and the compounds that it is a part of, innermost first.
std::vector<const ir::Operation*> with_compounds(const ir::Program& program,
                                                 const ir::Operation& operation) {
    std::vector<const ir::Operation*> chain = {&operation};
    // Parts are made before their compounds are, or after: one look at all of them for each level.
    for (bool found = true; found;) {
        found = false;
        for (const ir::Operation& op : program.operations) {
            const bool inside = std::ranges::any_of(
                op.parts, [&](ir::OpId part) { return &program.operations[part] == chain.back(); });
            if (!inside) continue;
            chain.push_back(&op);
            found = true;
            break;
        }
    }
    return chain;
}

// As the model calls it: `conv` for the operator `nnef1.filter.conv` that stands for it.
std::string_view name_in_model(std::string_view op) {
    const bool other_format = op.starts_with("nnef1.") || op.starts_with("onnx.");
    return other_format ? op.substr(op.rfind('.') + 1) : op;
}

bool is_standard(const sknd::Package& package, Span span) {
    return std::ranges::any_of(package.modules, [&](const sknd::LoadedModule& module) {
        return module.standard && module.module.file == span.file;
    });
}

// At the innermost call that is written in the model; those of the library below it are notes.
void report_failure(const LoadedModel& model,
                    const ir::Program& program,
                    const ir::Operation& op,
                    const Error& error,
                    Finding& finding) {
    const auto chain = with_compounds(program, op);
    size_t blamed = 0;
    while (blamed + 1 < chain.size() && is_standard(model.package, chain[blamed]->span)) ++blamed;
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

}  // namespace

Session::Session() = default;

Session::~Session() = default;

Result<void> Session::set_variable(const std::string& name, loop::Array value) {
    if (engine_) engine_->variables_changed();
    return interpreter_->set_variable(name, std::move(value));
}

std::unique_ptr<Session> Session::open(const std::string& model,
                                       const SessionOptions& options,
                                       Finding& finding) {
    const DataMode data = options.random_weights ? DataMode::Ignore : DataMode::Require;
    auto loaded = load_model(
        model,
        {.check = options.check, .source = options.source, .data = data, .inputs = options.inputs},
        finding);
    if (!loaded) return nullptr;
    auto session = std::unique_ptr<Session>(new Session());
    session->model_ = std::move(*loaded);
    loop::RunOptions run = options.run;
    if (options.quantize) {
        auto quantisation = Quantisation::prepare(session->model_, finding);
        if (!quantisation) return nullptr;
        run.transform = [quantisation](const ir::Tensor& tensor, loop::Array& array) {
            return quantisation->apply(tensor, array);
        };
    }
    session->interpreter_ =
        std::make_unique<loop::Interpreter>(std::move(session->model_.program), std::move(run));
    if (!session->load_variables(options, finding)) return nullptr;
    // What looks at every tensor, or changes it, needs those that compiled code leaves out.
    const bool watched = options.quantize || options.run.on_tensor;
    if (options.engine == EngineKind::Jit && !watched) {
        auto engine = Engine::create(*session->interpreter_, {.threads = options.threads});
        if (!engine) {
            finding.unusable = engine.error();
            finding.status = kUnusable;
            return nullptr;
        }
        session->engine_ = std::move(*engine);
    }
    return session;
}

bool Session::load_variables(const SessionOptions& options, Finding& finding) {
    const auto fail = [&](const Error& error) {
        finding.unusable = error;
        finding.status = kUnusable;
        return false;
    };
    for (const ir::Tensor& tensor : program().tensors) {
        if (tensor.role != ir::TensorRole::Variable) continue;
        const auto stored = model_.data(tensor);
        if (!stored) return fail(stored.error());
        Result<loop::Array> array;
        if (*stored) {
            array = loop::to_array(**stored);
        } else if (options.random_weights) {
            array = zeros_like(program(), tensor);
            if (array) array = random_weights(tensor, std::move(*array), *options.random_weights);
        } else {
            continue;  // nothing reads it
        }
        if (!array) return fail(array.error());
        if (auto done = interpreter_->set_variable(tensor.name, std::move(*array)); !done) {
            return fail(done.error());
        }
    }
    return true;
}

// The values that decided shapes were read before the first step, and are the same ever after.
bool Session::check_deciding(const loop::NamedArrays& inputs, Finding& finding) {
    for (const std::string& name : model_.deciding) {
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

std::optional<loop::NamedArrays> Session::step(const loop::NamedArrays& inputs, Finding& finding) {
    if (!check_deciding(inputs, finding)) return std::nullopt;
    auto outputs = engine_ ? engine_->run(inputs) : interpreter_->run(inputs);
    if (outputs) return std::move(*outputs);
    const ir::Operation* const op = interpreter_->failed();
    if (!op) {  // what was given does not fit
        finding.unusable = outputs.error();
        finding.status = kUnusable;
        return std::nullopt;
    }
    finding.status = kWrong;
    report_failure(model_, program(), *op, outputs.error(), finding);
    return std::nullopt;
}

Result<void> Session::save_variables(const std::string& folder) const {
    std::error_code failed;
    for (const ir::Tensor& tensor : program().tensors) {
        if (tensor.role != ir::TensorRole::Variable) continue;
        const loop::Array* const value = interpreter_->variable(tensor.name);
        if (!value) continue;
        LEMMA_TRY(const tensor::Tensor data, loop::to_tensor(*value));
        const auto path = std::filesystem::path(folder) / model_.data_name(tensor);
        std::filesystem::create_directories(path.parent_path(), failed);
        auto done = tensor::write_nnef(path.string(), data);
        if (!done) return done;
    }
    return {};
}

void declare_session(Arguments& arguments, SessionOptions& options) {
    declare_graph_options(arguments, options.check.graph);
    const Choices<ir::DType> reals = {{"f32", ir::DType::F32},
                                      {"f64", ir::DType::F64},
                                      {"f16", ir::DType::F16},
                                      {"bf16", ir::DType::BF16}};
    arguments.choice(
        "--real", options.check.graph.compose.real, reals, "what `real` is computed in (f32)");
    arguments.seed(
        "--random-weights", options.random_weights, "random values for variables without data");
    arguments.flag(
        "--quantize", options.quantize, "round tensors as `@quantize` or graph.quant says");
    const Choices<EngineKind> engines = {{"interpret", EngineKind::Interpret},
                                         {"jit", EngineKind::Jit}};
    arguments.choice("--engine", options.engine, engines, "how to run (interpret)");
    arguments.number("--threads", options.threads, {1, 1024}, "threads of compiled code (1)");
    arguments.number("--seed", options.run.seed, {0, kAnyNumber}, "of random operators (0)");
    declare_dialect(arguments, options.check);
    declare_limits(arguments, options.check);
    declare_source_limits(arguments, options.source);
}

}  // namespace lemma::driver

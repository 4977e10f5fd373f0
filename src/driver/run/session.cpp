#include "driver/run/session.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "driver/nnef1/labels.h"
#include "driver/run/quantize.h"
#include "driver/run/stored_codes.h"
#include "loop/random.h"
#include "tensor/convert.h"
#include "tensor/nnef_data.h"

namespace lemma::driver {

namespace {

// Weights that keep values within bounds: matrices and filters by the number of terms that are
// summed, vectors near 1, so that they can be variances and scales, too.
loop::Array random_weights(const ir::Tensor& tensor, loop::Array array, uint64_t seed) {
    for (const char c : tensor.name) seed = loop::mix_bits(seed + static_cast<uint8_t>(c));
    const int64_t rows = array.shape.empty() ? 1 : std::max<int64_t>(array.shape[0], 1);
    const int64_t terms = std::max<int64_t>(array.size / rows, 1);
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

bool is_quantised(const tensor::NnefHeader& header) {
    const bool codes =
        header.type == tensor::ItemType::QuantInt || header.type == tensor::ItemType::QuantUint;
    return codes && !header.range;
}

Result<tensor::Tensor> decode_data(const std::string& bytes, const ir::Tensor& variable) {
    LEMMA_TRY(const tensor::NnefHeader header,
              tensor::decode_nnef_header(bytes, static_cast<int64_t>(bytes.size())));
    LEMMA_TRY(tensor::Tensor stored, tensor::decode_nnef(bytes));
    if (is_quantised(header)) {
        LEMMA_TRY(stored, decode_codes(variable, stored));
    }
    return tensor::convert(stored, variable.dtype);
}

Result<loop::Array> read_data(const tensor::ModelSource& source,
                              const std::string& file,
                              const ir::Tensor& variable,
                              const tensor::SourceLimits& limits) {
    LEMMA_TRY(const std::string bytes, source.read_all(file, limits.max_file_bytes));
    const auto tensor = decode_data(bytes, variable);
    if (tensor) return loop::to_array(*tensor);
    return std::unexpected(
        Error{fmt::format("cannot read `{}`: {}", source.path_of(file), tensor.error().message)});
}

std::nullptr_t unusable(Error error, Finding& finding) {
    finding.unusable = std::move(error);
    finding.status = kUnusable;
    return nullptr;
}

std::nullptr_t not_composed(const Composed& composed, Finding& finding) {
    finding.status = composed.bad_usage ? kUnusable : kWrong;
    return nullptr;
}

auto as_transform(std::shared_ptr<Quantisation> quantisation) {
    return [quantisation = std::move(quantisation)](const ir::Tensor& tensor, loop::Array& array) {
        return quantisation->apply(tensor, array);
    };
}

}  // namespace

std::unique_ptr<Session> Session::open(const std::string& model,
                                       const SessionOptions& options,
                                       Finding& finding) {
    const auto file = find_model(model, options.source);
    if (!file) return unusable(file.error(), finding);
    auto session = file->format == Format::Nnef1 ? open_nnef1(*file, options, finding)
                                                 : open_sknd(*file, options, finding);
    if (!session || !session->load_variables(options, finding)) return nullptr;
    return session;
}

std::unique_ptr<Session> Session::open_sknd(const ModelFile& file,
                                            const SessionOptions& options,
                                            Finding& finding) {
    const auto checked = check_sknd(file, options.check, finding.sources, finding.diag);
    if (!checked) return unusable(checked.error(), finding);
    Composed composed;
    if (!finding.diag.has_errors()) {
        composed = compose_graph(*checked, options.check, finding.sources, finding.diag);
    }
    if (!composed.program) return not_composed(composed, finding);
    loop::RunOptions run = options.run;
    if (options.quantize) {
        const auto quantisation =
            Quantisation::prepare(*checked, *composed.program, options.check, finding);
        if (!quantisation) return nullptr;
        run.transform = as_transform(quantisation);
    }
    const DataMode mode = options.random_weights ? DataMode::Ignore : DataMode::Require;
    DataCheck(file, checked->package, mode, finding.diag).check(*composed.program);
    auto session = std::unique_ptr<Session>(new Session());
    session->model_ = file;
    session->file_ = checked->file;
    for (const ir::Tensor& tensor : composed.program->tensors) {
        if (tensor.role != ir::TensorRole::Variable) continue;
        const VariableName name = {file.name, composed.program->name, tensor.name};
        session->data_[tensor.name] = {find_data(*file.source, name), data_names(name)[0]};
    }
    session->interpreter_ =
        std::make_unique<loop::Interpreter>(std::move(*composed.program), std::move(run));
    return session;
}

std::unique_ptr<Session> Session::open_nnef1(const ModelFile& file,
                                             const SessionOptions& options,
                                             Finding& finding) {
    const auto checked = check_nnef1(file, options.check, finding.sources, finding.diag);
    if (!checked) return unusable(checked.error(), finding);
    Composed composed;
    nnef1::Imported imported;
    if (!finding.diag.has_errors()) {
        composed =
            compose_nnef1(**checked, options.check, finding.sources, finding.diag, imported);
    }
    if (!composed.program) return not_composed(composed, finding);
    loop::RunOptions run = options.run;
    if (options.quantize) {
        const auto quantisation =
            Quantisation::prepare(**checked, *composed.program, options.check, finding);
        if (!quantisation) return nullptr;
        run.transform = as_transform(quantisation);
    }
    auto session = std::unique_ptr<Session>(new Session());
    session->model_ = file;
    session->file_ = (*checked)->file;
    LabelFiles files(file);
    CheckOptions data = options.check;
    data.data = options.random_weights ? DataMode::Ignore : DataMode::Require;
    files.check(imported.variables, data, finding.diag);
    for (const nnef1::StoredVariable& variable : imported.variables) {
        const ir::Tensor& tensor = composed.program->tensors[variable.tensor];
        session->data_[tensor.name] = {files.find(variable.label), label_file(variable.label)};
    }
    session->interpreter_ =
        std::make_unique<loop::Interpreter>(std::move(*composed.program), std::move(run));
    return session;
}

bool Session::load_variables(const SessionOptions& options, Finding& finding) {
    if (finding.diag.has_errors()) {
        finding.status = kWrong;
        return false;
    }
    const auto fail = [&](const Error& error) {
        finding.unusable = error;
        finding.status = kUnusable;
        return false;
    };
    for (uint32_t i = 0; i < program().tensors.size(); ++i) {
        const ir::Tensor& tensor = program().tensors[make_id<ir::TensorId>(i)];
        if (tensor.role != ir::TensorRole::Variable) continue;
        const std::optional<std::string>& file = data_[tensor.name].found;
        Result<loop::Array> array;
        if (file) {
            array = read_data(*model_.source, *file, tensor, options.source);
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

std::optional<loop::NamedArrays> Session::step(const loop::NamedArrays& inputs, Finding& finding) {
    auto outputs = interpreter_->run(inputs);
    if (outputs) return std::move(*outputs);
    const ir::Operation* const op = interpreter_->failed();
    if (!op) {  // what was given does not fit
        finding.unusable = outputs.error();
        finding.status = kUnusable;
        return std::nullopt;
    }
    finding.status = kWrong;
    auto report =
        finding.diag.error(op->span.valid() ? op->span : Span{file_, 0, 0},
                           DiagKind::RunFailed,
                           fmt::format("`{}` fails: {}", op->op, outputs.error().message));
    if (!op->label.empty()) report.note(fmt::format("it is the operation `{}`", op->label));
    return std::nullopt;
}

Result<void> Session::save_variables(const std::string& folder) const {
    std::error_code failed;
    for (const ir::Tensor& tensor : program().tensors) {
        if (tensor.role != ir::TensorRole::Variable) continue;
        const loop::Array* const value = interpreter_->variable(tensor.name);
        if (!value) continue;
        LEMMA_TRY(const tensor::Tensor data, loop::to_tensor(*value));
        const auto path = std::filesystem::path(folder) / data_.at(tensor.name).name;
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
    arguments.number("--seed", options.run.seed, {0, kAnyNumber}, "of random operators (0)");
    declare_dialect(arguments, options.check);
    declare_limits(arguments, options.check);
    declare_source_limits(arguments, options.source);
}

}  // namespace lemma::driver

// SPDX-License-Identifier: Apache-2.0
#include "session/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <future>
#include <iterator>
#include <unordered_set>

#include "engine/code.h"
#include "interpret/random.h"
#include "loop/plan/plan.h"
#include "model/data_files.h"
#include "model/weights.h"
#include "session/program_cache.h"
#include "session/quantize.h"
#include "session/widen.h"

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

// Up to this many steps, the interpreter finishes before the compiler would be loaded and had made
// its first kernels, which takes at least 30 ms.
constexpr double kFewSteps = 1.5e6;

bool unusable(model::Finding& finding, Error error) {
    finding.fail(std::move(error));
    return false;
}

// The driver of a GPU takes a while to start. It does so while the model is read; when the model
// asks for the device, it is there.
std::future<Result<std::shared_ptr<runtime::Device>>> start_device(const SessionOptions& options) {
    const char* const named = std::getenv("LEMMA_DEVICE");
    const std::string device =
        options.compile.device.empty() && named ? named : options.compile.device;
    const bool none = device.empty() || device == "cpu";
    if (none || options.engine == EngineKind::Interpret) return {};
    return std::async(std::launch::async, [device] {
        CompileOptions wanted;
        wanted.device = device;
        return open_device(wanted);
    });
}

// Null if there is no cache for this model.
std::unique_ptr<ProgramCache> program_cache(const SessionOptions& options) {
    if (options.engine == EngineKind::Interpret) return nullptr;
    const auto compiler = compiler_options(options.compile, options.run.accumulate);
    if (compiler.cache_folder.empty()) return nullptr;
    auto programs = std::make_unique<ProgramCache>(compiler.cache_folder, compiler.cache_bytes);
    return programs->usable() ? std::move(programs) : nullptr;
}

}  // namespace

diag::Note slow_note(const model::LoadedModel& model, const std::string& why) {
    return {Span{model.source, 0, 0},
            fmt::format("the interpreter runs it, which is slow: {}", why)};
}

Model::Model() = default;

Model::~Model() = default;

std::shared_ptr<const Model> Model::open(const Result<model::ModelFile>& file,
                                         const SessionOptions& options,
                                         model::Finding& finding) {
    if (options.run.accumulate == ir::Accumulate::F32 && options.engine != EngineKind::Interpret &&
        options.compile.numerics.value_or(loop::Numerics::Strict) != loop::Numerics::Strict) {
        finding.fail(Error{
            "`--accumulate=f32` needs `--numerics=strict`, because other compiled code adds in "
            "another order; `--engine=interpret` needs neither"});
        return nullptr;
    }
    const auto device = start_device(options);
    std::unique_ptr<model::Weights> weights;
    if (!options.weights.empty()) {
        auto opened = model::Weights::open(options.weights);
        if (!opened) {
            finding.fail(opened.error());
            return nullptr;
        }
        weights = std::make_unique<model::Weights>(std::move(*opened));
    }
    const std::unique_ptr<ProgramCache> programs = program_cache(options);
    const bool complete = !options.random_weights && !weights;
    const model::DataMode data = complete ? model::DataMode::Require : model::DataMode::Ignore;
    auto loaded = model::load_model(file,
                                    {.check = options.check,
                                     .source = options.source,
                                     .data = data,
                                     .inputs = options.inputs,
                                     .read_input = options.read_input,
                                     .values = options.values,
                                     .control = options.control,
                                     .store = programs.get()},
                                    finding);
    if (!loaded) return nullptr;
    auto model = std::shared_ptr<Model>(new Model());
    model->model_ = std::move(*loaded);
    model->weights_ = std::move(weights);
    model->run_ = options.run;
    model->compile_ = options.compile;
    model->numerics_ = compiler_options(options.compile, options.run.accumulate).numerics;
    model->random_weights_ = options.random_weights;
    if (!model->prepare_program(options, finding)) return nullptr;
    model->program_ = std::make_shared<const ir::Program>(std::move(model->model_.program));
    if (model->weights_ && !model->check_weights(finding)) return nullptr;
    if (!model->choose_engine(options, finding)) return nullptr;
    if (programs && model->code_) programs->keep();
    if (auto done = model->keep_values(options.values); !done) {
        finding.fail(done.error());
        return nullptr;
    }
    return model;
}

// Quantisers become operations of the program, and kept tensors become outputs, so both engines
// support them.
bool Model::prepare_program(const SessionOptions& options, model::Finding& finding) {
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
    // The interpreter needs no device, and a user who names both is told so.
    const bool named = !options.compile.device.empty();
    if (options.engine != EngineKind::Interpret || named) {
        std::string trouble;
        auto device = open_device(options.compile, &trouble);
        if (!device) return unusable(finding, device.error());
        device_ = std::move(*device);
        if (!trouble.empty()) {
            finding.remarks.push_back(
                {Span{model_.source, 0, 0}, fmt::format("the processor runs it: {}", trouble)});
        }
    }
    if (device_ && options.engine == EngineKind::Interpret) {
        return unusable(finding, Error{"the interpreter does not run on a device"});
    }
    engine_asked_ = options.engine == EngineKind::Jit || device_;
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

Result<void> Model::add_outputs(const std::vector<std::string>& names) {
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

bool Model::keep_tensors(const SessionOptions& options, model::Finding& finding) {
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
        finding.remarks.push_back(
            slow_note(model_, "tensors inside of loops and branches are dumped"));
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

// The engine, if compiled code is wanted and there is a compiler; else the interpreter.
bool Model::choose_engine(const SessionOptions& options, model::Finding& finding) {
    const bool asked = options.engine != EngineKind::Auto || device_;
    reason_ =
        asked ? "it was asked for" : "compiling so small a model takes longer than running it";
    if (compiled_) {
        auto code =
            engine::SharedCode::create(compiler_options(compile_, run_.accumulate), device_);
        if (code) {
            if (!asked) reason_ = "compiled code is faster for a model of this size";
            code_ = std::move(*code);
            return true;
        }
        if (engine_asked_) return unusable(finding, code.error());
        reason_ = code.error().message;
        finding.remarks.push_back(slow_note(model_, code.error().message));
    }
    return load_variables(options.control, finding);
}

// The values that shapes depend on; runs must give the same.
Result<void> Model::keep_values(const std::map<std::string, tensor::Tensor>& values) {
    for (const std::string& name : model_.deciding) {
        const auto given = values.find(name);
        if (given == values.end()) continue;
        LEMMA_TRY(interpret::Array array, interpret::to_array(given->second));
        decided_[name].push_back(std::move(array));
    }
    return {};
}

std::string Model::target() const { return code_ ? code_->stats().target : std::string(); }

std::span<const ir::Port> Model::outputs() const {
    const std::span<const ir::Port> ports = program().graphs[program().main].outputs;
    return ports.first(ports.size() - kept_.added());
}

// ---- Data ---------------------------------------------------------------------------------------

Result<std::optional<tensor::Tensor>> Model::variable_data(const ir::Tensor& tensor) const {
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

// The engine reads weights as they are stored; arrays are for interpreted operations, and live as
// long as somebody uses them.
Result<std::shared_ptr<const interpret::Array>> Model::variable_array(ir::TensorId id) const {
    std::optional<std::lock_guard<std::recursive_mutex>> reading;
    if (code_) reading.emplace(code_->making());
    const std::lock_guard lock(arrays_mutex_);
    if (auto known = arrays_[id].lock()) return known;
    LEMMA_TRY(const auto data, variable_data(program().tensors[id]));
    if (!data) return nullptr;
    LEMMA_TRY(interpret::Array array, interpret::to_array(*data));
    auto made = std::make_shared<const interpret::Array>(std::move(array));
    arrays_[id] = made;
    return made;
}

bool Model::check_weights(model::Finding& finding) const {
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

// The interpreter needs all of them; a missing file is reported now.
bool Model::load_variables(const RunControl* control, model::Finding& finding) {
    interpret::State checking(program_);
    checking.set_variable_source([this](ir::TensorId id) { return variable_array(id); });
    for (uint32_t i = 0; i < program().tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        if (program().tensors[id].role != ir::TensorRole::Variable) continue;
        if (auto done = go_on(control); !done) return unusable(finding, done.error());
        auto array = variable_array(id);
        if (!array) return unusable(finding, array.error());
        if (!*array) continue;  // nothing reads it
        kept_arrays_.push_back(std::move(*array));
        if (auto fits = checking.value_of(id); !fits) return unusable(finding, fits.error());
    }
    return true;
}

}  // namespace lemma::session

// SPDX-License-Identifier: Apache-2.0
#include "support/number_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "diag/render.h"
#include "interpret/interpret.h"
#include "sknd/compose/compose.h"
#include "sknd/modules/embedded.h"

namespace lemma::testing {

namespace {

using interpret::Array;
using interpret::Interpreter;
using interpret::NamedArrays;
using interpret::State;

std::string shape_of(const NumberTensor& tensor) {
    return tensor.type + tensor::shape_text(tensor.values.shape);
}

// Leaves the shape of an output open, so that the run must get it right.
std::string open_shape(const std::string& type, size_t rank) {
    std::string text = type + "[";
    for (size_t i = 0; i < rank; ++i) text += i == 0 ? "~" : ",~";
    return text + "]";
}

// ---- Comparing ----------------------------------------------------------------------------------

std::string index_text(const tensor::Shape& shape, int64_t offset) {
    tensor::Shape index(shape.size());
    for (size_t axis = shape.size(); axis-- > 0;) {
        index[axis] = offset % shape[axis];
        offset /= shape[axis];
    }
    return tensor::shape_text(index);
}

std::string type_of(const Array& array) {
    if (array.dtype == tensor::DType::Str) return "str";
    if (array.dtype == tensor::DType::Bool) return "bool";
    return tensor::is_real(array.dtype) ? "real" : "int";
}

std::string text_at(const Array& array, int64_t offset) {
    const auto at = static_cast<size_t>(offset);
    if (!array.strings.empty()) return array.strings[at];
    if (!array.reals.empty()) return fmt::format("{:.9g}", array.reals[at]);
    return fmt::format("{}", array.integers[at]);
}

// The distance of two reals; 0 if it is within the tolerance.
double distance(double got, double want, const NumberCase& test) {
    if (std::isnan(got) || std::isnan(want) || std::isinf(got) || std::isinf(want)) {
        const bool same = got == want || (std::isnan(got) && std::isnan(want));
        return same ? 0.0 : INFINITY;
    }
    const double apart = std::fabs(got - want);
    return apart <= test.atol + test.rtol * std::fabs(want) ? 0.0 : apart;
}

double distance_at(const Array& got, const Array& want, int64_t offset, const NumberCase& test) {
    const auto at = static_cast<size_t>(offset);
    if (!want.strings.empty()) return got.strings[at] == want.strings[at] ? 0.0 : INFINITY;
    if (!want.reals.empty()) return distance(got.reals[at], want.reals[at], test);
    return std::fabs(static_cast<double>(got.integers[at]) -
                     static_cast<double>(want.integers[at]));
}

std::string compare(const NumberTensor& want, const Array& got, const NumberCase& test) {
    const std::string type = type_of(got) + tensor::shape_text(got.shape);
    if (type != shape_of(want)) {
        return fmt::format("`{}` is {}, expected {}\n", want.name, type, shape_of(want));
    }
    int64_t count = 0, worst = 0;
    double most = 0;
    for (int64_t i = 0; i < got.size; ++i) {
        const double apart = distance_at(got, want.values, i, test);
        count += apart > 0;
        if (apart > most) {
            most = apart;
            worst = i;
        }
    }
    if (count == 0) return {};
    return fmt::format("`{}` differs in {} of {} items, most at {}: got {}, expected {}\n",
                       want.name,
                       count,
                       got.size,
                       index_text(got.shape, worst),
                       text_at(got, worst),
                       text_at(want.values, worst));
}

// Five standard errors: a correct generator fails once in a million seeds.
std::string compare_sample(const NumberSample& want, const Array& got) {
    const std::string type = type_of(got) + tensor::shape_text(got.shape);
    const std::string wanted_type = want.type + tensor::shape_text(want.shape);
    if (type != wanted_type)
        return fmt::format("`{}` is {}, expected {}\n", want.name, type, wanted_type);
    std::vector<double> values = got.reals;
    for (const int64_t value : got.integers) values.push_back(static_cast<double>(value));
    double sum = 0, squares = 0;
    for (const double value : values) {
        if (!(value >= want.least && value <= want.greatest)) {
            return fmt::format(
                "`{}` has {}, expected {} to {}\n", want.name, value, want.least, want.greatest);
        }
        sum += value;
        squares += (value - want.mean) * (value - want.mean);
    }
    const double count = std::max<double>(1, static_cast<double>(values.size()));
    const double error = 5 / std::sqrt(count);
    const double mean = sum / count, deviation = std::sqrt(squares / count);
    if (std::fabs(mean - want.mean) <= error * want.deviation &&
        std::fabs(deviation - want.deviation) <= error * want.deviation) {
        return {};
    }
    return fmt::format("`{}` has mean {} and deviation {}, expected {} and {}\n",
                       want.name,
                       mean,
                       deviation,
                       want.mean,
                       want.deviation);
}

// ---- Running ------------------------------------------------------------------------------------

Result<std::unique_ptr<State>> load(const NumberCase& test) {
    LEMMA_TRY(ir::Program program, compose_numbers(test));
    auto state = std::make_unique<State>(std::move(program));
    for (const NumberTensor& variable : test.variables) {
        Array value = variable.values;
        value.round();
        LEMMA_TRY(state->set_variable(variable.name, std::move(value)));
    }
    return state;
}

const Array* find_output(const NamedArrays& outputs, const std::string& name) {
    const auto found = outputs.find(name);
    return found != outputs.end() && found->second.size() == 1 ? found->second.data() : nullptr;
}

std::string compare_outputs(const NumberStep& step,
                            const NamedArrays& outputs,
                            const NumberCase& test) {
    std::string report;
    for (const NumberTensor& want : step.outputs) {
        const Array* got = find_output(outputs, want.name);
        report += got ? compare(want, *got, test) : fmt::format("`{}` is missing\n", want.name);
    }
    for (const NumberSample& want : step.samples) {
        const Array* got = find_output(outputs, want.name);
        report += got ? compare_sample(want, *got) : fmt::format("`{}` is missing\n", want.name);
    }
    return report;
}

bool same_numbers(const Array& a, const Array& b) {
    return a.reals == b.reals && a.integers == b.integers;
}

// Random numbers must repeat after a restart, and differ between successive runs.
std::string compare_draws(const NumberStep& step,
                          const NamedArrays& inputs,
                          const NamedArrays& outputs,
                          const NumberCase& test,
                          State& state) {
    if (step.samples.empty()) return {};
    auto fresh = load(test);
    const auto again = fresh ? Interpreter(**fresh).run(inputs) : std::unexpected(fresh.error());
    const auto next = Interpreter(state).run(inputs);
    if (!again || !next) return "a second run fails\n";
    std::string report;
    for (const NumberSample& sample : step.samples) {
        const Array* first = find_output(outputs, sample.name);
        const Array* same = find_output(*again, sample.name);
        const Array* other = find_output(*next, sample.name);
        if (!first || !same || !other) return "a second run has no outputs\n";
        if (!same_numbers(*first, *same))
            report += fmt::format("`{}` is another when loaded anew\n", sample.name);
        if (same_numbers(*first, *other))
            report += fmt::format("`{}` is the same in the next run\n", sample.name);
    }
    return report;
}

std::string run_step(const NumberStep& step, const NumberCase& test, State& state) {
    NamedArrays inputs;
    for (const NumberTensor& tensor : step.inputs) inputs[tensor.name] = {tensor.values};
    const auto outputs = Interpreter(state).run(inputs);
    if (!outputs) {
        const bool expected =
            !step.error.empty() && outputs.error().message.find(step.error) != std::string::npos;
        if (expected) return {};
        return outputs.error().message + "\n" +
               (step.error.empty() ? "" : fmt::format("expected: {}\n", step.error));
    }
    if (!step.error.empty()) return fmt::format("no error, expected: {}\n", step.error);
    std::string report = compare_outputs(step, *outputs, test);
    for (const NumberTensor& want : step.variables) {
        const Array* got = state.variable(want.name);
        report += got ? compare(want, *got, test) : fmt::format("no variable `{}`\n", want.name);
    }
    return report + compare_draws(step, inputs, *outputs, test, state);
}

}  // namespace

std::string number_graph(const NumberCase& test) {
    std::string imports, inputs, outputs, variables;
    std::set<std::string_view> modules;
    for (const sknd::EmbeddedFile& file : sknd::embedded_files()) modules.insert(file.module);
    for (const std::string_view module : modules) {
        if (test.compose.find(fmt::format("{}.", module)) != std::string::npos)
            imports += fmt::format("import {};\n", module);
    }
    std::set<std::string> known;
    const auto declare = [&](std::string& to, const std::string& name, const std::string& type) {
        const auto given = test.declared.find(name);
        const std::string& text = given == test.declared.end() ? type : given->second;
        if (known.insert(name).second) to += fmt::format("        {}: {};\n", name, text);
    };
    for (const NumberTensor& tensor : test.steps.front().inputs)
        declare(
            test.weights.contains(tensor.name) ? variables : inputs, tensor.name, shape_of(tensor));
    for (const NumberTensor& tensor : test.steps.front().outputs)
        declare(outputs, tensor.name, open_shape(tensor.type, tensor.values.shape.size()));
    for (const NumberSample& sample : test.steps.front().samples)
        declare(outputs, sample.name, open_shape(sample.type, sample.shape.size()));
    for (const auto& [name, type] : test.declared) declare(outputs, name, type);
    if (!variables.empty()) variables = fmt::format("    @variable {{\n{}    }}\n", variables);
    return fmt::format(
        "{}graph main {{\n    @input {{\n{}    }}\n    @output {{\n{}    }}\n{}"
        "    @compose {{\n{}    }}\n}}\n",
        imports,
        inputs,
        outputs,
        variables,
        test.compose);
}

Result<ir::Program> compose_numbers(const NumberCase& test) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("case", number_graph(test));
    const auto package = sknd::load_package(sources, file, "main", sknd::no_reader(), {}, diag);
    sknd::check_types(package, {}, diag);
    std::optional<ir::Program> program;
    if (!diag.has_errors()) program = sknd::compose(package, {}, diag);
    if (!program) return std::unexpected(Error{diag::render(sources, diag, {})});
    return std::move(*program);
}

std::string run_numbers(const NumberCase& test) {
    auto state = load(test);
    if (!state) return state.error().message + "\n";
    for (size_t i = 0; i < test.steps.size(); ++i) {
        std::string report = run_step(test.steps[i], test, **state);
        if (report.empty()) continue;
        return test.steps.size() == 1 ? report : fmt::format("step {}: {}", i + 1, report);
    }
    return {};
}

}  // namespace lemma::testing

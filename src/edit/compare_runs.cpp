// SPDX-License-Identifier: Apache-2.0
#include "edit/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diag/utf8.h"
#include "session/session.h"
#include "session/tensors.h"

namespace lemma::edit {

namespace {

using interpret::Array;

Error trouble_of(const model::Finding& finding, std::string_view which) {
    std::string why = finding.unusable ? finding.unusable->message : "it does not run";
    for (const diag::Diagnostic& item : finding.diag.items()) {
        if (item.severity == diag::Severity::Error) why = item.message;
    }
    return Error{fmt::format("cannot verify the result: {}: {}", which, why)};
}

double tolerance_of(const Array& want) {
    double largest = 0;
    for (const double value : want.reals) {
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    }
    const bool half = tensor::dtype_size(want.dtype) == 2;
    return kAbsolute + (half ? kRelativeHalf : kRelative) * largest;
}

void compare(const std::string& name, const Array& got, const Array& want, Compared& result) {
    const auto differ = [&](std::string why) {
        if (result.trouble.empty())
            result.trouble = fmt::format("`{}` {}", diag::printable(name), why);
    };
    if (got.shape != want.shape || got.reals.size() != want.reals.size())
        return differ("has another type or shape");
    if (got.integers != want.integers || got.strings != want.strings)
        return differ("has other elements");
    const double tolerance = tolerance_of(want);
    for (size_t i = 0; i < got.reals.size(); ++i) {
        const double a = got.reals[i], b = want.reals[i];
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        const double difference = std::fabs(a - b);
        if (!(difference <= tolerance)) {
            differ(fmt::format(
                "differs: element {} is {}, expected {} (within {:.2g})", i, a, b, tolerance));
        }
        if (std::isfinite(difference)) result.difference = std::max(result.difference, difference);
    }
}

// The arrays of one model's ports under the names of the other's.
interpret::NamedArrays renamed(const interpret::NamedArrays& arrays,
                               std::span<const ir::Port> from,
                               std::span<const ir::Port> to) {
    interpret::NamedArrays result;
    for (size_t i = 0; i < from.size() && i < to.size(); ++i) {
        const auto found = arrays.find(from[i].name);
        if (found != arrays.end()) result[to[i].name] = found->second;
    }
    return result;
}

}  // namespace

Result<Compared> compare_runs(const std::string& before,
                              const session::SessionOptions& options,
                              const std::string& after,
                              int64_t runs) {
    model::Finding first{.model = before, .diag = Diagnostics()};
    model::Finding second{.model = after, .diag = Diagnostics()};
    const auto original = session::Session::open(before, options, first);
    if (!original) return std::unexpected(trouble_of(first, "the model"));
    session::SessionOptions plain = options;
    plain.memory.clear();
    plain.inputs.clear();
    plain.check.graph = {};
    plain.check.graph.compose.real = options.check.graph.compose.real;
    const auto made = session::Session::open(after, plain, second);
    if (!made) return std::unexpected(trouble_of(second, "the result"));
    const ir::Program& program = made->program();
    const auto& inputs = program.graphs[program.main].inputs;
    const ir::Program& old = original->program();
    const auto& old_inputs = old.graphs[old.main].inputs;
    Compared result;
    if (inputs.size() != old_inputs.size() || made->outputs().size() != original->outputs().size())
        return Compared{.trouble = "the number of inputs or outputs differs"};
    for (int64_t run = 0; run < runs; ++run) {
        interpret::NamedArrays given;
        LEMMA_TRY(session::add_random_inputs(program, static_cast<uint64_t>(run + 1), given));
        const auto got = made->step(given, second);
        if (!got) return std::unexpected(trouble_of(second, "the result"));
        const auto want = original->step(renamed(given, inputs, old_inputs), first);
        if (!want) return std::unexpected(trouble_of(first, "the model"));
        const auto expected = renamed(*want, original->outputs(), made->outputs());
        for (const ir::Port& port : made->outputs()) {
            const auto made_port = got->find(port.name);
            const auto old_port = expected.find(port.name);
            if (made_port == got->end() || old_port == expected.end() ||
                made_port->second.size() != old_port->second.size()) {
                result.trouble = fmt::format("`{}` has another length", diag::printable(port.name));
                break;
            }
            const std::vector<Array>& items = made_port->second;
            const std::vector<Array>& wanted = old_port->second;
            for (size_t i = 0; i < items.size(); ++i)
                compare(port.name, items[i], wanted[i], result);
        }
        if (!result.trouble.empty()) break;
    }
    return result;
}

}  // namespace lemma::edit

// SPDX-License-Identifier: Apache-2.0
// tests/support/run_extents.h — runtime extents for a kernel.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "interpret/random.h"
#include "loop/plan/plan.h"

namespace lemma::testing {

// Random values for runtime extents: a kernel must stay in its buffers for all of them.
class RunExtents {
public:
    RunExtents(const ir::Program& program, const loop::PlanStep& step, uint64_t seed)
        : program_(program) {
        const auto* const dynamic = std::get_if<loop::DynamicKernel>(&step.kind);
        if (!dynamic) return;
        const auto know = [&](ir::SymId id) {
            for (const ir::SymId symbol : program.symbols.symbols_of(id)) {
                const int64_t most = std::min<int64_t>(program.symbols.range(symbol).high, 20);
                const uint64_t bits = interpret::random_bits(seed, symbol.value);
                known_[symbol] = static_cast<int64_t>(bits % static_cast<uint64_t>(most + 1));
            }
        };
        for (const ir::Tensor& tensor : program.tensors) {
            for (const ir::SymId part : tensor.shape) know(part);
        }
        for (const loop::ShapeArgument& number : dynamic->numbers) {
            know(number.symbol);
            int64_t value = loop::evaluate(program.symbols, number.symbol, known_).value_or(-1);
            if (number.count) value = std::max<int64_t>(value, 0);
            good_ &= !number.var.valid() || (value >= 0 && value <= number.most);
            told_.push_back(value);
        }
        const loop::RunCut cut =
            good_ ? loop::cut_items(dynamic->kernel.run_items, told_) : loop::RunCut{0, 0};
        items_ = dynamic->kernel.function.items == 0 ? 0 : cut.items;
        told_.push_back(cut.steps);
        for (const auto* tensors : {&dynamic->read, &step.writes}) {
            for (const ir::TensorId id : *tensors) good_ &= elements(id).has_value();
        }
    }

    bool good() const { return good_; }  // false: extents that the operation cannot meet
    const std::vector<int64_t>& told() const { return told_; }
    int64_t items() const { return items_; }
    // Room for at least one element on each axis.
    std::optional<int64_t> elements(ir::TensorId id) const {
        if (!id.valid()) return std::nullopt;
        int64_t volume = 1;
        for (const ir::SymId part : program_.tensors[id].shape) {
            const auto extent = loop::evaluate(program_.symbols, part, known_);
            if (!extent || *extent < 0) return std::nullopt;
            volume *= std::max<int64_t>(*extent, 1);
        }
        return volume;
    }

private:
    const ir::Program& program_;
    loop::KnownExtents known_;
    std::vector<int64_t> told_;
    int64_t items_ = 1;
    bool good_ = true;
};

}  // namespace lemma::testing

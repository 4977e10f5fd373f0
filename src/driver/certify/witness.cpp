// SPDX-License-Identifier: Apache-2.0
#include "driver/certify/witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace lemma::driver {

namespace {

using certify::Disposition;
using certify::Hazard;
using certify::Range;
using certify::Verdict;

// The closest number of the dtype that is not outside.
double inside(const Range& range, double value) {
    auto rounded = static_cast<double>(static_cast<float>(value));
    if (rounded < range.low) rounded = std::nextafterf(static_cast<float>(value), HUGE_VALF);
    if (rounded > range.high) rounded = std::nextafterf(static_cast<float>(value), -HUGE_VALF);
    return rounded >= range.low && rounded <= range.high ? rounded : value;
}

int64_t whole(const Range& range, double part) {
    constexpr double kMost = 0x1p62;
    const double low = std::clamp(std::ceil(range.low), -kMost, kMost);
    const double high = std::clamp(std::floor(range.high), low, kMost);
    return static_cast<int64_t>(low + std::floor(part * (high - low)));
}

}  // namespace

WitnessSearch::WitnessSearch(const ir::Program& program,
                             const Ranges& ranges,
                             certify::Certificate& found)
    : program_(program), ranges_(ranges), certificate_(found) {
    for (size_t i = 0; i < found.nodes.size(); ++i) own(found.nodes[i].id, i);
}

void WitnessSearch::own(ir::GraphId id, size_t node) {
    if (!id.valid()) return;
    for (const ir::OpId op : program_.graphs[id].operations) own(op, node);
}

void WitnessSearch::own(ir::OpId id, size_t node) {
    const ir::Operation& op = program_.operations[id];
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId tensor : port.operand.items)
            nodes_.emplace(program_.tensors[tensor].name, node);
    }
    for (const ir::OpId part : op.parts) own(part, node);
    if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
        own(loop->pre_condition, node);
        own(loop->body, node);
        own(loop->post_condition, node);
    }
    if (const auto* branch = std::get_if<ir::Branch>(&op.control)) {
        for (const ir::Branch::Arm& arm : branch->arms) {
            own(arm.condition, node);
            own(arm.consequent, node);
        }
        own(branch->alternative, node);
    }
}

interpret::NamedArrays WitnessSearch::sample(int number) {
    std::mt19937_64 random(static_cast<uint64_t>(number));
    const bool corner = number < kSamples / 2;
    described_ = number == 0   ? "all inputs at their lower ends"
                 : number == 1 ? "all inputs at their upper ends"
                               : fmt::format("sample {} of the search", number);
    seen_ = false;
    interpret::NamedArrays arrays;
    for (const ir::Port& port : program_.graphs[program_.main].inputs) {
        for (const ir::TensorId id : port.operand.items) {
            const ir::Tensor& tensor = program_.tensors[id];
            tensor::Shape shape;
            for (const ir::SymId extent : tensor.shape)
                shape.push_back(program_.symbols.as_int(extent).value_or(0));
            auto array = interpret::Array::zeros(tensor.dtype, std::move(shape));
            if (!array) return {};
            auto range = ranges_.find(tensor.name);
            if (range == ranges_.end()) range = ranges_.find(port.name);
            for (size_t i = 0; i < static_cast<size_t>(array->size); ++i) {
                const Range one = range == ranges_.end()             ? Range{0, 1}
                                  : range->second.ranges.size() == 1 ? range->second.ranges[0]
                                                                     : range->second.ranges[i];
                double part = std::uniform_real_distribution<double>(0, 1)(random);
                if (number < 2) {
                    part = number;
                } else if (corner) {
                    part = part < 0.5 ? 0 : 1;
                }
                const double value = inside(one, one.low + part * (one.high - one.low));
                if (!array->reals.empty()) array->reals[i] = value;
                if (!array->integers.empty()) array->integers[i] = whole(one, part);
            }
            array->round();
            arrays[port.name].push_back(std::move(*array));
        }
    }
    return arrays;
}

void WitnessSearch::refute(Disposition& disposition, const std::string& tensor, const char* what) {
    if (disposition.verdict != Verdict::NotEstablished) return;
    disposition.verdict = Verdict::Refuted;
    disposition.inherited = false;
    disposition.reason =
        fmt::format("{} in `{}` for an input within the ranges ({})", what, tensor, described_);
}

void WitnessSearch::see(const std::string& tensor, const interpret::Array& array) {
    const auto found = nodes_.find(tensor);
    if (seen_ || found == nodes_.end()) return;
    certify::NodeRecord& node = certificate_.nodes[found->second];
    const auto open = [&](Hazard hazard) {
        return node[hazard].verdict >= Verdict::NotEstablished;
    };
    if (std::ranges::any_of(array.reals, [](double x) { return std::isnan(x); })) {
        seen_ = true;
        refute(node[Hazard::Invalid], tensor, "NaN");
        refute(node[Hazard::Domain], tensor, "NaN");
    } else if (std::ranges::any_of(array.reals, [](double x) { return std::isinf(x); })) {
        // Infinities that the bounds know of are no trouble, such as masks.
        seen_ = open(Hazard::DivisionByZero) || open(Hazard::Overflow);
        refute(node[open(Hazard::DivisionByZero) ? Hazard::DivisionByZero : Hazard::Overflow],
               tensor,
               "an infinity");
    }
}

}  // namespace lemma::driver

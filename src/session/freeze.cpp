// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/unique_names.h"
#include "engine/freeze.h"
#include "loop/stage/stage.h"
#include "session/session.h"

namespace lemma::session {

namespace {

// The extents of the inputs: some are known, the others are open.
class Extents {
public:
    Extents(const ir::Program& program, const std::map<std::string, Session::ShapeRange>& given)
        : program_(program), given_(given) {}

    Result<void> add(const std::string& name, const ir::Tensor& tensor);
    // The shape of an input, where open extents have their upper bounds.
    tensor::Shape most(const std::string& name, const ir::Tensor& tensor) const;
    std::vector<engine::OpenExtent> open() const;

private:
    std::string name_of(ir::SymId extent, const std::string& input, size_t axis);

    const ir::Program& program_;
    const std::map<std::string, Session::ShapeRange>& given_;
    std::vector<engine::OpenExtent> extents_;  // known if both bounds are equal
    UniqueNames names_;
};

// An identifier; an extent without a name is called after its axis.
std::string Extents::name_of(ir::SymId extent, const std::string& input, size_t axis) {
    std::string text = program_.symbols.text(extent);
    const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    if (std::ranges::none_of(text, is_part)) text = fmt::format("{}_{}", input, axis);
    for (char& c : text) c = is_part(c) ? c : '_';
    return names_.make(text);
}

Result<void> Extents::add(const std::string& name, const ir::Tensor& tensor) {
    const auto given = given_.find(name);
    const auto wrong = [&](size_t axis, const std::string& what) {
        return std::unexpected(Error{
            fmt::format("axis {} of the input `{}` {}: give its shape, for example `--shape {}={}`",
                        axis,
                        name,
                        what,
                        name,
                        fmt::join(std::vector<std::string>(tensor.shape.size(), "1..8"), "x"))});
    };
    if (given != given_.end() && given->second.size() != tensor.shape.size()) {
        return std::unexpected(
            Error{fmt::format("the input `{}` has {} axes, and `--shape` gives {}",
                              name,
                              tensor.shape.size(),
                              given->second.size())});
    }
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
        const ir::SymId extent = tensor.shape[axis];
        ir::Interval range = program_.symbols.range(extent);
        range.low = std::max<int64_t>(range.low, 0);
        if (given != given_.end()) {
            const ir::Interval wanted = given->second[axis];
            if (wanted.low < range.low || wanted.high > range.high) {
                return std::unexpected(Error{fmt::format(
                    "axis {} of the input `{}` cannot have the extent {}, the "
                    "model has {}",
                    axis,
                    name,
                    wanted.low < range.low ? wanted.low : wanted.high,
                    range.low == range.high   ? fmt::format("{}", range.low)
                    : range.high == INT64_MAX ? fmt::format("at least {}", range.low)
                                              : fmt::format("{} to {}", range.low, range.high))});
            }
            range = wanted;
        }
        if (program_.symbols.is_constant(extent)) continue;
        if (range.high == INT64_MAX) return wrong(axis, "has no upper bound");
        const bool symbol = program_.symbols.node(extent).kind == ir::SymKind::Symbol;
        if (!symbol) {
            if (range.low == range.high || given == given_.end()) continue;
            return wrong(axis, fmt::format("is `{}`", program_.symbols.text(extent)));
        }
        const auto known = std::ranges::find(extents_, extent, &engine::OpenExtent::symbol);
        if (known == extents_.end()) {
            extents_.push_back({extent, range.low, range.high, name_of(extent, name, axis)});
        } else {
            known->low = std::max(known->low, range.low);
            known->high = std::min(known->high, range.high);
            if (known->low > known->high) return wrong(axis, "has no extent left");
        }
    }
    return {};
}

tensor::Shape Extents::most(const std::string& name, const ir::Tensor& tensor) const {
    loop::KnownExtents known;
    for (const engine::OpenExtent& extent : extents_) known[extent.symbol] = extent.high;
    const auto given = given_.find(name);
    tensor::Shape shape;
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
        const auto extent = loop::evaluate(program_.symbols, tensor.shape[axis], known);
        const ir::Interval range = given != given_.end()
                                       ? given->second[axis]
                                       : program_.symbols.range(tensor.shape[axis]);
        shape.push_back(extent.value_or(range.high));
    }
    return shape;
}

std::vector<engine::OpenExtent> Extents::open() const {
    std::vector<engine::OpenExtent> result;
    for (const engine::OpenExtent& extent : extents_) {
        if (extent.low < extent.high) result.push_back(extent);
    }
    return result;
}

}  // namespace

Result<engine::Frozen> Session::freeze(const engine::FreezeOptions& wanted,
                                       const std::map<std::string, ShapeRange>& shapes) const {
    const ir::Graph& graph = program().graphs[program().main];
    Extents extents(program(), shapes);
    std::set<std::string> names;
    const auto for_each_input = [&](const auto& visit) -> Result<void> {
        for (const ir::Port& port : graph.inputs) {
            for (size_t i = 0; i < port.operand.items.size(); ++i) {
                const std::string name =
                    port.operand.packed ? fmt::format("{}.{}", port.name, i) : port.name;
                LEMMA_TRY(visit(port, name, program().tensors[port.operand.items[i]]));
            }
        }
        return {};
    };
    LEMMA_TRY(
        for_each_input([&](const ir::Port&, const std::string& name, const ir::Tensor& tensor) {
            names.insert(name);
            return extents.add(name, tensor);
        }));
    for (const auto& [name, shape] : shapes) {
        if (names.contains(name)) continue;
        return std::unexpected(Error{fmt::format("`--shape` names `{}`, which is no input", name)});
    }
    interpret::NamedArrays inputs;
    for (const ir::Port& port : graph.inputs) inputs[port.name];
    LEMMA_TRY(for_each_input([&](const ir::Port& port,
                                 const std::string& name,
                                 const ir::Tensor& tensor) -> Result<void> {
        LEMMA_TRY(interpret::Array zeros,
                  interpret::Array::zeros(tensor.dtype, extents.most(name, tensor)));
        inputs[port.name].push_back(std::move(zeros));
        return {};
    }));
    engine::FreezeOptions options = wanted;
    options.open = extents.open();
    options.numerics = model_->numerics();
    options.accumulate = run_.accumulate;
    options.max_loop_steps = run_.max_loop_steps;
    options.weights = [this](const ir::Tensor& tensor) { return model_->variable_data(tensor); };
    return engine::freeze(*state_, inputs, options);
}

}  // namespace lemma::session

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/freeze.h"
#include "session/session.h"

namespace lemma::session {

namespace {

// Zeros of the shape of an input, as far as the model says it; the rest is from the user.
Result<interpret::Array> zero_input(const ir::Program& program,
                                    const std::string& name,
                                    const ir::Tensor& tensor,
                                    const std::map<std::string, tensor::Shape>& shapes) {
    const auto given = shapes.find(name);
    if (given != shapes.end()) return interpret::Array::zeros(tensor.dtype, given->second);
    tensor::Shape shape;
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
        const auto extent = program.symbols.as_int(tensor.shape[axis]);
        const int64_t most = program.symbols.range(tensor.shape[axis]).high;
        if (!extent && most == INT64_MAX) {
            return std::unexpected(Error{fmt::format(
                "axis {} of the input `{}` has no known extent: give its shape, for example "
                "`--shape {}={}`",
                axis,
                name,
                name,
                fmt::join(std::vector<int64_t>(tensor.shape.size(), 1), "x"))});
        }
        shape.push_back(extent.value_or(most));
    }
    return interpret::Array::zeros(tensor.dtype, std::move(shape));
}

}  // namespace

Result<engine::Frozen> Session::freeze(const engine::FreezeOptions& wanted,
                                       const std::map<std::string, tensor::Shape>& shapes) const {
    interpret::NamedArrays inputs;
    const ir::Graph& graph = program().graphs[program().main];
    for (const ir::Port& port : graph.inputs) {
        auto& items = inputs[port.name];
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            const std::string name =
                port.operand.packed ? fmt::format("{}.{}", port.name, i) : port.name;
            LEMMA_TRY(
                interpret::Array zeros,
                zero_input(program(), name, program().tensors[port.operand.items[i]], shapes));
            items.push_back(std::move(zeros));
        }
    }
    engine::FreezeOptions options = wanted;
    options.numerics = numerics_;
    options.accumulate = run_.accumulate;
    options.max_loop_steps = run_.max_loop_steps;
    options.weights = [this](const ir::Tensor& tensor) { return variable_data(tensor); };
    return engine::freeze(*state_, inputs, options);
}

}  // namespace lemma::session

// SPDX-License-Identifier: Apache-2.0
// Branches and loops.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sknd/export/writer.h"

namespace lemma::sknd {

// A block, or just a tensor if nothing is computed.
std::string Writer::region(ir::GraphId id, int depth) {
    const ir::Graph& graph = program_.graphs[id];
    std::string outer = std::exchange(body_, {});
    ++regions_;
    operations(graph.operations, depth);
    --regions_;
    std::vector<std::string> yields;
    for (const ir::Port& port : graph.outputs) yields.push_back(operand_text(port.operand));
    std::string inner = std::exchange(body_, std::move(outer));
    if (inner.empty() && yields.size() == 1) return yields[0];
    return fmt::format("{{\n{}yield {};\n}}", inner, fmt::join(yields, ", "));
}

void Writer::branch(const ir::Operation& op, const ir::Branch& branch, int depth) {
    std::string text;
    for (const ir::Branch::Arm& arm : branch.arms) {
        text += fmt::format("{} {} then {} ",
                            text.empty() ? "if" : "elif",
                            region(arm.condition, depth),
                            region(arm.consequent, depth));
    }
    const std::string alternative = region(branch.alternative, depth);
    line(fmt::format("{} = {}else {};", results(op), text, alternative));
}

void Writer::loop(const ir::Operation& op, const ir::Loop& loop, int depth) {
    std::string text;
    std::vector<std::string> carried;
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        const std::string name = name_of(loop.carried[i]);
        const ir::Tensor& tensor = program_.tensors[loop.carried[i]];
        const ir::Operand& initial = op.inputs[loop.initial_input(i)].operand;
        const bool broadcast =
            program_.tensors[initial.items[0]].shape.size() != tensor.shape.size();
        std::string type;
        if (broadcast)
            type = fmt::format(": {}{}", type_text(tensor.dtype), shape_text(tensor.shape, false));
        carried.push_back(fmt::format("{}{} = {}", name, type, operand_text(initial)));
    }
    if (!carried.empty()) text += fmt::format("with {} ", fmt::join(carried, ", "));
    std::vector<std::string> scans;
    for (size_t i = 0; i < loop.items.size(); ++i) {
        scans.push_back(fmt::format("{} : {}",
                                    name_of(loop.items[i]),
                                    operand_text(op.inputs[loop.pack_input(i)].operand)));
    }
    if (!scans.empty()) text += fmt::format("for {} ", fmt::join(scans, ", "));
    if (loop.pre_condition.valid()) {
        text += fmt::format("while {} ", region(loop.pre_condition, depth));
    }
    text += "do";
    std::string count;
    if (loop.dynamic_count.valid()) {
        count = tensor_text(loop.dynamic_count);
    } else if (loop.static_count.valid()) {
        count = symbol_text(loop.static_count);
    }
    if (loop.index.valid()) {
        text += fmt::format("..({} -> {})", name_of(loop.index), count);
    } else if (!count.empty() && (scans.empty() || loop.dynamic_count.valid())) {
        text += fmt::format("..({})", count);
    }
    text += " " + region(loop.body, depth);
    if (loop.post_condition.valid()) text += " while " + region(loop.post_condition, depth);
    line(fmt::format("{} = {};", results(op), text));
}

}  // namespace lemma::sknd

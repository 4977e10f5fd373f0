// SPDX-License-Identifier: Apache-2.0
#include "api/inspect.h"

#include "api/convert.h"
#include "session/tensors.h"

namespace lemma::api {

namespace {

void add(const ir::Program& program, ir::TensorId id, std::string name, Declarations& to) {
    const ir::Tensor& tensor = program.tensors[id];
    TensorDeclaration& made = to.emplace_back();
    made.name = std::move(name);
    made.tensor = id;
    for (const ir::SymId extent : tensor.shape) {
        const int64_t most = program.symbols.range(extent).high;
        made.shape.push_back(program.symbols.as_int(extent).value_or(-1));
        made.bounds.push_back(most == INT64_MAX ? -1 : most);
        made.extents.push_back(program.symbols.text(extent));
    }
    for (const std::string& text : made.extents) made.extent_texts.push_back(text.c_str());
    made.view = {.name = made.name.c_str(),
                 .type = public_type(tensor.dtype),
                 .rank = made.shape.size(),
                 .shape = made.shape.data(),
                 .bounds = made.bounds.data(),
                 .extents = made.extent_texts.data(),
                 .optional = 0,
                 .updated = 0};
    for (const ir::Update& update : program.updates) made.view.updated |= update.variable == id;
}

Declarations declarations(const ir::Program& program, const std::vector<ir::Port>& ports) {
    Declarations made;
    for (const ir::Port& port : ports) {
        const auto names = session::item_names(port, port.operand.items.size());
        for (size_t i = 0; i < names.size(); ++i) {
            add(program, port.operand.items[i], names[i], made);
            made.back().view.optional = port.operand.length.valid() ? 1 : 0;
        }
    }
    return made;
}

}  // namespace

const Declarations* Inspection::group(int which) const {
    switch (which) {
        case LEMMA_INPUTS:
            return &inputs;
        case LEMMA_OUTPUTS:
            return &outputs;
        case LEMMA_VARIABLES:
            return &variables;
        default:
            return nullptr;
    }
}

Inspection inspect(const ir::Program& program) {
    const ir::Graph& main = program.graphs[program.main];
    Inspection made;
    made.inputs = declarations(program, main.inputs);
    made.outputs = declarations(program, main.outputs);
    for (uint32_t i = 0; i < program.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        const ir::Tensor& tensor = program.tensors[id];
        if (tensor.role == ir::TensorRole::Variable) add(program, id, tensor.name, made.variables);
    }
    for (const ir::OpId id : main.operations) {
        made.operations.push_back({program.operations[id].op, program.operations[id].label});
    }
    return made;
}

}  // namespace lemma::api

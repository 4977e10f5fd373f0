#include "api/inspect.h"

#include "api/convert.h"
#include "session/tensors.h"

namespace lemma::api {

namespace {

TensorInfo info_of(const ir::Program& program, const ir::Tensor& tensor) {
    TensorInfo info;
    info.name = tensor.name;
    info.type = public_type(tensor.dtype);
    for (const ir::SymId extent : tensor.shape) {
        const int64_t most = program.symbols.range(extent).high;
        info.shape.push_back(program.symbols.as_int(extent).value_or(-1));
        info.bounds.push_back(most == INT64_MAX ? -1 : most);
    }
    return info;
}

std::vector<TensorInfo> infos_of(const ir::Program& program, const std::vector<ir::Port>& ports) {
    std::vector<TensorInfo> infos;
    for (const ir::Port& port : ports) {
        const auto names = session::item_names(port, port.operand.items.size());
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            TensorInfo info = info_of(program, program.tensors[port.operand.items[i]]);
            info.name = names[i];  // a tensor that is passed on has another name
            info.optional = port.operand.length.valid();
            infos.push_back(std::move(info));
        }
    }
    return infos;
}

std::vector<TensorInfo> variables_of(const ir::Program& program) {
    std::vector<TensorInfo> infos;
    for (const ir::Tensor& tensor : program.tensors) {
        if (tensor.role == ir::TensorRole::Variable) infos.push_back(info_of(program, tensor));
    }
    return infos;
}

std::vector<Operation> operations_of(const ir::Program& program) {
    std::vector<Operation> operations;
    for (const ir::OpId id : program.graphs[program.main].operations) {
        const ir::Operation& op = program.operations[id];
        Operation& made = operations.emplace_back(Operation{op.op, op.label, {}});
        for (const ir::Port& port : op.outputs) {
            for (const ir::TensorId output : port.operand.items) {
                made.outputs.push_back(info_of(program, program.tensors[output]));
            }
        }
    }
    return operations;
}

}  // namespace

Inspection inspect(const ir::Program& program) {
    const ir::Graph& main = program.graphs[program.main];
    return {.inputs = infos_of(program, main.inputs),
            .outputs = infos_of(program, main.outputs),
            .variables = variables_of(program),
            .operations = operations_of(program)};
}

}  // namespace lemma::api

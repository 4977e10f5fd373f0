// SPDX-License-Identifier: Apache-2.0
// The arrays of a model: which it needs, their names and the values of constants.
#include "emit/certified/model_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/match.h"

namespace lemma::emit {

void ModelWriter::use(ir::TensorId id) {
    if (id.valid()) used_.insert(id);
}

void ModelWriter::use_steps(const Steps& steps) {
    const auto copies = [&](const std::vector<CopyStep>& list) {
        for (const CopyStep& step : list) {
            use(step.from);
            use(step.to);
        }
    };
    for (const Step& step : steps) {
        match(
            step.kind,
            [&](const GroupStep& s) {
                for (const loop::Stage& stage : graph_.groups[s.group].stages) {
                    loop::for_each_value(stage, [&](loop::ExprId value) {
                        graph_.pool.visit_reads(value, [&](loop::ExprId, const loop::Expr& e) {
                            use(loop::tensor_of(e));
                        });
                    });
                    for (const loop::StageWrite& write : stage.writes) use(write.tensor);
                }
            },
            [&](const CopyStep& s) { copies({s}); },
            [&](const IntrinsicStep& s) {
                const ir::Operation& op = program_.operations[s.op];
                for (const auto* const ports : {&op.inputs, &op.outputs}) {
                    for (const ir::Port& port : *ports) {
                        for (const ir::TensorId id : port.operand.items) use(id);
                    }
                }
            },
            [&](const LoopStep& s) {
                use(s.dynamic_count);
                use(s.index);
                use(s.pre_value);
                use(s.post_value);
                copies(s.before);
                copies(s.after_body);
                copies(s.after);
                for (const auto* const items : {&s.taken, &s.collected}) {
                    for (const LoopStep::Item& item : *items) {
                        use(item.item);
                        for (const ir::TensorId id : item.pack) use(id);
                    }
                }
                use_steps(s.pre);
                use_steps(s.body);
                use_steps(s.post);
            },
            [&](const BranchStep& s) {
                for (const BranchStep::Arm& arm : s.arms) {
                    use(arm.value);
                    use_steps(arm.condition);
                    use_steps(arm.body);
                    copies(arm.results);
                }
            });
    }
}

std::optional<interpret::Array> ModelWriter::constant_values(const ir::Tensor& tensor) {
    tensor::Shape shape;
    for (const ir::SymId part : tensor.shape) {
        shape.push_back(program_.symbols.as_int(part).value_or(0));
    }
    auto array = interpret::Array::zeros(tensor.dtype, shape);
    if (!array || (tensor.items.empty() && array->size > 0)) return std::nullopt;
    for (int64_t i = 0; i < array->size; ++i) {
        const size_t at = tensor.items.size() == 1 ? 0 : static_cast<size_t>(i);
        if (at >= tensor.items.size()) return std::nullopt;
        ir::Scalar item = tensor.items[at];
        if (const auto* const symbol = std::get_if<ir::SymId>(&item)) {
            if (const auto number = program_.symbols.as_int(*symbol)) {
                item = *number;
            } else if (const auto real = program_.symbols.as_real(*symbol)) {
                item = *real;
            } else if (const auto flag = program_.symbols.as_bool(*symbol)) {
                item = *flag;
            } else {
                return std::nullopt;
            }
        }
        const auto* const number = std::get_if<int64_t>(&item);
        const auto* const real = std::get_if<double>(&item);
        const auto* const flag = std::get_if<bool>(&item);
        const auto element = static_cast<size_t>(i);
        if (tensor::is_real(tensor.dtype)) {
            array->reals[element] = real ? *real : number ? static_cast<double>(*number) : 0;
        } else {
            array->integers[element] = number ? *number : flag && *flag ? 1 : 0;
        }
    }
    array->round();
    return std::move(*array);
}

void ModelWriter::find_arrays() {
    for (const ir::Update& update : program_.updates) changed_.insert(update.variable);
    use_steps(lowered_.steps);
    use_steps(lowered_.updates);
    const ir::Graph& main = program_.graphs[program_.main];
    const auto ports = [&](const std::vector<ir::Port>& from, std::vector<CPort>& to) {
        for (const ir::Port& port : from) {
            for (size_t i = 0; i < port.operand.items.size(); ++i) {
                ir::TensorId id = port.operand.items[i];
                if (&to == &c_program_.outputs && lowered_.outputs.contains(id)) {
                    id = lowered_.outputs.at(id);
                }
                used_.insert(id);
                ports_.insert(id);
                to.push_back({port.operand.packed ? fmt::format("{}.{}", port.name, i) : port.name,
                              CArray{.name = fmt::format("{}", id.value)}});
            }
        }
    };
    ports(main.inputs, c_program_.inputs);
    ports(main.outputs, c_program_.outputs);
    for (const ir::TensorId id : used_) arrays_.push_back(id);
    std::ranges::sort(arrays_, {}, [](ir::TensorId id) { return id.value; });
    for (const ir::TensorId id : arrays_) {
        const bool own = id.value >= program_.tensors.size();
        const bool copy = std::ranges::any_of(
            lowered_.outputs, [&](const auto& output) { return output.second == id; });
        names_[id] = c_names_.make("t_",
                                   copy  ? "output"
                                   : own ? "inner"
                                         : program_.tensors[id].name);
    }
    for (auto* const list : {&c_program_.inputs, &c_program_.outputs}) {
        for (CPort& port : *list) {
            port.array = array_of(make_id<ir::TensorId>(std::stoul(port.array.name)));
        }
    }
    // Literals take many times as many bytes as the elements.
    constexpr int64_t kMostLiterals = int64_t{1} << 26;
    int64_t literals = 0;
    for (const ir::TensorId id : arrays_) {
        if (id.value >= program_.tensors.size()) continue;
        const ir::Tensor& tensor = program_.tensors[id];
        const bool fixed =
            tensor.role == ir::TensorRole::Constant || tensor.role == ir::TensorRole::Variable;
        if (fixed) literals += tensor::volume(graph_.shapes.at(id)).value_or(0);
        if (literals > kMostLiterals) {
            obstacles_.push_back({{}, "its weights and constants have more than 2^26 elements"});
            return;
        }
        if (tensor.role == ir::TensorRole::Constant) {
            auto values = constant_values(tensor);
            if (!values) {
                obstacles_.push_back(
                    {{}, fmt::format("the constant `{}` is known only when it runs", tensor.name)});
                continue;
            }
            constants_.push_back({array_of(id), std::move(*values)});
            constant_.insert(id);
        } else if (tensor.role == ir::TensorRole::Variable) {
            const interpret::Array* const value = input_.variable(tensor);
            if (!value) {
                obstacles_.push_back(
                    {{}, fmt::format("the variable `{}` has no data", tensor.name)});
                continue;
            }
            CArray array = array_of(id);
            if (changed_.contains(id)) {
                c_program_.variables.push_back(array);
                const ir::TensorId start = graph_.new_tensor(array.dtype, array.shape);
                array.name = c_names_.make("t_start_", tensor.name);
                names_[start] = array.name;
                constant_.insert(start);
                starts_.push_back({start, id});
            } else {
                constant_.insert(id);
            }
            constants_.push_back({std::move(array), *value});
        }
    }
}

CArray ModelWriter::array_of(ir::TensorId id) const {
    const bool own = id.value >= program_.tensors.size();
    return {.name = names_.at(id),
            .tensor = own ? "inner" : program_.tensors[id].name,
            .dtype = graph_.dtypes.at(id),
            .shape = graph_.shapes.at(id)};
}

std::string ModelWriter::declaration(ir::TensorId id) const {
    const std::string text = array_of(id).declaration();
    if (constant_.contains(id)) return fmt::format("extern const {};", text);
    if (ports_.contains(id)) return fmt::format("extern {};", text);
    return fmt::format("static {};", text);
}

}  // namespace lemma::emit

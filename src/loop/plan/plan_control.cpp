// SPDX-License-Identifier: Apache-2.0
// Loops and branches: their graphs become regions of the plan, and values pass in and out by
// pointers.
#include <algorithm>

#include "base/check.h"
#include "loop/plan/plan_impl.h"
#include "tensor/room.h"

namespace lemma::loop {

namespace {

// Tensors that the operations of a control operation's graphs make.
class InnerTensors {
public:
    explicit InnerTensors(const ir::Program& program) : program_(program) {}

    TensorSet of(const ir::Operation& op) {
        visit_graphs(op);
        return std::move(found_);
    }

private:
    void visit_graphs(const ir::Operation& op) {
        if (const auto* branch = std::get_if<ir::Branch>(&op.control)) {
            for (const ir::Branch::Arm& arm : branch->arms) {
                visit(arm.condition);
                visit(arm.consequent);
            }
            visit(branch->alternative);
        } else if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
            found_.insert(loop->carried.begin(), loop->carried.end());
            found_.insert(loop->items.begin(), loop->items.end());
            if (loop->index.valid()) found_.insert(loop->index);
            for (const ir::GraphId id : {loop->pre_condition, loop->body, loop->post_condition}) {
                visit(id);
            }
        }
    }
    void visit(ir::GraphId id) {
        if (!id.valid()) return;
        for (const ir::OpId op : program_.graphs[id].operations) visit(op);
    }
    void visit(ir::OpId id) {
        const ir::Operation& op = program_.operations[id];
        for (const ir::OpId part : op.parts) visit(part);
        if (op.compound()) return;
        for (const ir::Port& port : op.outputs) {
            found_.insert(port.operand.items.begin(), port.operand.items.end());
        }
        visit_graphs(op);
    }

    const ir::Program& program_;
    TensorSet found_;
};

// The tensors that pass into and out of the graphs of a control operation.
std::vector<ir::TensorId> boundary(const ir::Program& program, const ir::Operation& op) {
    std::vector<ir::TensorId> result;
    const auto add_ports = [&](const std::vector<ir::Port>& ports) {
        for (const ir::Port& port : ports) {
            result.insert(result.end(), port.operand.items.begin(), port.operand.items.end());
        }
    };
    const auto add_graph = [&](ir::GraphId id) {
        if (id.valid()) add_ports(program.graphs[id].outputs);
    };
    add_ports(op.outputs);
    if (const auto* branch = std::get_if<ir::Branch>(&op.control)) {
        for (const ir::Branch::Arm& arm : branch->arms) {
            add_graph(arm.condition);
            add_graph(arm.consequent);
        }
        add_graph(branch->alternative);
    } else if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
        add_ports(op.inputs);
        for (const ir::GraphId id : {loop->pre_condition, loop->body, loop->post_condition}) {
            add_graph(id);
        }
        result.insert(result.end(), loop->carried.begin(), loop->carried.end());
        result.insert(result.end(), loop->items.begin(), loop->items.end());
        if (loop->index.valid()) result.push_back(loop->index);
    }
    return result;
}

bool is_pack(const ir::Operand& operand) { return operand.packed; }

}  // namespace

// ---- Supported operations -----------------------------------------------------------------------

std::string Planner::why_not(const Scope& scope, const ir::Operation& op) const {
    const bool branches = std::holds_alternative<ir::Branch>(op.control);
    for (const ir::TensorId id : boundary(program_, op)) {
        if (program_.tensors[id].dtype == tensor::DType::Str) return "strings in control flow";
        const bool known = scope.graph.shapes.contains(id);
        if (!known && !branches) return "an extent that only the run tells";
    }
    // All sources of a tensor must agree on its shape, unless it takes the shape of the selected
    // source.
    const auto same = [&](ir::TensorId a, ir::TensorId b) {
        if (!scope.graph.shapes.contains(a)) {
            // A constant without a shape has no filled memory.
            const bool stored = program_.tensors[b].role == ir::TensorRole::Constant ||
                                program_.tensors[b].role == ir::TensorRole::Variable;
            if (stored && !scope.graph.shapes.contains(b)) return false;
            return program_.tensors[a].shape.size() == program_.tensors[b].shape.size() &&
                   program_.tensors[a].dtype == program_.tensors[b].dtype;
        }
        if (!scope.graph.shapes.contains(b)) return false;
        return scope.graph.shapes.at(a) == scope.graph.shapes.at(b) &&
               scope.graph.dtypes.at(a) == scope.graph.dtypes.at(b);
    };
    bool fits = true;
    if (const auto* branch = std::get_if<ir::Branch>(&op.control)) {
        const auto check = [&](ir::GraphId id) {
            const ir::Graph& graph = program_.graphs[id];
            for (size_t i = 0; i < op.outputs.size(); ++i) {
                const auto& outputs = op.outputs[i].operand.items;
                fits &= graph.outputs[i].operand.items.size() == outputs.size();
                for (size_t k = 0; fits && k < outputs.size(); ++k) {
                    fits &= same(outputs[k], graph.outputs[i].operand.items[k]);
                }
            }
        };
        for (const ir::Branch::Arm& arm : branch->arms) check(arm.consequent);
        check(branch->alternative);
        for (const ir::Port& port : op.outputs) fits &= !port.operand.length.valid();
    } else if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
        const ir::Graph& body = program_.graphs[loop->body];
        for (size_t i = 0; i < loop->carried.size(); ++i) {
            fits &= same(loop->carried[i], op.inputs[loop->initial_input(i)].operand.items[0]);
            fits &= same(loop->carried[i], body.outputs[i].operand.items[0]);
            fits &= same(loop->carried[i], op.outputs[i].operand.items[0]);
        }
        for (size_t i = 0; i < loop->items.size(); ++i) {
            for (const ir::TensorId id : op.inputs[loop->pack_input(i)].operand.items) {
                fits &= same(loop->items[i], id);
            }
        }
        for (size_t i = loop->carried.size(); i < op.outputs.size(); ++i) {
            for (const ir::TensorId id : op.outputs[i].operand.items) {
                fits &=
                    is_pack(op.outputs[i].operand) && same(body.outputs[i].operand.items[0], id);
            }
        }
        const bool counted = loop->static_count.valid();
        fits &= !counted || evaluate(program_.symbols, loop->static_count, known_).has_value();
    }
    return fits ? "" : "shapes that change from step to step";
}

// Control flow is opaque to passes, like an interpreted operation.
void Planner::add_control(Scope& scope, ir::OpId id) {
    const ir::Operation& op = program_.operations[id];
    std::string why = why_not(scope, op);
    if (!why.empty()) return add_interpreted(scope, id, std::move(why));
    add_opaque(scope, id, ControlGroup{});
    FusionGroup& group = scope.graph.groups.back();
    const TensorSet inner = InnerTensors(program_).of(op);
    std::erase_if(group.reads, [&](ir::TensorId tensor) {
        return inner.contains(tensor) ||
               std::ranges::find(group.writes, tensor) != group.writes.end();
    });
}

// ---- Steps --------------------------------------------------------------------------------------

Planner::Body Planner::plan_graph(Scope& parent,
                                  ir::GraphId id,
                                  Scope& scope,
                                  const TensorSet& needed) {
    scope.repeated = parent.repeated;
    TensorSet results;
    for (const ir::Port& port : program_.graphs[id].outputs) {
        results.insert(port.operand.items.begin(), port.operand.items.end());
    }
    for (const ir::TensorId result : results) place_any(parent, result);
    results.insert(needed.begin(), needed.end());
    shapes_ = std::move(parent.graph.shapes);
    dtypes_ = std::move(parent.graph.dtypes);
    next_tensor_ = parent.graph.next_tensor;
    Body body = plan_region(program_.graphs[id].operations, results, scope);
    parent.graph.shapes = std::move(shapes_);
    parent.graph.dtypes = std::move(dtypes_);
    parent.graph.next_tensor = next_tensor_;
    // The results got their storage before it was known that they are constants.
    for (const ir::TensorId result : results) {
        const auto at = plan_.places.find(result);
        if (at == plan_.places.end() || !constants_.contains(result)) continue;
        plan_.storages[at->second.storage].role = StorageRole::Constant;
    }
    return body;
}

void Planner::add_control_step(Scope& scope, Region& region, const FusionGroup& group) {
    const ir::Operation& op = program_.operations[group.op];
    PlanStep step;
    if (std::holds_alternative<ir::Loop>(op.control)) {
        step.kind = plan_loop(scope, region, op);
    } else {
        step.kind = plan_branch(scope, op);
    }
    add_step(scope, region, group, std::move(step));
}

StorageId Planner::new_storage(tensor::DType dtype, int64_t elements) {
    Storage storage;
    storage.dtype = dtype;
    storage.elements = elements;
    return plan_.storages.add(std::move(storage));
}

void Planner::make_moving(StorageId id, std::vector<StorageId> targets) {
    plan_.storages[id].moves = true;
    plan_.storages[id].targets = std::move(targets);
}

PlanBranch Planner::plan_branch(Scope& scope, const ir::Operation& op) {
    const auto& control = std::get<ir::Branch>(op.control);
    PlanBranch branch;
    std::vector<std::vector<StorageId>> targets;
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) {
            branch.outputs.push_back(place_any(scope, id));
            if (scope.graph.shapes.contains(id)) continue;
            plan_.dynamic_places.at(id).computed = true;
            branch.dynamic.push_back({id, {}});
        }
    }
    targets.resize(branch.outputs.size());
    const auto add = [&](ir::GraphId condition, ir::GraphId body) {
        PlanBranch::Arm arm;
        if (condition.valid()) {
            Scope inner = new_scope(RegionKind::Once);
            arm.condition = plan_graph(scope, condition, inner).region;
            arm.value = place_any(scope, program_.graphs[condition].outputs[0].operand.items[0]);
        }
        Scope inner = new_scope(RegionKind::Once);
        arm.body = plan_graph(scope, body, inner).region;
        for (size_t i = 0; i < op.outputs.size(); ++i) {
            for (size_t k = 0; k < op.outputs[i].operand.items.size(); ++k) {
                const ir::TensorId id = program_.graphs[body].outputs[i].operand.items[k];
                const ir::TensorId output = op.outputs[i].operand.items[k];
                const StorageId result = place_any(scope, id);
                const auto dynamic =
                    std::ranges::find(branch.dynamic, output, &PlanBranch::Dynamic::output);
                if (dynamic != branch.dynamic.end()) dynamic->results.push_back(id);
                targets[arm.results.size()].push_back(result);
                arm.results.push_back(result);
            }
        }
        branch.arms.push_back(std::move(arm));
    };
    for (const ir::Branch::Arm& arm : control.arms) add(arm.condition, arm.consequent);
    add({}, control.alternative);
    for (size_t i = 0; i < branch.outputs.size(); ++i) {
        make_moving(branch.outputs[i], std::move(targets[i]));
    }
    return branch;
}

// ---- Loops --------------------------------------------------------------------------------------

// At least one element has memory: kernels read one even from an empty tensor.
int64_t Planner::elements_of(const Scope& scope, ir::TensorId id) const {
    const int64_t elements = tensor::bounded_volume(scope.graph.shapes.at(id)).value();
    return std::max<int64_t>(elements, 1);
}

// A pack, if the tensors have regular distances in one piece of memory.
std::optional<StoragePack> Planner::as_pack(Scope& scope, const std::vector<ir::TensorId>& items) {
    StoragePack pack;
    pack.count = static_cast<int64_t>(items.size());
    if (items.empty()) return pack;
    StorageId base;
    std::vector<int64_t> begins;
    for (const ir::TensorId id : items) {
        StorageId at = place(scope, id);
        int64_t begin = 0;
        for (; plan_.storages[at].base.valid(); at = plan_.storages[at].base) {
            begin += plan_.storages[at].begin;
        }
        if (base.valid() && base != at) return std::nullopt;
        base = at;
        begins.push_back(begin);
    }
    pack.first = plan_.places.at(items[0]).storage;
    pack.stride = items.size() > 1 ? begins[1] - begins[0] : 0;
    for (size_t i = 1; i < begins.size(); ++i) {
        if (begins[i] - begins[i - 1] != pack.stride) return std::nullopt;
    }
    return pack;
}

StoragePack Planner::read_pack(Scope& scope,
                               PlanLoop& loop,
                               const std::vector<ir::TensorId>& items) {
    if (const auto pack = as_pack(scope, items)) return *pack;
    const int64_t elements = elements_of(scope, items[0]);
    StoragePack pack;
    pack.count = static_cast<int64_t>(items.size());
    pack.stride = elements;
    pack.first = new_storage(scope.graph.dtypes.at(items[0]), total_elements(elements, pack.count));
    for (size_t i = 0; i < items.size(); ++i) {
        const StorageId from = place(scope, items[i]);
        loop.before.push_back({from, pack.first, elements * static_cast<int64_t>(i)});
    }
    return pack;
}

// Items without a place become parts of one piece of memory.
StoragePack Planner::written_pack(Scope& scope,
                                  PlanLoop& loop,
                                  const std::vector<ir::TensorId>& items) {
    StoragePack pack;
    pack.count = static_cast<int64_t>(items.size());
    if (items.empty()) return pack;
    const int64_t elements = elements_of(scope, items[0]);
    const tensor::DType dtype = scope.graph.dtypes.at(items[0]);
    const bool fresh = std::ranges::none_of(items, [&](ir::TensorId id) {
        return plan_.places.contains(id) &&
               plan_.storages[plan_.places.at(id).storage].base.valid();
    });
    if (fresh) {
        const StorageId whole = new_storage(dtype, total_elements(elements, pack.count));
        for (size_t i = 0; i < items.size(); ++i) {
            Storage& item = plan_.storages[place(scope, items[i])];
            item.base = whole;
            item.begin = elements * static_cast<int64_t>(i);
        }
    }
    if (const auto found = as_pack(scope, items)) return *found;
    pack.stride = elements;
    pack.first = new_storage(dtype, total_elements(elements, pack.count));
    for (size_t i = 0; i < items.size(); ++i) {
        // From the item's place in the pack to its own.
        const StorageId part = new_storage(dtype, elements);
        plan_.storages[part].base = pack.first;
        plan_.storages[part].begin = elements * static_cast<int64_t>(i);
        loop.after.push_back({part, place(scope, items[i]), 0});
    }
    return pack;
}

PlanLoop Planner::plan_loop(Scope& scope, Region& region, const ir::Operation& op) {
    const auto& control = std::get<ir::Loop>(op.control);
    PlanLoop loop;
    if (control.static_count.valid()) {
        loop.count = evaluate(program_.symbols, control.static_count, known_);
    }
    if (control.dynamic_count.valid()) loop.dynamic_count = place(scope, control.dynamic_count);
    TensorSet changing;
    // The items determine the number of iterations, unless a condition ends the loop earlier.
    const bool to_the_end = !control.pre_condition.valid() && !control.post_condition.valid();
    int64_t steps = loop.count.value_or(INT64_MAX);
    std::unordered_map<ir::TensorId, StoragePack, IdHash> packs;
    if (control.index.valid()) {
        loop.index = place(scope, control.index);
        changing.insert(control.index);
    }
    for (size_t i = 0; i < control.items.size(); ++i) {
        const auto& items = op.inputs[control.pack_input(i)].operand.items;
        const size_t copies = loop.before.size();
        const StoragePack pack = read_pack(scope, loop, items);
        steps = std::min(steps, pack.count);
        // The loop makes its copies at its start, which is too late for steps before it.
        if (to_the_end && copies == loop.before.size()) packs[control.items[i]] = pack;
        const StorageId seen = place(scope, control.items[i]);
        make_moving(seen, items.empty() ? std::vector<StorageId>{} : std::vector{pack.first});
        loop.items.push_back({seen, pack});
        changing.insert(control.items[i]);
    }
    for (const ir::TensorId id : control.carried) {
        place(scope, id);
        changing.insert(id);
    }
    const double outside = scope.repeated;
    scope.repeated *= static_cast<double>(std::max<int64_t>(loop.count.value_or(1), 1));
    const auto plan_condition = [&](ir::GraphId id, std::optional<size_t>& at, StorageId& value) {
        if (!id.valid()) return;
        Scope inner = new_scope(RegionKind::Once);
        at = plan_graph(scope, id, inner).region;
        value = place(scope, program_.graphs[id].outputs[0].operand.items[0]);
    };
    plan_condition(control.pre_condition, loop.pre_condition, loop.pre_value);
    Scope inner = new_scope(RegionKind::Loop);
    inner.before = &region;
    inner.changing = std::move(changing);
    inner.packs = std::move(packs);
    inner.steps = steps;
    TensorSet needed;  // results of the body that the post-condition needs
    if (control.post_condition.valid()) {
        for (const ir::OpId id : program_.graphs[control.post_condition].operations) {
            for (const ir::TensorId tensor : used_tensors(program_, id)) needed.insert(tensor);
        }
    }
    const Body body = plan_graph(scope, control.body, inner, needed);
    loop.body = body.region;
    add_made_items(scope, inner, loop);
    plan_condition(control.post_condition, loop.post_condition, loop.post_value);
    scope.repeated = outside;
    plan_results(scope, op, control, body, loop);
    return loop;
}

// The results of lifted sums are items of the loop.
void Planner::add_made_items(Scope& scope, const Scope& body, PlanLoop& loop) {
    for (const auto& [item, all] : body.made_items) {
        const StoragePack pack{place(scope, all), elements_of(scope, item), body.steps};
        const StorageId seen = place(scope, item);
        make_moving(seen, {pack.first});
        loop.items.push_back({seen, pack});
    }
}

void Planner::plan_results(Scope& scope,
                           const ir::Operation& op,
                           const ir::Loop& control,
                           const Body& body,
                           PlanLoop& loop) {
    const auto& outputs = program_.graphs[control.body].outputs;
    std::unordered_map<StorageId, std::vector<StorageId>, IdHash> homes;  // of written results
    const auto add_written = [&](ir::TensorId id, std::optional<StoragePack> pack) {
        const StorageId result = place(scope, id);
        PlanLoop::Written written{result, pack, {}};
        if (pack) {
            homes[result] = {pack->first};
        } else {
            for (StorageId& slot : written.slots) {
                slot = new_storage(scope.graph.dtypes.at(id), elements_of(scope, id));
            }
            homes[result] = {written.slots[0], written.slots[1]};
        }
        make_moving(result, homes[result]);
        loop.written.push_back(written);
    };
    for (size_t i = control.carried.size(); i < op.outputs.size(); ++i) {
        const ir::Operand& operand = op.outputs[i].operand;
        const ir::TensorId id = outputs[i].operand.items[0];
        const StoragePack pack = written_pack(scope, loop, operand.items);
        loop.most_results = std::min(loop.most_results, pack.count);
        if (operand.length.valid()) loop.lengths.push_back(operand.length);
        if (pack.count == 0) continue;
        const StorageId result = place(scope, id);
        if (body.written.contains(id) && !homes.contains(result)) {
            add_written(id, pack);
        } else {
            loop.collected.push_back({result, pack});
        }
    }
    for (size_t i = 0; i < control.carried.size(); ++i) {
        const ir::TensorId id = outputs[i].operand.items[0];
        PlanLoop::Carried carried;
        carried.seen = place(scope, control.carried[i]);
        carried.initial = place(scope, op.inputs[control.initial_input(i)].operand.items[0]);
        carried.result = place(scope, id);
        carried.outcome = place(scope, op.outputs[i].operand.items[0]);
        std::vector<StorageId> targets = {carried.initial};
        carried.stays = id == control.carried[i];
        if (!carried.stays && body.written.contains(id)) {
            if (!homes.contains(carried.result)) add_written(id, std::nullopt);
            const auto& home = homes.at(carried.result);
            targets.insert(targets.end(), home.begin(), home.end());
        } else if (!carried.stays) {
            carried.copied = true;
            for (StorageId& slot : carried.slots) {
                slot = new_storage(scope.graph.dtypes.at(id), elements_of(scope, id));
                targets.push_back(slot);
            }
        }
        make_moving(carried.seen, targets);
        make_moving(carried.outcome, targets);
        loop.carried.push_back(carried);
    }
}

}  // namespace lemma::loop

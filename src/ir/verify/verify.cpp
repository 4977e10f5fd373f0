// SPDX-License-Identifier: Apache-2.0
// Tensors, and the order in which operations make and read them.
#include "ir/verify/verify.h"

#include <algorithm>

#include "base/checked.h"
#include "base/match.h"
#include "ir/text/text_words.h"
#include "ir/verify/verify_impl.h"

namespace lemma::ir {

std::vector<std::string> verify(const Program& program) { return Verifier(program).run(); }

std::vector<std::string> Verifier::run() {
    if (!check_ids() || !check_lists()) return std::move(problems_);
    find_symbols();
    check_tensors();
    check_assertions(program_.assertions);
    check_main();
    check_updates();
    return std::move(problems_);
}

void Verifier::enter(const Operation& op) {
    here_ = op.label.empty() ? fmt::format("`{}`: ", op.op)
                             : fmt::format("`{}` \"{}\": ", op.op, op.label);
}

// ---- symbols ----------------------------------------------------------------------------------

void Verifier::declare(SymId id) {
    if (program_.symbols.node(id).kind == SymKind::Symbol) anywhere_.insert(id);
}

void Verifier::declare(const Tensor& tensor) {
    for (const SymId extent : tensor.shape) declare(extent);
}

void Verifier::declare(const std::vector<Port>& ports) {
    for (const Port& port : ports) {
        for (const TensorId id : port.operand.items) declare(program_.tensors[id]);
        if (port.operand.length.valid()) declare(port.operand.length);
    }
}

// A symbol is known from a tensor that has it as an extent, or from the length of a pack: an input
// of the main graph, or the result of an operation.
void Verifier::find_symbols() {
    declare(program_.graphs[program_.main].inputs);
    known_ = anywhere_;
    for (const Operation& op : program_.operations) {
        if (!op.compound()) declare(op.outputs);
        if (const auto* loop = std::get_if<Loop>(&op.control)) {
            for (const TensorId id : loop->carried) declare(program_.tensors[id]);
            for (const TensorId id : loop->items) declare(program_.tensors[id]);
        }
    }
}

// A symbol has one value as long as it is known. A value that differs between iterations or arms is
// not known outside.
void Verifier::tell(SymId id) {
    if (program_.symbols.node(id).kind != SymKind::Symbol || !known_.insert(id).second) return;
    scopes_.back().told.push_back(id);
    if (inside_.contains(id))
        problem("tells the symbol `{}`, which belongs to a sub-graph", program_.symbols.text(id));
}

void Verifier::check_symbols(SymId id, const SymbolSet& local, std::string_view what) {
    for (const SymId symbol : program_.symbols.symbols_of(id)) {
        if (known_.contains(symbol) || local.contains(symbol)) continue;
        problem("{} reads the symbol `{}`, which nothing here tells",
                what,
                program_.symbols.text(symbol));
    }
}

void Verifier::check_int(SymId id, std::string_view what) {
    if (program_.symbols.type(id) != ScalarType::Int)
        return problem("{} is {}, expected int", what, scalar_type_text(program_.symbols.type(id)));
    if (program_.symbols.range(id).high < 0)
        problem("{} is {}, which is negative", what, program_.symbols.text(id));
}

void Verifier::check_assertions(const std::vector<Assertion>& assertions) {
    for (const Assertion& assertion : assertions) {
        if (program_.symbols.type(assertion.condition) != ScalarType::Bool)
            problem("an assertion is no bool");
        check_symbols(assertion.condition, {}, "an assertion");
    }
}

// ---- tensors ----------------------------------------------------------------------------------

void Verifier::check_tensors() {
    std::unordered_set<std::string_view> variables;
    for (const Tensor& tensor : program_.tensors) {
        here_ = fmt::format("tensor `{}`: ", tensor.name);
        if (tensor.role != TensorRole::Intermediate) {
            known_.swap(anywhere_);  // a constant may appear in any graph
            check_extents(tensor);
            known_.swap(anywhere_);
        }
        if (tensor.role == TensorRole::Variable && !variables.insert(tensor.name).second)
            problem("another variable has the same name");
        check_items(tensor);
    }
    here_.clear();
}

void Verifier::check_extents(const Tensor& tensor) {
    for (const SymId extent : tensor.shape) {
        check_int(extent, "an extent");
        check_symbols(extent, {}, "an extent");
    }
}

void Verifier::check_items(const Tensor& tensor) {
    if (tensor.role != TensorRole::Constant) {
        if (!tensor.items.empty()) problem("has items, but is no constant");
        return;
    }
    std::optional<int64_t> volume = 1;
    for (const SymId extent : tensor.shape) {
        const auto size = program_.symbols.as_int(extent);
        volume = volume && size ? checked_mul(*volume, *size) : std::nullopt;
    }
    const size_t count = tensor.items.size();
    if (count != 1 && volume && static_cast<uint64_t>(*volume) != count)
        problem("has {} items for {} elements", count, *volume);
    const ScalarType wanted = scalar_type_of(tensor.dtype);
    for (const Scalar& item : tensor.items) {
        const ScalarType type = match(
            item,
            [](int64_t) { return ScalarType::Int; },
            [](double) { return ScalarType::Real; },
            [](bool) { return ScalarType::Bool; },
            [](const std::string&) { return ScalarType::Str; },
            [&](SymId id) { return program_.symbols.type(id); });
        if (type == wanted) continue;
        return problem("has an item that is {}, expected {}",
                       scalar_type_text(type),
                       scalar_type_text(wanted));
    }
}

void Verifier::check_ports(const std::vector<Port>& ports) {
    std::unordered_set<std::string_view> names;
    for (const Port& port : ports) {
        const Operand& operand = port.operand;
        if (!names.insert(port.name).second) problem("two ports are named `{}`", port.name);
        if (!operand.packed && operand.items.size() > 1)
            problem("`{}` has several tensors, but is no pack", port.name);
        if (!operand.length.valid()) continue;
        check_int(operand.length, "a length");
        check_symbols(operand.length, {}, "a length");
        const int64_t most = program_.symbols.range(operand.length).high;
        if (!operand.packed)
            problem("`{}` has a length, but is no pack", port.name);
        else if (most > 0 && static_cast<uint64_t>(most) > operand.items.size())
            problem("`{}` has {} tensors for a length of up to {}",
                    port.name,
                    operand.items.size(),
                    most);
    }
}

void Verifier::check_updates() {
    std::unordered_set<TensorId, IdHash> updated;
    for (const Update& update : program_.updates) {
        const Tensor& variable = program_.tensors[update.variable];
        const Tensor& value = program_.tensors[update.value];
        if (variable.role != TensorRole::Variable)
            problem("the update of {}, which is no variable", name(update.variable));
        if (!updated.insert(update.variable).second)
            problem("two updates of {}", name(update.variable));
        if (variable.dtype != value.dtype || variable.shape.size() != value.shape.size())
            problem("the update of {} has another dtype or rank", name(update.variable));
        require_made(update.value, "an update");
    }
}

// ---- order ------------------------------------------------------------------------------------

void Verifier::check_main() {
    const Graph& main = program_.graphs[program_.main];
    open_scope();
    for (const Port& port : main.inputs)
        for (const TensorId id : port.operand.items) {
            if (program_.tensors[id].role != TensorRole::Input)
                problem("{} is an input of the graph, but not by its role", name(id));
            visible_[id] = true;
        }
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<TensorId>(i);
        const TensorRole role = program_.tensors[id].role;
        if (role == TensorRole::Constant || role == TensorRole::Variable) visible_[id] = true;
        if (role == TensorRole::Input && !visible_[id])
            problem("{} is an input by its role, but not of the graph", name(id));
    }
    walk_graph(program_.main);
    here_.clear();
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<TensorId>(i);
        if (program_.tensors[id].role == TensorRole::Intermediate && !made_[id])
            problem("nothing makes {}", name(id));
    }
}

void Verifier::make(TensorId id) {
    if (program_.tensors[id].role != TensorRole::Intermediate)
        problem("makes {}, which is an input, a constant or a variable", name(id));
    if (made_[id]) problem("makes {} a second time", name(id));
    made_[id] = true;
    visible_[id] = true;
    scopes_.back().made.push_back(id);
    for (const SymId extent : program_.tensors[id].shape) tell(extent);
    check_extents(program_.tensors[id]);
}

void Verifier::close_scope() {
    for (const TensorId id : scopes_.back().made) visible_[id] = false;
    for (const SymId id : scopes_.back().told) {
        known_.erase(id);
        inside_.insert(id);
    }
    scopes_.pop_back();
}

void Verifier::require_made(TensorId id, std::string_view what) {
    if (!visible_[id]) problem("{} reads {}, which is not made before", what, name(id));
}

void Verifier::walk_graph(GraphId id) {
    const Graph& graph = program_.graphs[id];
    check_ports(graph.inputs);
    for (const Port& port : graph.inputs)
        for (const TensorId item : port.operand.items) require_made(item, "an input");
    const std::string outside = here_;
    for (const OpId op : graph.operations) walk(op);
    here_ = outside;
    check_ports(graph.outputs);
    for (const Port& port : graph.outputs)
        for (const TensorId item : port.operand.items)
            require_made(item, fmt::format("the output of graph `{}`", graph.name));
}

void Verifier::walk(OpId id) {
    const Operation& op = program_.operations[id];
    enter(op);
    check_ports(op.inputs);
    for (const Port& port : op.inputs)
        for (const TensorId item : port.operand.items)
            require_made(item, fmt::format("`{}`", port.name));
    check_kind(op);
    for (const OpId part : op.parts) walk(part);
    match(
        op.control,
        [](std::monostate) {},
        [&](const Branch& branch) { walk_branch(op, branch); },
        [&](const Loop& loop) { walk_loop(op, loop); });
    enter(op);
    walk_outputs(op);
    check_ports(op.outputs);
    check_assertions(op.assertions);
    walk_formulas(op);
}

void Verifier::check_kind(const Operation& op) {
    const bool control = !std::holds_alternative<std::monostate>(op.control);
    if (control != (op.kind == OperationKind::Control))
        problem(
            "is {}, {} a branch or a loop", kind_text(op.kind), control ? "but has" : "without");
    if (!op.formulas.empty() && op.kind != OperationKind::Primitive)
        problem("is {}, but has formulas", kind_text(op.kind));
    if (!op.parts.empty() && op.kind != OperationKind::Compound)
        problem("is {}, but has parts", kind_text(op.kind));
}

// The outputs of a compound were made by its parts or existed before.
void Verifier::walk_outputs(const Operation& op) {
    for (const Port& port : op.outputs)
        for (const TensorId item : port.operand.items) {
            if (!op.compound())
                make(item);
            else if (!visible_[item])
                problem("no part makes its output {}", name(item));
        }
    for (const Port& port : op.outputs)
        if (port.operand.length.valid() && !op.compound()) tell(port.operand.length);
}

void Verifier::walk_formulas(const Operation& op) {
    if (op.formulas.empty()) return;
    std::unordered_set<TensorId, IdHash> written;
    for (const Formula& formula : op.formulas) {
        check_formula(op, formula);
        for (const Write& write : formula.writes) written.insert(write.tensor);
    }
    for (const Port& port : op.outputs)
        for (const TensorId item : port.operand.items)
            if (!written.contains(item)) problem("no formula writes its output {}", name(item));
}

}  // namespace lemma::ir

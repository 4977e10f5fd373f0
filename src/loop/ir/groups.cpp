// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/groups.h"

#include <algorithm>

#include "base/match.h"

namespace lemma::loop {

namespace {

const Block* body_of(const Stmt& statement) {
    if (const auto* const loop = std::get_if<For>(&statement.node)) return &loop->body;
    if (const auto* const branch = std::get_if<If>(&statement.node)) return &branch->body;
    return nullptr;
}

template <class Node>
bool has(const Block& block) {
    return std::ranges::any_of(block, [](const Stmt& statement) {
        const Block* const body = body_of(statement);
        return std::holds_alternative<Node>(statement.node) || (body && has<Node>(*body));
    });
}

// Whether a statement for each item by itself gives the local a value.
bool sets(const Block& block, LocalId local) {
    return std::ranges::any_of(block, [&](const Stmt& statement) {
        const auto* const set = std::get_if<Set>(&statement.node);
        const auto* const exchange = std::get_if<Exchange>(&statement.node);
        const Block* const body = body_of(statement);
        return (set && set->local == local) || (exchange && exchange->local == local) ||
               (body && sets(*body, local));
    });
}

// Finds values that all items of a group have in common.
class Uniform {
public:
    explicit Uniform(const Function& function)
        : f_(function), vars_(function.vars.size()), locals_(function.locals.size()) {}

    std::string verify() {
        block(f_.body);
        return std::move(error_);
    }

private:
    bool is_uniform(ExprId id) const {
        const Expr& e = f_[id];
        switch (e.op) {
            case Op::Constant:
                return true;
            case Op::Var:
                return vars_[static_cast<size_t>(e.integer)];
            case Op::Local:
                return locals_[static_cast<size_t>(e.integer)];
            case Op::Load:
                // Others may write it meanwhile, unless nobody does.
                return !f_.buffers[e.buffer.value].written && !e.mask.valid() &&
                       is_uniform(e.address);
            case Op::Div:
                if (is_group(e)) return true;
                break;
            default:
                break;
        }
        return std::ranges::all_of(e.args, [this](ExprId arg) { return is_uniform(arg); });
    }
    bool is_uniform(const Address& address) const {
        const bool terms = std::ranges::all_of(
            address.terms, [this](const AddressTerm& term) { return vars_[term.var.value]; });
        return terms && (!address.dynamic.valid() || is_uniform(address.dynamic));
    }
    // The number of the group: the item divided by the items of a group.
    bool is_group(const Expr& e) const {
        const Expr& item = f_[e.args[0]];
        const Expr& by = f_[e.args[1]];
        return item.op == Op::Var && static_cast<uint64_t>(item.integer) == f_.item.value &&
               by.op == Op::Constant && by.integer == f_.group;
    }

    void block(const Block& statements) {
        for (const Stmt& statement : statements) {
            bool alike = true;
            if (const auto* const bind = std::get_if<Bind>(&statement.node)) {
                vars_[bind->var.value] = is_uniform(bind->value);
            }
            if (const auto* const barrier = std::get_if<Barrier>(&statement.node)) {
                if (barrier->any.valid())
                    locals_[barrier->any.value] = !sets(f_.body, barrier->any);
            }
            if (const auto* const loop = std::get_if<For>(&statement.node)) {
                alike = is_uniform(loop->begin) && is_uniform(loop->end);
                vars_[loop->var.value] = alike;
            }
            if (const auto* const branch = std::get_if<If>(&statement.node)) {
                alike = is_uniform(branch->condition);
            }
            const Block* const body = body_of(statement);
            if (!body) continue;
            if (!alike && has_barrier(*body)) error_ = "a barrier that some items do not reach";
            block(*body);
        }
    }

    const Function& f_;
    std::vector<bool> vars_;
    std::vector<bool> locals_;  // the answers of barriers
    std::string error_;
};

}  // namespace

bool has_barrier(const Block& block) {
    return has<Barrier>(block) || has<Exchange>(block) || has<MatrixStmt>(block);
}

std::string verify_groups(const Function& function) {
    const bool shared = std::ranges::any_of(function.buffers, &Buffer::shared);
    if (function.group == 0) {
        if (shared) return "memory of a group in a kernel without groups";
        return has_barrier(function.body) ? "a barrier in a kernel without groups" : "";
    }
    if (function.group < 0 || function.group > kMostGroup) return "a group of another size";
    if (function.group_memory() > kMostGroupMemory) return "more memory than a group has";
    if (!function.tiles.empty()) return "tile registers in a kernel for a device";
    if (!has_barrier(function.body)) return "";
    const bool barriers = has<Barrier>(function.body);
    if (barriers && function.items % function.group != 0) return "a group without all of its items";
    const bool whole = function.items % kWarp == 0 && function.group % kWarp == 0;
    const bool warps = has<Exchange>(function.body) || has<MatrixStmt>(function.body);
    if (warps && !whole) return "a warp without all of its items";
    return Uniform(function).verify();
}

}  // namespace lemma::loop

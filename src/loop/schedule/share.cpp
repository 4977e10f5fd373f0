// SPDX-License-Identifier: Apache-2.0
#include "loop/schedule/share.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "base/check.h"
#include "base/match.h"

namespace lemma::loop {

namespace {

// A kernel with more arguments would run out of registers.
constexpr size_t kMostNumbers = 8;
constexpr size_t kMostNumbersOnce = 64;
// Fewer kernels of every run do not share code: each is a little faster by itself.
constexpr size_t kLeastKernels = 4;

// ---- The beginning of buffers -------------------------------------------------------------------

template <class Visit>
void visit_addresses(Block& block, const Visit& visit) {
    for (Stmt& statement : block) {
        match(
            statement.node,
            [&](For& s) { visit_addresses(s.body, visit); },
            [&](If& s) { visit_addresses(s.body, visit); },
            [&](StoreStmt& s) { visit(s.buffer, s.address); },
            [&](Prefetch& s) { visit(s.buffer, s.address); },
            [&](TileStmt& s) {
                if (s.buffer.valid()) visit(s.buffer, s.address);
            },
            [](Set&) {},
            [](Let&) {},
            [](Bind&) {},
            [](Barrier&) {},
            [](Exchange&) {},
            [&](CopyStmt& s) {
                if (s.action != CopyAction::Copy) return;
                visit(s.from, s.source);
                visit(s.to, s.at);
            },
            [](MatrixStmt&) {});
    }
}

void move_buffers(ScheduledKernel& kernel, const std::vector<StorageId>& fixed) {
    Function& f = kernel.function;
    std::vector<std::optional<int64_t>> lowest(f.buffers.size());
    const auto visit_all = [&](const auto& visit) {
        for (Expr& e : f.exprs) {
            if (e.op == Op::Load) visit(e.buffer, e.address);
        }
        visit_addresses(f.body, visit);
    };
    visit_all([&](BufferId buffer, const Address& address) {
        std::optional<int64_t>& low = lowest[buffer.value];
        low = std::min(low.value_or(address.offset), address.offset);
    });
    kernel.offsets.assign(f.argument_count(), 0);
    bool moved = false;
    for (size_t i = 0; i < f.buffers.size(); ++i) {
        const StorageId id = i < kernel.arguments.size() ? kernel.arguments[i] : StorageId{};
        const bool moves = id.valid() && std::ranges::find(fixed, id) == fixed.end();
        if (!moves) lowest[i] = 0;
        if (i >= kernel.offsets.size()) continue;
        kernel.offsets[i] = lowest[i].value_or(0) * tensor::dtype_size(f.buffers[i].dtype);
        moved |= kernel.offsets[i] != 0;
    }
    if (!moved) return kernel.offsets.clear();
    visit_all([&](BufferId buffer, Address& address) { address.offset -= *lowest[buffer.value]; });
}

// ---- Numbers ------------------------------------------------------------------------------------

// Walks through a function in the order of its text. It either collects the numbers and describes
// everything else, or replaces numbers by arguments.
class Walk {
public:
    Walk(Function& function, bool once) : f_(function), once_(once) {}

    // Everything but the numbers, and the numbers in the order of their places.
    void read() {
        put((f_.anywhere ? 1 : 0) + (f_.aligned ? 2 : 0));
        if (f_.group > 0) put(f_.group);
        for (const Buffer& buffer : f_.buffers) {
            put(static_cast<int64_t>(buffer.dtype) * 2 + (buffer.written ? 1 : 0));
            put(buffer.shared ? -buffer.scratch : buffer.scratch);
        }
        put(-1);
        for (const Local& local : f_.locals) put(local.type);
        put(-1);
        for (const TileRegister& tile : f_.tiles) put(tile.rows * 1024 + tile.bytes);
        walk();
    }
    // `arguments` has the argument for each number in the order of `read`; -1: it stays.
    void replace(const std::vector<int32_t>& arguments, size_t count);

    std::string rest;
    std::vector<int64_t> numbers;

private:
    static constexpr int32_t kStays = -1;

    void put(int64_t value) {
        if (arguments_) return;
        rest.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void put(Type type) { put(static_cast<int64_t>(type.kind) * 65536 + type.lanes); }
    int32_t number(int64_t value) {
        if (arguments_) return (*arguments_)[next_++];
        numbers.push_back(value);
        return kStays;
    }

    void walk() {
        memo_.assign(f_.exprs.size(), {});
        names_.assign(f_.vars.size(), 0);
        if (f_.item.valid()) name(f_.item);
        block(f_.body);
    }
    void name(VarId var) { names_[var.value] = ++bound_; }
    ExprId operand(ExprId id, bool fixed = false);
    ExprId expr(ExprId id);
    void address(Address& address);
    void block(Block& statements);
    VarId product(VarId var, int32_t argument);
    void bind_products(Block& statements);
    ExprId add(Expr expr) {
        f_.exprs.push_back(std::move(expr));
        return make_id<ExprId>(f_.exprs.size() - 1);
    }
    ExprId index(VarId var) {
        return add({.op = Op::Var, .type = {}, .integer = static_cast<int64_t>(var.value)});
    }

    Function& f_;
    bool once_;
    const std::vector<int32_t>* arguments_ = nullptr;
    size_t next_ = 0;
    struct Seen {
        uint32_t order = 0;  // from 1; 0: not yet
        ExprId made;
    };
    std::vector<Seen> memo_;
    uint32_t count_ = 0;
    std::vector<uint32_t> names_;  // by variable: its latest binding
    uint32_t bound_ = 0;
    std::vector<ExprId> loaded_;  // by argument
    // By variable and argument: the variable with their product; without a variable the argument
    // itself.
    std::map<std::pair<uint32_t, int32_t>, VarId> products_;
};

ExprId Walk::operand(ExprId id, bool fixed) {
    const Expr& e = f_.exprs[id.value];
    if (e.op == Op::Constant) {
        put(e.type);
        if (e.type.kind != Kind::Int || e.type.lanes != 1 || fixed) {
            int64_t bits = e.integer;
            if (e.type.real()) std::memcpy(&bits, &e.real, sizeof bits);
            put(bits);
            return id;
        }
        const int32_t argument = number(e.integer);
        return argument == kStays ? id : loaded_[static_cast<size_t>(argument)];
    }
    if (e.op == Op::Var) {
        put(static_cast<int64_t>(Op::Var));
        put(names_[static_cast<size_t>(e.integer)]);
        return id;
    }
    return expr(id);
}

ExprId Walk::expr(ExprId id) {
    if (memo_[id.value].order != 0) {
        put(-2);
        put(memo_[id.value].order);
        return memo_[id.value].made;
    }
    Expr e = f_.exprs[id.value];
    put(static_cast<int64_t>(e.op));
    put(e.type);
    put(e.integer);
    const std::string_view called = e.name ? e.name : "";
    put(std::ssize(called));
    for (const char letter : called) put(letter);
    bool same = true;
    const auto replaced = [&](ExprId& part, bool fixed = false) {
        const ExprId made = operand(part, fixed);
        same &= made == part;
        part = made;
    };
    put(std::ssize(e.args));
    const bool divides = e.op == Op::Div || e.op == Op::Mod;  // slow by an argument
    for (ExprId& arg : e.args) replaced(arg, divides && !once_);
    if (e.op == Op::Load) {
        put(e.buffer.value);
        const Address before = e.address;
        address(e.address);
        same &= before == e.address;
        put(e.mask.valid());
        if (e.mask.valid()) replaced(e.mask);
    }
    const ExprId made = same ? id : add(std::move(e));
    memo_[id.value] = {++count_, made};
    return made;
}

// The product of a loop variable and an argument is a variable of its own, bound beside the first.
VarId Walk::product(VarId var, int32_t argument) {
    const auto [found, fresh] = products_.try_emplace({var.value, argument});
    if (fresh) {
        f_.vars.emplace_back();
        names_.push_back(0);
        found->second = make_id<VarId>(f_.vars.size() - 1);
    }
    return found->second;
}

void Walk::address(Address& address) {
    put(std::ssize(address.terms));
    std::vector<AddressTerm> terms;
    std::vector<AddressTerm> products;
    for (const AddressTerm& term : address.terms) {
        put(names_[term.var.value]);
        const int32_t argument = number(term.factor);
        if (argument == kStays) {
            terms.push_back(term);
        } else {
            products.push_back({product(term.var, argument), 1});
        }
    }
    const int32_t argument = number(address.offset);
    if (argument != kStays) {
        products.push_back({product({}, argument), 1});
        address.offset = 0;
    }
    if (arguments_) {
        std::ranges::sort(products, {}, [](const AddressTerm& term) { return term.var.value; });
        terms.insert(terms.end(), products.begin(), products.end());
        address.terms = std::move(terms);
    }
    put(address.dynamic.valid());
    if (address.dynamic.valid()) address.dynamic = operand(address.dynamic);
    put(address.lane_stride);
}

void Walk::block(Block& statements) {
    put(std::ssize(statements));
    for (Stmt& statement : statements) {
        put(static_cast<int64_t>(statement.node.index()));
        match(
            statement.node,
            [&](For& s) {
                s.begin = operand(s.begin);
                s.end = operand(s.end);
                put(s.step);
                name(s.var);
                block(s.body);
            },
            [&](If& s) {
                s.condition = operand(s.condition);
                block(s.body);
            },
            [&](StoreStmt& s) {
                s.value = operand(s.value);
                put(s.buffer.value);
                address(s.address);
                put(s.mask.valid());
                if (s.mask.valid()) s.mask = operand(s.mask);
            },
            [&](Set& s) {
                put(s.local.value);
                s.value = operand(s.value);
            },
            [&](Let& s) { s.value = operand(s.value); },
            [&](Bind& s) {
                s.value = operand(s.value);
                name(s.var);
            },
            [&](Prefetch& s) {
                put(s.buffer.value);
                address(s.address);
            },
            [&](TileStmt& s) {
                put(static_cast<int64_t>(s.action));
                put(static_cast<int64_t>(s.products));
                for (const int tile : {s.tile, s.a, s.b}) put(tile);
                put(s.buffer.valid());
                if (!s.buffer.valid()) return;
                put(s.buffer.value);
                put(s.stride);
                address(s.address);
            },
            [&](Barrier& s) {
                put(s.any.valid());
                if (!s.any.valid()) return;
                put(s.any.value);
                s.value = operand(s.value);
            },
            [&](Exchange& s) {
                put(s.local.value);
                put(s.distance);
                s.value = operand(s.value);
            },
            [&](CopyStmt& s) {
                put(static_cast<int64_t>(s.action));
                put(s.later);
                if (s.action != CopyAction::Copy) return;
                put(s.to.value);
                put(s.from.value);
                put(s.elements);
                address(s.at);
                address(s.source);
                put(s.wanted.valid());
                if (s.wanted.valid()) s.wanted = operand(s.wanted);
            },
            [&](MatrixStmt& s) {
                put(static_cast<int64_t>(s.products));
                for (const LocalId total : s.totals) put(total.value);
                for (ExprId& word : s.a) word = operand(word);
                for (ExprId& word : s.b) word = operand(word);
            });
    }
}

// A variable may be bound in several places.
void Walk::bind_products(Block& statements) {
    Block out;
    const auto bind = [&](VarId var, Block& to) {
        for (auto at = products_.lower_bound({var.value, 0});
             at != products_.end() && at->first.first == var.value;
             ++at) {
            const ExprId argument = loaded_[static_cast<size_t>(at->first.second)];
            const ExprId value =
                var.valid() ? add({.op = Op::Mul, .type = {}, .args = {index(var), argument}})
                            : argument;
            to.push_back({Bind{at->second, value}});
        }
    };
    if (&statements == &f_.body) {
        for (const ExprId argument : loaded_) out.push_back({Let{argument}});
        bind({}, out);
        if (f_.item.valid()) bind(f_.item, out);
    }
    for (Stmt& statement : statements) {
        if (auto* const loop = std::get_if<For>(&statement.node)) {
            bind_products(loop->body);
            Block body;
            bind(loop->var, body);
            std::ranges::move(loop->body, std::back_inserter(body));
            loop->body = std::move(body);
        }
        if (auto* const branch = std::get_if<If>(&statement.node)) bind_products(branch->body);
        const auto* const bound = std::get_if<Bind>(&statement.node);
        const VarId var = bound ? bound->var : VarId{};
        out.push_back(std::move(statement));
        if (var.valid()) bind(var, out);
    }
    statements = std::move(out);
}

void Walk::replace(const std::vector<int32_t>& arguments, size_t count) {
    arguments_ = &arguments;
    f_.buffers.push_back({"numbers", tensor::DType::I64, false});
    const auto buffer = make_id<BufferId>(f_.buffers.size() - 1);
    for (size_t i = 0; i < count; ++i) {
        Expr load{.op = Op::Load, .type = {}, .buffer = buffer};
        load.address.offset = static_cast<int64_t>(i);
        loaded_.push_back(add(std::move(load)));
    }
    walk();
    LEMMA_CHECK(next_ == arguments.size());
    bind_products(f_.body);
}

// ---- Classes ------------------------------------------------------------------------------------

// Kernels that differ in numbers only, each with its numbers.
struct Class {
    struct Member {
        ScheduledKernel* kernel;
        std::vector<int64_t> numbers;
    };
    bool once = false;
    std::vector<Member> members;
};

// The argument for each place; places that have the same numbers in all kernels share one.
std::vector<int32_t> arguments_of(const Class& kernels, std::vector<size_t>& first) {
    const auto& members = kernels.members;
    std::vector<int32_t> arguments(members[0].numbers.size(), -1);
    std::map<std::vector<int64_t>, int32_t> known;
    for (size_t place = 0; place < arguments.size(); ++place) {
        std::vector<int64_t> column;
        for (const Class::Member& member : members) column.push_back(member.numbers[place]);
        if (std::ranges::all_of(column, [&](int64_t n) { return n == column[0]; })) continue;
        const auto [found, fresh] =
            known.try_emplace(std::move(column), static_cast<int32_t>(first.size()));
        if (fresh) first.push_back(place);
        arguments[place] = found->second;
    }
    return arguments;
}

void share(Class& kernels) {
    std::vector<size_t> first;  // by argument: its first place
    const std::vector<int32_t> arguments = arguments_of(kernels, first);
    if (first.empty() || first.size() > (kernels.once ? kMostNumbersOnce : kMostNumbers)) return;
    if (!kernels.once) {
        std::map<std::vector<int64_t>, int> different;
        for (const Class::Member& member : kernels.members) different[member.numbers] = 1;
        if (different.size() < kLeastKernels) return;
    }
    for (Class::Member& member : kernels.members) {
        Walk(member.kernel->function, kernels.once).replace(arguments, first.size());
        for (const size_t place : first) {
            member.kernel->numbers.push_back(member.numbers[place]);
        }
    }
}

}  // namespace

std::string code_bytes(const Function& function) {
    Walk walk(const_cast<Function&>(function), true);  // reading changes nothing
    walk.read();
    const auto* const numbers = reinterpret_cast<const char*>(walk.numbers.data());
    return std::move(walk.rest.append(numbers, walk.numbers.size() * sizeof(int64_t)));
}

void share_code(std::span<const SharedKernel> kernels, const std::vector<StorageId>& fixed) {
    std::vector<Class> classes;
    std::unordered_map<std::string, size_t> known;
    for (const SharedKernel& shared : kernels) {
        ScheduledKernel& kernel = *shared.kernel;
        move_buffers(kernel, fixed);
        if (kernel.narrower) {
            kernel.narrower = [narrower = std::move(kernel.narrower), fixed](int n) {
                auto made = narrower(n);
                if (made) move_buffers(*made, fixed);
                return made;
            };
            continue;
        }
        if (kernel.windows) continue;  // has numbers of its own
        // The numbers would lie behind scratch memory.
        if (kernel.function.argument_count() < kernel.function.buffers.size()) continue;
        Walk walk(kernel.function, shared.once);
        walk.read();
        walk.rest += shared.once ? '1' : '0';
        const auto [found, fresh] = known.try_emplace(std::move(walk.rest), classes.size());
        if (fresh) classes.push_back({shared.once, {}});
        classes[found->second].members.push_back({&kernel, std::move(walk.numbers)});
    }
    for (Class& one : classes) share(one);
}

}  // namespace lemma::loop

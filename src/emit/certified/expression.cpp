// SPDX-License-Identifier: Apache-2.0
#include "emit/certified/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "emit/c_text.h"
#include "emit/certified/arithmetic.h"

namespace lemma::emit {

using loop::Expr;
using loop::ExprId;
using loop::Kind;
using loop::Op;
using tensor::DType;

namespace {

bool is_comparison(Op op) {
    return op == Op::Less || op == Op::LessEqual || op == Op::Equal || op == Op::NotEqual;
}

std::string_view sign_of(Op op) {
    switch (op) {
        case Op::Less:
            return "<";
        case Op::LessEqual:
            return "<=";
        case Op::Equal:
            return "==";
        default:
            return "!=";
    }
}

}  // namespace

// ---- Shared parts -------------------------------------------------------------------------------

void ExprPrinter::count(ExprId id) {
    if (!id.valid() || uses_[id]++ > 0) return;
    std::vector<std::pair<ExprId, size_t>> stack = {{id, 0}};
    while (!stack.empty()) {
        auto& [at, next] = stack.back();
        const Expr& e = pool_[at];
        if (next < e.args.size()) {
            const ExprId arg = e.args[next++];
            if (uses_[arg]++ == 0) stack.emplace_back(arg, 0);
            continue;
        }
        order_.push_back(at);
        stack.pop_back();
    }
}

void ExprPrinter::name_shared(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
        const ExprId id = order_[i];
        const Expr& e = pool_[id];
        size_t size = 1;
        for (const ExprId arg : e.args) size += sizes_[arg];
        sizes_[id] = std::min<size_t>(size, kMostParts + 1);
        const bool leaf = e.op == Op::Var || e.op == Op::Assume || e.args.empty();
        const bool small = is_plain(id) && size < 4;
        if (uses_[id] < 2 || leaf || small || !reads_inside(id)) continue;
        const std::string name = fmt::format("v{}", shared_.size());
        std::string text = value(id);
        if (e.type.kind == Kind::Bool) text = fmt::format("({}) ? 1 : 0", text);
        shared_.push_back({name, type_of(id), std::move(text)});
        names_[id] = e.type.kind == Kind::Bool ? fmt::format("({} != 0)", name) : name;
        sizes_[id] = 1;
    }
}

size_t ExprPrinter::share(const std::vector<ExprId>& first, const std::vector<ExprId>& then) {
    for (const ExprId root : first) count(root);
    const size_t half = order_.size();
    for (const ExprId root : then) count(root);
    name_shared(0, half);
    const size_t before = shared_.size();
    name_shared(half, order_.size());
    for (const auto* const roots : {&first, &then}) {
        for (const ExprId root : *roots) size_ += root.valid() ? sizes_[root] : 0;
    }
    return before;
}

std::string ExprPrinter::lets() const {
    std::string text;
    for (const Shared& each : shared_) text += fmt::format("\\let {} = {}; ", each.name, each.text);
    return text;
}

std::string ExprPrinter::type_of(ExprId id) {
    switch (pool_[id].type.kind) {
        case Kind::Bool:
            return "int32_t";
        case Kind::F32:
            return "float";
        case Kind::F64:
            return "double";
        default:
            return is_plain(id) ? "int32_t" : "int64_t";
    }
}

// ---- Plain integers -----------------------------------------------------------------------------

bool ExprPrinter::is_plain(ExprId id) {
    if (const auto found = plain_.find(id); found != plain_.end()) return found->second;
    const Expr& e = pool_[id];
    bool result = false;
    switch (e.op) {
        case Op::Constant:
            result = e.type.kind == Kind::Int || e.type.kind == Kind::Bool;
            break;
        case Op::Var:
            result = true;
            break;
        case Op::Div:
        case Op::Mod: {
            const Expr& by = pool_[e.args[1]];
            result = e.type.kind == Kind::Int && by.op == Op::Constant && by.integer > 0 &&
                     is_plain(e.args[0]);
            break;
        }
        case Op::Add:
        case Op::Sub:
        case Op::Mul:
        case Op::Min:
        case Op::Max:
        case Op::Neg:
        case Op::Abs:
        case Op::Assume:
        case Op::Less:
        case Op::LessEqual:
        case Op::Equal:
        case Op::NotEqual:
        case Op::And:
        case Op::Or:
        case Op::Xor:
        case Op::Not:
        case Op::Select:
            result = !e.type.real() &&
                     std::ranges::all_of(e.args, [&](ExprId arg) { return is_plain(arg); });
            break;
        default:
            break;
    }
    if (result && e.type.kind == Kind::Int) {
        const loop::StagePool::Range range = pool_.range(id);
        constexpr int64_t kMost =
            (int64_t{1} << 30) - 1;  // leaves room for a sign and one addition
        result = range.low >= -kMost && range.high <= kMost;
    }
    plain_[id] = result;
    return result;
}

// Rounds down; C rounds towards zero.
std::string ExprPrinter::divided(const Expr& e) {
    const std::string a = value(e.args[0]);
    const int64_t by = pool_[e.args[1]].integer;
    const bool negative = pool_.range(e.args[0]).low < 0;
    if (e.op == Op::Div) {
        if (!negative) return fmt::format("({} / {})", a, by);
        return fmt::format("(({0} >= 0) ? ({0} / {1}) : -((({2} - {0})) / {1}))", a, by, by - 1);
    }
    if (!negative) return fmt::format("({} % {})", a, by);
    return fmt::format("((({0} % {1}) + {1}) % {1})", a, by);
}

std::string ExprPrinter::plain(const Expr& e) {
    const auto infix = [&](std::string_view sign) {
        return fmt::format("({} {} {})", value(e.args[0]), sign, value(e.args[1]));
    };
    switch (e.op) {
        case Op::Add: {
            const Expr& last = pool_[e.args[1]];
            if (last.op == Op::Constant && last.integer < 0) {
                return fmt::format("({} - {})", value(e.args[0]), -last.integer);
            }
            return infix("+");
        }
        case Op::Sub:
            return infix("-");
        case Op::Mul:
            return infix("*");
        case Op::Div:
        case Op::Mod:
            return divided(e);
        case Op::Min: {
            const std::string a = value(e.args[0]), b = value(e.args[1]);
            return fmt::format("(({1} < {0}) ? {1} : {0})", a, b);
        }
        case Op::Max: {
            const std::string a = value(e.args[0]), b = value(e.args[1]);
            return fmt::format("(({0} < {1}) ? {1} : {0})", a, b);
        }
        case Op::Neg:
            return fmt::format("(-{})", value(e.args[0]));
        default: {
            const std::string a = value(e.args[0]);
            return fmt::format("(({0} < 0) ? -{0} : {0})", a);
        }
    }
}

// ---- Values -------------------------------------------------------------------------------------

std::string ExprPrinter::value(ExprId id) {
    if (const auto found = names_.find(id); found != names_.end()) return found->second;
    return compute(id);
}

std::string ExprPrinter::call(const std::string& name,
                              const std::vector<std::string>& arguments) const {
    return fmt::format(
        "{}{}({})", name, dialect_ == Dialect::Acsl ? "_of" : "", fmt::join(arguments, ", "));
}

std::string ExprPrinter::real_constant(double value, Kind kind) const {
    const bool acsl = dialect_ == Dialect::Acsl;
    const bool single = kind == Kind::F32;
    if (std::isfinite(value)) return real_literal(value, single && !acsl);
    std::string name = std::isnan(value) ? "sx_nan" : "sx_inf";
    name += acsl ? "_of" : "()";
    if (!acsl && !single) name = "(double)" + name;
    if (std::isnan(value) || value > 0) return name;
    return call(function_of(Op::Neg, kind), {name});
}

std::string ExprPrinter::literal(const Expr& e) const {
    switch (e.type.kind) {
        case Kind::Bool:
            return e.integer ? "(1 == 1)" : "(1 == 0)";
        case Kind::Int: {
            if (dialect_ == Dialect::Acsl) return fmt::format("{}", e.integer);
            const bool wide = e.integer > INT32_MAX || e.integer < -INT32_MAX;
            return integer_literal(wide ? DType::I64 : DType::I32, e.integer);
        }
        default:
            return real_constant(e.real, e.type.kind);
    }
}

std::string ExprPrinter::compute(ExprId id) {
    const Expr& e = pool_[id];
    switch (e.op) {
        case Op::Constant:
            return literal(e);
        case Op::Var: {
            const auto found = vars_.find(make_id<loop::VarId>(static_cast<size_t>(e.integer)));
            return found == vars_.end() ? "0" : found->second;
        }
        case Op::Assume:
            return value(e.args[0]);
        case Op::Read:
            return read(e);
        case Op::Select:
            return select(e);
        case Op::Cast:
            return cast(e);
        case Op::And:
            return fmt::format("({} && {})", value(e.args[0]), value(e.args[1]));
        case Op::Or:
            return fmt::format("({} || {})", value(e.args[0]), value(e.args[1]));
        case Op::Xor: {
            const char* const text =
                dialect_ == Dialect::C ? "(!{} != !{})" : "(({} ? 1 : 0) != ({} ? 1 : 0))";
            return fmt::format(fmt::runtime(text), value(e.args[0]), value(e.args[1]));
        }
        case Op::Not:
            return fmt::format("(!{})", value(e.args[0]));
        default:
            break;
    }
    if (is_comparison(e.op)) return comparison(e);
    if (e.type.kind == Kind::Int && is_plain(id)) return plain(e);
    return operation(e);
}

std::string ExprPrinter::operation(const Expr& e) {
    std::vector<std::string> arguments;
    for (const ExprId arg : e.args) arguments.push_back(value(arg));
    if (e.op == Op::Library) return call(library_function(e.name, e.type.kind), arguments);
    return call(function_of(e.op, e.type.kind), arguments);
}

std::string ExprPrinter::comparison(const Expr& e) {
    const Kind kind = pool_[e.args[0]].type.kind;
    const std::string a = value(e.args[0]), b = value(e.args[1]);
    if (kind == Kind::Bool) {
        return fmt::format("(({} ? 1 : 0) {} ({} ? 1 : 0))", a, sign_of(e.op), b);
    }
    if (kind == Kind::Int) return fmt::format("({} {} {})", a, sign_of(e.op), b);
    return fmt::format("({} != 0)", call(function_of(e.op, kind), {a, b}));
}

std::string ExprPrinter::cast(const Expr& e) {
    const Kind from = pool_[e.args[0]].type.kind;
    const Kind to = e.type.kind;
    const std::string a = value(e.args[0]);
    const bool acsl = dialect_ == Dialect::Acsl;
    if (from == to) return a;
    if (to == Kind::Bool) {
        if (from == Kind::Int) return fmt::format("({} != 0)", a);
        return fmt::format("({} != 0)",
                           call(function_of(Op::NotEqual, from), {a, real_constant(0, from)}));
    }
    if (from == Kind::Bool) {
        if (to == Kind::Int) return fmt::format("({} ? 1 : 0)", a);
        return fmt::format("({} ? {} : {})", a, real_constant(1, to), real_constant(0, to));
    }
    if (to == Kind::Int) return call(from == Kind::F32 ? "sx_to_intf" : "sx_to_int", {a});
    if (from == Kind::Int) return call(to == Kind::F32 ? "sx_from_intf" : "sx_from_int", {a});
    if (to == Kind::F32) return call("sx_float", {a});
    return acsl ? a : fmt::format("(double){}", a);
}

std::string ExprPrinter::select(const Expr& e) {
    const std::string condition = value(e.args[0]);
    const size_t before = facts_.size();
    add_facts(e.args[0], true);
    const std::string then = value(e.args[1]);
    facts_.resize(before);
    add_facts(e.args[0], false);
    const std::string other = value(e.args[2]);
    facts_.resize(before);
    if (e.type.kind == Kind::Bool) {
        return fmt::format("(({0} && {1}) || (!{0} && {2}))", condition, then, other);
    }
    return fmt::format("({} ? {} : {})", condition, then, other);
}

// ---- Elements -----------------------------------------------------------------------------------

std::string ExprPrinter::indices(const std::vector<ExprId>& index) {
    std::string text;
    for (const ExprId each : index) {
        std::string one = value(each);
        // The parentheses of an index are its brackets.
        if (one.size() > 2 && one.front() == '(' && one.back() == ')') {
            int depth = 0;
            bool whole = true;
            for (size_t i = 0; i + 1 < one.size() && whole; ++i) {
                depth += one[i] == '(' ? 1 : one[i] == ')' ? -1 : 0;
                whole = depth > 0;
            }
            if (whole) one = one.substr(1, one.size() - 2);
        }
        text += fmt::format("[{}]", one);
    }
    return text;
}

std::string ExprPrinter::element(ir::TensorId tensor, const std::vector<ExprId>& index) {
    return tensors_.at(tensor) + indices(index);
}

std::string ExprPrinter::read(const Expr& e) {
    const ir::TensorId tensor = loop::tensor_of(e);
    const DType dtype = graph_.dtypes.at(tensor);
    std::string text = element(tensor, e.args);
    if (const std::string load = loading_function(dtype); !load.empty()) {
        text = call(load, {text});
    } else if (dtype == DType::Bool) {
        text = fmt::format("({} != {})", text, dialect_ == Dialect::C ? "0U" : "0");
    } else if (e.type.kind == Kind::Int && dtype != DType::I64 && dialect_ == Dialect::C) {
        text = fmt::format("(int64_t){}", text);
    }
    const std::string inside = inside_text(tensor, e.args);
    if (inside.empty()) return text;
    if (e.type.kind == Kind::Bool) return fmt::format("({} && {})", inside, text);
    const std::string zero = e.type.real() ? real_constant(0, e.type.kind) : "0";
    return fmt::format("({} ? {} : {})", inside, text, zero);
}

std::string ExprPrinter::stored(const std::string& value, Kind kind, DType dtype) const {
    if (dtype == DType::Bool) {
        const std::string_view unit = dialect_ == Dialect::C ? "U" : "";
        return fmt::format("({0} ? 1{1} : 0{1})", value, unit);
    }
    const std::string store = storing_function(dtype, kind);
    if (store.empty()) return value;
    const bool half = dtype == DType::F16 || dtype == DType::BF16;
    const bool widen = half && kind == Kind::F32 && dialect_ == Dialect::C;
    return call(store, {widen ? fmt::format("(double){}", value) : value});
}

std::string ExprPrinter::stored(ExprId id, DType dtype) {
    // An element that is widened and narrowed again is the element.
    const Expr& whole = pool_[id];
    const bool widened = whole.op == Op::Cast && whole.type.kind == Kind::F64;
    const Expr& inner = widened ? pool_[whole.args[0]] : whole;
    const bool element = inner.op == Op::Read && !names_.contains(id) &&
                         graph_.dtypes.at(loop::tensor_of(inner)) == dtype;
    if (element && is_inside(loop::tensor_of(inner), inner.args)) {
        return this->element(loop::tensor_of(inner), inner.args);
    }
    const Kind kind = pool_[id].type.kind;
    const Kind wanted = loop::kind_of(dtype);
    std::string text = value(id);
    if (kind == wanted || (loop::Type{kind}.real() && loop::Type{wanted}.real())) {
        if (dtype == DType::F64 && kind == Kind::F32 && dialect_ == Dialect::C) {
            text = "(double)" + text;
        }
        return stored(text, kind, dtype);
    }
    Expr as;
    as.op = Op::Cast;
    as.type = {wanted, 1};
    as.args = {id};
    return stored(cast(as), wanted, dtype);
}

// ---- Indices inside -----------------------------------------------------------------------------

loop::StagePool::Range ExprPrinter::range(ExprId id) {
    loop::StagePool::Range range = pool_.range(id);
    if (facts_.empty()) return range;
    const auto affine = pool_.affine(id);
    if (!affine) return range;
    for (const Fact& fact : facts_) {
        if (fact.affine.terms != affine->terms) continue;
        const int64_t shift = affine->offset - fact.affine.offset;
        if (fact.low != INT64_MIN) range.low = std::max(range.low, fact.low + shift);
        if (fact.high != INT64_MAX) range.high = std::min(range.high, fact.high - 1 + shift);
    }
    return range;
}

void ExprPrinter::add_fact(ExprId less, ExprId more, bool strict) {
    const auto low = pool_.affine(less);
    const auto high = pool_.affine(more);
    if (!low || !high) return;
    // less < more: of an expression and a constant.
    if (high->terms.empty()) {
        facts_.push_back({*low, INT64_MIN, high->offset + (strict ? 0 : 1)});
    } else if (low->terms.empty()) {
        facts_.push_back({*high, low->offset + (strict ? 1 : 0), INT64_MAX});
    }
}

void ExprPrinter::add_facts(ExprId condition, bool holds) {
    const Expr& e = pool_[condition];
    switch (e.op) {
        case Op::Not:
            return add_facts(e.args[0], !holds);
        case Op::And:
            if (holds) {
                for (const ExprId arg : e.args) add_facts(arg, true);
            }
            return;
        case Op::Or:
            if (!holds) {
                for (const ExprId arg : e.args) add_facts(arg, false);
            }
            return;
        case Op::Less:
        case Op::LessEqual: {
            if (pool_[e.args[0]].type.kind != Kind::Int) return;
            const bool strict = e.op == Op::Less;
            if (holds) return add_fact(e.args[0], e.args[1], strict);
            return add_fact(e.args[1], e.args[0], !strict);
        }
        case Op::Equal:
            if (holds && pool_[e.args[0]].type.kind == Kind::Int) {
                add_fact(e.args[0], e.args[1], false);
                add_fact(e.args[1], e.args[0], false);
            }
            return;
        default:
            return;
    }
}

bool ExprPrinter::is_inside(ir::TensorId tensor, const std::vector<ExprId>& index) {
    const tensor::Shape& shape = graph_.shapes.at(tensor);
    for (size_t axis = 0; axis < index.size(); ++axis) {
        const loop::StagePool::Range at = range(index[axis]);
        if (at.low < 0 || at.high >= shape[axis]) return false;
    }
    return true;
}

std::string ExprPrinter::inside_text(ir::TensorId tensor, const std::vector<ExprId>& index) {
    const tensor::Shape& shape = graph_.shapes.at(tensor);
    std::vector<std::string> parts;
    for (size_t axis = 0; axis < index.size(); ++axis) {
        const loop::StagePool::Range at = range(index[axis]);
        if (at.low < 0) parts.push_back(fmt::format("({} >= 0)", value(index[axis])));
        if (at.high >= shape[axis]) {
            parts.push_back(fmt::format("({} < {})", value(index[axis]), shape[axis]));
        }
    }
    if (parts.empty()) return {};
    return fmt::format("({})", fmt::join(parts, " && "));
}

bool ExprPrinter::reads_inside(ExprId id) {
    bool inside = true;
    pool_.visit_reads(
        id, [&](ExprId, const Expr& e) { inside &= is_inside(loop::tensor_of(e), e.args); });
    return inside;
}

}  // namespace lemma::emit

// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic_text.cpp — expressions as text, with few parentheses. Expressions share
// parts, so the text can be much longer than the expression; it is cut at kMaxText bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/symbols/infix.h"
#include "ir/symbols/symbolic_impl.h"

namespace lemma::ir {

std::string_view infix_text(SymOp op) {
    switch (op) {
        case SymOp::Add:
            return " + ";
        case SymOp::Sub:
            return " - ";
        case SymOp::Mul:
            return "*";
        case SymOp::Div:
            return "/";
        case SymOp::CeilDiv:
            return " \\ ";
        case SymOp::Mod:
            return " % ";
        case SymOp::Pow:
            return "**";
        case SymOp::Less:
            return " < ";
        case SymOp::LessEqual:
            return " <= ";
        case SymOp::Equal:
            return " == ";
        case SymOp::NotEqual:
            return " != ";
        case SymOp::And:
            return " && ";
        case SymOp::Or:
            return " || ";
        default:
            return " ^ ";
    }
}

namespace {

constexpr size_t kMaxText = 4000;

enum Level { kSelect, kLogic, kCompare, kAdd, kMul, kUnary, kPower, kPrimary };

struct SignedTerm {
    MonoId mono;
    uint64_t size;
    bool negative;
};

Level level_of(SymOp op) {
    switch (op) {
        case SymOp::Add:
        case SymOp::Sub:
            return kAdd;
        case SymOp::Mul:
        case SymOp::Div:
        case SymOp::CeilDiv:
        case SymOp::Mod:
            return kMul;
        case SymOp::Pow:
            return kPower;
        case SymOp::Neg:
        case SymOp::Not:
            return kUnary;
        case SymOp::Less:
        case SymOp::LessEqual:
        case SymOp::Equal:
            return kCompare;
        case SymOp::And:
        case SymOp::Or:
        case SymOp::Xor:
            return kLogic;
        case SymOp::Select:
            return kSelect;
        default:
            return kPrimary;
    }
}

}  // namespace

struct SymbolPool::Impl::Printer {
    Impl& pool;
    std::string out;
    bool cut = false;

    void print(SymId id, Level least) {
        if (out.size() > kMaxText) {
            cut = true;
            return;
        }
        const Node& n = pool.node(id);
        switch (n.kind) {
            case NodeKind::Int:
                return wrapped(n.bits < 0 && least > kAdd, [&] { out += fmt::to_string(n.bits); });
            case NodeKind::Real:
                return wrapped(std::signbit(*pool.as_real(id)) && least > kAdd,
                               [&] { out += real_text(*pool.as_real(id)); });
            case NodeKind::Bool:
                out += n.bits ? "true" : "false";
                return;
            case NodeKind::Str:
                out += quoted_text(pool.names[n.name]);
                return;
            case NodeKind::Symbol:
                out += pool.names[n.name];
                return;
            case NodeKind::Sum: {
                const Terms terms = pool.terms_of(id);
                return wrapped((terms.size() > 1 ? kAdd : kMul) < least,
                               [&] { print_sum(signed_terms(terms)); });
            }
            case NodeKind::Op:
                return print_op(id, n, least);
        }
    }

    template <class Body>
    void wrapped(bool parentheses, Body body) {
        if (parentheses) out += '(';
        body();
        if (parentheses) out += ')';
    }

    // Higher degrees first, the constant last.
    std::vector<SignedTerm> signed_terms(const Terms& terms) const {
        std::vector<SignedTerm> result;
        for (const Term& term : terms) {
            const auto bits = static_cast<uint64_t>(term.coef);
            result.push_back({term.mono, term.coef < 0 ? 0 - bits : bits, term.coef < 0});
        }
        std::ranges::sort(result, [&](const SignedTerm& a, const SignedTerm& b) {
            return pool.before(a.mono, b.mono);
        });
        return result;
    }

    void print_sum(std::vector<SignedTerm> terms) {
        if (terms.empty()) out += '0';
        // `4 - n` instead of `-n + 4`
        if (!terms.empty() && terms[0].negative)
            std::ranges::stable_partition(terms, [](const SignedTerm& t) { return !t.negative; });
        for (size_t i = 0; i < terms.size() && !cut; ++i) {
            if (i > 0) out += terms[i].negative ? " - " : " + ";
            if (i == 0 && terms[i].negative) out += '-';
            print_term(terms[i], i == 0 && terms[i].negative);
        }
    }

    void print_term(const SignedTerm& term, bool after_minus) {
        const auto factors = pool.arranged_factors(term.mono);
        const bool alone = term.size == 1 && factors.size() == 1;
        if (term.size != 1 || factors.empty()) out += fmt::to_string(term.size);
        for (size_t i = 0; i < factors.size(); ++i) {
            if (i > 0 || term.size != 1) out += '*';
            if (factors[i].power > 1) {
                print(factors[i].atom, kPrimary);
                out += fmt::format("**{}", factors[i].power);
            } else {
                print(factors[i].atom, alone && !after_minus ? kMul : kUnary);
            }
        }
    }

    // p <= 0 and p == 0, with every term on the side where it is positive.
    void print_comparison(SymId p, std::string_view forward, std::string_view backward) {
        std::vector<SignedTerm> left, right;
        for (SignedTerm term : signed_terms(pool.terms_of(p))) {
            auto& side = term.negative ? right : left;
            term.negative = false;
            side.push_back(term);
        }
        const auto constant = [](const std::vector<SignedTerm>& side) {
            return side.empty() || side[0].mono == kUnit;
        };
        // `n >= -8` instead of `n + 8 >= 0`
        for (auto* side : {&left, &right}) {
            auto& other = side == &left ? right : left;
            if (other.empty() && side->size() > 1 && side->back().mono == kUnit) {
                other.push_back(side->back());
                other[0].negative = true;
                side->pop_back();
            }
        }
        const bool swap = constant(left) && !constant(right);
        print_sum(swap ? right : left);
        out += swap ? backward : forward;
        print_sum(swap ? left : right);
    }

    void print_op(SymId id, const Node& n, Level least) {
        const auto x = pool.operands(id);
        const bool of_zero = (n.op == SymOp::LessEqual || n.op == SymOp::Equal) && n.count == 1;
        if (of_zero)
            return wrapped(kCompare < least, [&] {
                if (n.op == SymOp::LessEqual)
                    print_comparison(x[0], " <= ", " >= ");
                else
                    print_comparison(x[0], " == ", " == ");
            });
        const bool unequal = n.op == SymOp::Not && pool.is_op(x[0], SymOp::Equal);
        if (unequal && pool.node(x[0]).count == 1)
            return wrapped(kCompare < least,
                           [&] { print_comparison(pool.operand(x[0], 0), " != ", " != "); });
        if (unequal)
            return wrapped(kCompare < least,
                           [&] { print_infix(pool.operands(x[0]), " != ", kCompare); });
        if (n.op == SymOp::Select)
            return wrapped(kSelect < least, [&] {
                print(x[0], kLogic);
                out += " ? ";
                print(x[1], kLogic);
                out += " : ";
                print(x[2], kSelect);
            });
        if (n.op == SymOp::Neg || n.op == SymOp::Not) {
            out += n.op == SymOp::Not ? "!" : "-";
            return print(x[0], kPower);
        }
        const Level level = level_of(n.op);
        if (level == kPrimary) return print_call(n, x);
        wrapped(level < least, [&] { print_infix(x, infix_text(n.op), level); });
    }

    // Operands of the same level get parentheses, except for a polynomial on the left of a division
    // and the left part of a sum or product.
    void print_infix(std::span<const SymId> x, std::string_view op, Level level) {
        for (size_t i = 0; i < x.size() && !cut; ++i) {
            if (i > 0) out += op;
            const bool left = i == 0 && (level == kAdd || pool.is(x[i], NodeKind::Sum));
            print(x[i], left && level < kPower ? level : static_cast<Level>(level + 1));
        }
    }

    void print_call(const Node& n, std::span<const SymId> x) {
        switch (n.op) {
            case SymOp::Min:
                out += "min";
                break;
            case SymOp::Max:
                out += "max";
                break;
            case SymOp::ToInt:
                out += "int";
                break;
            case SymOp::ToReal:
                out += "real";
                break;
            case SymOp::ToBool:
                out += "bool";
                break;
            default:
                out += pool.names[n.name];
        }
        out += '(';
        for (size_t i = 0; i < x.size() && !cut; ++i) {
            if (i > 0) out += ", ";
            print(x[i], kSelect);
        }
        out += ')';
    }
};

std::string SymbolPool::text(SymId id) const {
    Impl::Printer printer{*impl_, {}};
    printer.print(id, kSelect);
    if (!printer.cut) return std::move(printer.out);
    size_t end = std::min(printer.out.size(), kMaxText);
    while (end > 0 && (static_cast<unsigned char>(printer.out[end]) & 0xC0) == 0x80) --end;
    return printer.out.substr(0, end) + "…";
}

std::string real_text(double value) {
    if (std::isnan(value)) return "nan";
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
}

std::string quoted_text(std::string_view text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\n' || c == '\t') {
            result += c == '\n' ? "\\n" : "\\t";
            continue;
        }
        if (c == '\'' || c == '\\' || c == '{' || c == '}') result += '\\';
        result += c;
    }
    return result + "'";
}

}  // namespace lemma::ir

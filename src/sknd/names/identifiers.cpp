// SPDX-License-Identifier: Apache-2.0
#include "sknd/names/identifiers.h"

namespace lemma::sknd {

void append_operands(const Module& module, ExprId expr, std::vector<ExprId>& operands) {
    const auto add = [&](std::initializer_list<ExprId> ids) {
        for (const ExprId id : ids) {
            if (id.valid()) operands.push_back(id);
        }
    };
    const auto add_all = [&](const std::vector<ExprId>& ids) {
        operands.insert(operands.end(), ids.begin(), ids.end());
    };
    match(
        module.exprs[expr].node,
        [](const BadExpr&) {},
        [](const IntLiteral&) {},
        [](const RealLiteral&) {},
        [](const BoolLiteral&) {},
        [](const InfLiteral&) {},
        [](const PiLiteral&) {},
        [](const Identifier&) {},
        [](const Omitted&) {},
        [&](const StringLiteral& s) {
            for (const auto& part : s.parts) add({part.expr});
        },
        [&](const Member& m) { add({m.base}); },
        [&](const Paren& p) { add({p.inner}); },
        [&](const List& l) { add_all(l.items); },
        [&](const Range& r) { add({r.begin, r.end, r.step}); },
        [&](const Expand& e) { add({e.item, e.count}); },
        [&](const Zip& z) { add_all(z.items); },
        [&](const Index& i) { add({i.base, i.index}); },
        [&](const Access& a) {
            add({a.base});
            add_all(a.indices);
        },
        [&](const Guard& g) { add({g.index, g.below, g.above}); },
        [&](const Substitution& s) { add({s.base, s.index, s.value}); },
        [&](const Unary& u) { add({u.operand}); },
        [&](const Binary& b) { add({b.lhs, b.rhs}); },
        [&](const Select& s) { add({s.condition, s.consequent, s.alternative}); },
        [&](const Coalesce& c) { add({c.value, c.fallback}); },
        [&](const NullTest& n) { add({n.operand}); },
        [&](const Fold& f) { add({f.operand}); },
        [&](const Cast& c) { add({c.operand}); },
        [&](const BuiltinCall& b) { add({b.operand}); });
}

}  // namespace lemma::sknd

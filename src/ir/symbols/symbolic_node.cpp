// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic_node.cpp — the structure of expressions, for printers and compilers.
#include "ir/symbols/symbolic_impl.h"

namespace lemma::ir {

SymNode SymbolPool::node(SymId id) const {
    const Node& n = impl_->node(id);
    SymNode view;
    view.type = n.type;
    switch (n.kind) {
        case NodeKind::Int:
        case NodeKind::Real:
        case NodeKind::Bool:
        case NodeKind::Str:
            view.kind = SymKind::Constant;
            break;
        case NodeKind::Symbol:
            view.kind = SymKind::Symbol;
            view.name = impl_->names[n.name];
            break;
        case NodeKind::Sum:
            view.kind = SymKind::Polynomial;
            for (const Term& term : impl_->terms_of(id)) {
                view.terms.push_back({term.coef, {}});
                for (const Factor& factor : impl_->factors(term.mono))
                    view.terms.back().factors.push_back({factor.atom, factor.power});
            }
            break;
        case NodeKind::Op:
            view.kind = SymKind::Operation;
            view.op = n.op;
            view.operands = impl_->copy_operands(id);
            if (n.op == SymOp::Function) view.name = impl_->names[n.name];
            break;
    }
    return view;
}

}  // namespace lemma::ir

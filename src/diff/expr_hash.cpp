// SPDX-License-Identifier: Apache-2.0
#include "diff/expr_hash.h"

#include <algorithm>
#include <bit>

#include "base/match.h"
#include "show/cost.h"

namespace lemma::diff {

namespace {

// a + b and b + a are the same number; more operands are added in order.
bool commutes(const ir::SymNode& node) {
    using ir::SymOp;
    switch (node.op) {
        case SymOp::Add:
            return node.type != ir::ScalarType::Str && node.operands.size() == 2;
        case SymOp::Mul:
            return node.operands.size() == 2;
        case SymOp::Min:
        case SymOp::Max:
        case SymOp::And:
        case SymOp::Or:
        case SymOp::Xor:
        case SymOp::Equal:
        case SymOp::NotEqual:
            return true;
        default:
            return false;
    }
}

Hasher operation_hasher(const ir::SymNode& node) {
    Hasher operation("operation");
    operation.add(static_cast<uint64_t>(node.op)).add(node.name);
    operation.add(static_cast<uint64_t>(node.type)).add(node.operands.size());
    return operation;
}

uint64_t real_bits(double value) { return std::bit_cast<uint64_t>(value); }

}  // namespace

void ExprHasher::begin() {
    known_.clear();
    free_ = 0;
}

void ExprHasher::bind(ir::SymId symbol, Hash hash) { known_[symbol] = hash; }

Hash ExprHasher::hash(ir::SymId id) {
    if (!id.valid()) return Hasher("none").hash();
    if (const auto found = known_.find(id); found != known_.end()) return found->second;
    const Hash made = compute(id);
    known_[id] = made;
    return made;
}

// The depth of expressions is bounded by kMaxSymbolicDepth.
Hash ExprHasher::compute(ir::SymId id) {
    if (const auto number = pool_.as_int(id))
        return Hasher("int").add(static_cast<uint64_t>(*number)).hash();
    if (const auto number = pool_.as_real(id)) return Hasher("real").add(real_bits(*number)).hash();
    if (const auto truth = pool_.as_bool(id)) return Hasher("bool").add(*truth ? 1 : 0).hash();
    if (const auto text = pool_.as_string(id)) return Hasher("str").add(*text).hash();
    const ir::SymNode node = pool_.node(id);
    if (node.kind == ir::SymKind::Symbol) {
        if (parent_ != nullptr) return parent_->hash(id);
        if (const auto found = outer_.find(id); found != outer_.end()) return found->second;
        return Hasher("free").add(free_++).hash();
    }
    if (node.kind == ir::SymKind::Polynomial) {
        HashSum sum;
        for (const ir::SymTerm& term : node.terms) {
            HashSum product;
            for (const ir::SymFactor& factor : term.factors)
                product.add(Hasher("factor").add(hash(factor.atom)).add(factor.power).hash());
            sum.add(Hasher("term")
                        .add(static_cast<uint64_t>(term.coefficient))
                        .add(product.hash())
                        .hash());
        }
        return Hasher("polynomial").add(sum.hash()).hash();
    }
    Hasher operation = operation_hasher(node);
    if (commutes(node)) {
        HashSum operands;
        for (const ir::SymId operand : node.operands) operands.add(hash(operand));
        return operation.add(operands.hash()).hash();
    }
    for (const ir::SymId operand : node.operands) operation.add(hash(operand));
    return operation.hash();
}

Hash ExprHasher::sum(Hash a, Hash b) {
    const ir::SymNode node{.kind = ir::SymKind::Operation,
                           .type = ir::ScalarType::Real,
                           .op = ir::SymOp::Add,
                           .operands = std::vector<ir::SymId>(2)};
    HashSum operands;
    operands.add(a);
    operands.add(b);
    return operation_hasher(node).add(operands.hash()).hash();
}

Hash ExprHasher::hash(const ir::Scalar& scalar) {
    return match(
        scalar,
        [](int64_t number) { return Hasher("int").add(static_cast<uint64_t>(number)).hash(); },
        [](double number) { return Hasher("real").add(real_bits(number)).hash(); },
        [](bool truth) { return Hasher("bool").add(truth ? 1 : 0).hash(); },
        [](const std::string& text) { return Hasher("str").add(text).hash(); },
        [&](ir::SymId id) { return hash(id); });
}

Hash ExprHasher::hash(const ir::Value& value) {
    return match(
        value,
        [](ir::Null) { return Hasher("null").hash(); },
        [&](const ir::Scalar& scalar) { return hash(scalar); },
        [&](const ir::Pack& pack) {
            Hasher hasher("pack");
            for (const ir::Scalar& item : pack.items) hasher.add(hash(item));
            return hasher.hash();
        });
}

namespace {

Hash index_hash(const ir::IndexTerm& term, ExprHasher& expressions) {
    return Hasher("index")
        .add(expressions.hash(term.value))
        .add(static_cast<uint64_t>(term.guard))
        .add(expressions.hash(term.below))
        .add(expressions.hash(term.above))
        .hash();
}

}  // namespace

Hash formula_hash(const ir::Program& program,
                  const ir::Formula& formula,
                  ExprHasher& expressions,
                  const TensorHash& tensors) {
    Hasher hasher("formula");
    hasher.add(static_cast<uint64_t>(formula.op));
    expressions.begin();
    for (size_t i = 0; i < formula.bounds.size(); ++i)
        expressions.bind(formula.bounds[i].index, Hasher("bound").add(i).hash());
    if (formula.counter.valid()) expressions.bind(formula.counter, Hasher("counter").hash());
    for (const ir::Access& access : formula.accesses) {
        Hasher element("element");
        element.add(tensors(access.tensor));
        for (const ir::IndexTerm& term : access.indices) element.add(index_hash(term, expressions));
        for (const ir::SymId extent : program.tensors[access.tensor].shape)
            element.add(expressions.hash(extent));
        expressions.bind(access.symbol, element.hash());
    }
    for (const ir::Bound& bound : formula.bounds) hasher.add(expressions.hash(bound.extent));
    for (const ir::Write& write : formula.writes) {
        hasher.add(tensors(write.tensor));
        for (const ir::IndexTerm& term : write.indices) hasher.add(index_hash(term, expressions));
        hasher.add(expressions.hash(write.value));
    }
    return hasher.add(expressions.hash(formula.condition)).hash();
}

namespace {

class Definition {
public:
    explicit Definition(const ir::Program& program)
        : program_(program), expressions_(program.symbols) {}

    Hash run(ir::OpId id) {
        add(id, true);
        return hasher_.hash();
    }

private:
    Hash number(ir::TensorId id) {
        const auto [found, added] = numbers_.try_emplace(id, numbers_.size());
        Hasher hasher("tensor");
        hasher.add(found->second);
        const ir::Tensor& tensor = program_.tensors[id];
        // A constant inside a definition; those outside are inputs, and compared as weights.
        if (added && tensor.role == ir::TensorRole::Constant)
            for (const ir::Scalar& item : tensor.items) hasher_.add(expressions_.hash(item));
        return hasher.hash();
    }
    void add(const std::vector<ir::Port>& ports, bool first) {
        for (const ir::Port& port : ports) {
            hasher_.add(port.operand.packed ? 1 : 0).add(port.operand.items.size());
            for (const ir::TensorId id : port.operand.items) {
                if (first) numbers_.try_emplace(id, numbers_.size());
                hasher_.add(number(id));
            }
        }
    }
    void add(ir::OpId id, bool outermost) {
        const ir::Operation& op = program_.operations[id];
        add(op.inputs, outermost);
        hasher_.add(static_cast<uint64_t>(op.kind));
        if (op.kind == ir::OperationKind::Intrinsic) {
            hasher_.add(op.op);
            for (const ir::Attribute& attribute : op.attributes)
                hasher_.add(attribute.name).add(expressions_.hash(attribute.value));
        }
        for (const ir::Formula& formula : op.formulas) {
            hasher_.add(formula_hash(
                program_, formula, expressions_, [&](ir::TensorId t) { return number(t); }));
        }
        for (const ir::OpId part : op.parts) add(part, false);
        // The bodies of an outermost loop are nodes of their own.
        if (!outermost) add_control(op);
        add(op.outputs, false);
    }
    void add_control(const ir::Operation& op) {
        for (const show::Body& body : show::bodies(op)) {
            hasher_.add(std::string_view(body.role));
            for (const ir::OpId id : program_.graphs[body.graph].operations) add(id, false);
            add(program_.graphs[body.graph].outputs, false);
        }
    }

    const ir::Program& program_;
    ExprHasher expressions_;
    Hasher hasher_{"definition"};
    std::unordered_map<ir::TensorId, uint64_t, IdHash> numbers_;
};

}  // namespace

Hash definition_hash(const ir::Program& program, ir::OpId op) {
    return Definition(program).run(op);
}

}  // namespace lemma::diff

// SPDX-License-Identifier: Apache-2.0
// emit/certified/expression.h — expressions of stages as C text, and as ACSL terms that mean the
// same. Real arithmetic and 64-bit arithmetic call named functions; arithmetic of indices is plain.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "loop/passes/graph.h"

namespace lemma::emit {

enum class Dialect : uint8_t { C, Acsl };

using TensorNames = std::unordered_map<ir::TensorId, std::string, IdHash>;

// A value that is computed once, because it occurs several times.
struct Shared {
    std::string name;
    std::string type;  // in C
    std::string text;
};

class ExprPrinter {
public:
    ExprPrinter(const loop::StageGraph& graph, const TensorNames& tensors, Dialect dialect)
        : graph_(graph), pool_(graph.pool), tensors_(tensors), dialect_(dialect) {}

    void name_var(loop::VarId var, std::string name) { vars_[var] = std::move(name); }

    // Finds the parts that the expressions share, and names them, each after its parts. `first` are
    // computed before `then`. Returns how many parts belong to `first`.
    size_t share(const std::vector<loop::ExprId>& first, const std::vector<loop::ExprId>& then);
    const std::vector<Shared>& shared() const { return shared_; }
    // `\let v0 = …; ` for each of them; of ACSL.
    std::string lets() const;
    // Whether the text of the expressions would be absurdly long, even with shared parts.
    bool too_long() const { return size_ > kMostParts; }

    // The value in the type of its kind; a bool is a condition.
    std::string value(loop::ExprId id);
    // The element of a tensor, without conversion.
    std::string element(ir::TensorId tensor, const std::vector<loop::ExprId>& index);
    std::string element_index(loop::ExprId index) { return indices({index}); }
    // The value as it is stored in an element of the type.
    std::string stored(loop::ExprId id, tensor::DType dtype);
    std::string stored(const std::string& value, loop::Kind kind, tensor::DType dtype) const;
    // Whether the value is an int in plain arithmetic, which fits 32 bits.
    bool is_plain(loop::ExprId id);
    // Whether an access is inside of the tensor, by the ranges of the index alone.
    bool is_inside(ir::TensorId tensor, const std::vector<loop::ExprId>& index);
    // Whether every read of the value is inside, or in a branch that is taken only then.
    bool reads_inside(loop::ExprId id);
    // The condition that an access is inside; empty if it always is.
    std::string inside_text(ir::TensorId tensor, const std::vector<loop::ExprId>& index);

    // Takes the condition as true or false, until the mark is forgotten.
    size_t assume(loop::ExprId condition, bool holds) {
        const size_t mark = facts_.size();
        add_facts(condition, holds);
        return mark;
    }
    void forget(size_t mark) { facts_.resize(mark); }

    // `name(a, b)`; in ACSL `name_of(a, b)`.
    std::string call(const std::string& name, const std::vector<std::string>& arguments) const;
    std::string real_constant(double value, loop::Kind kind) const;

private:
    static constexpr size_t kMostParts = 20'000;

    // low <= expression < high, wherever the condition holds.
    struct Fact {
        loop::Address affine;
        int64_t low, high;
    };
    std::string compute(loop::ExprId id);
    std::string operation(const loop::Expr& e);
    std::string plain(const loop::Expr& e);
    std::string comparison(const loop::Expr& e);
    std::string cast(const loop::Expr& e);
    std::string read(const loop::Expr& e);
    std::string select(const loop::Expr& e);
    std::string literal(const loop::Expr& e) const;
    std::string indices(const std::vector<loop::ExprId>& index);
    std::string divided(const loop::Expr& e);
    void add_facts(loop::ExprId condition, bool holds);
    void add_fact(loop::ExprId less, loop::ExprId more, bool strict);
    loop::StagePool::Range range(loop::ExprId id);
    void count(loop::ExprId id);
    void name_shared(size_t begin, size_t end);
    std::string type_of(loop::ExprId id);

    const loop::StageGraph& graph_;
    const loop::StagePool& pool_;
    const TensorNames& tensors_;
    Dialect dialect_;
    std::unordered_map<loop::VarId, std::string, IdHash> vars_;
    std::unordered_map<loop::ExprId, std::string, IdHash> names_;  // of shared parts
    std::unordered_map<loop::ExprId, bool, IdHash> plain_;
    std::unordered_map<loop::ExprId, int, IdHash> uses_;
    std::vector<loop::ExprId> order_;                         // each after its parts
    std::unordered_map<loop::ExprId, size_t, IdHash> sizes_;  // in parts
    std::vector<Shared> shared_;
    std::vector<Fact> facts_;
    size_t size_ = 0;
};

}  // namespace lemma::emit

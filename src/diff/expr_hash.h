// SPDX-License-Identifier: Apache-2.0
// diff/expr_hash.h — hashes of expressions and formulas that do not depend on the names of indices
// and tensors, nor on the numbers of nodes in the pool.
#pragma once

#include <functional>
#include <unordered_map>

#include "diff/hash.h"
#include "ir/program/program.h"

namespace lemma::diff {

class ExprHasher {
public:
    explicit ExprHasher(const ir::SymbolPool& pool) : pool_(pool) {}
    // Symbols that are not bound here are those of the parent.
    explicit ExprHasher(ExprHasher* parent) : pool_(parent->pool_), parent_(parent) {}

    // Symbols outside of formulas, such as the extents of inputs. Others are numbered in the order
    // of their appearance after `begin`.
    void bind_outer(ir::SymId symbol, Hash hash) { outer_[symbol] = hash; }
    void begin();
    void bind(ir::SymId symbol, Hash hash);
    Hash hash(ir::SymId id);  // a missing id has a hash, too
    // Whether a symbol was numbered since `begin`: its hash means something in this formula only.
    bool saw_free() const { return parent_ != nullptr ? parent_->saw_free() : free_ > 0; }
    // Of the sum of two reals.
    static Hash sum(Hash a, Hash b);
    Hash hash(const ir::Value& value);
    Hash hash(const ir::Scalar& scalar);

private:
    Hash compute(ir::SymId id);

    const ir::SymbolPool& pool_;
    ExprHasher* parent_ = nullptr;
    std::unordered_map<ir::SymId, Hash, IdHash> outer_;
    std::unordered_map<ir::SymId, Hash, IdHash> known_;
    uint64_t free_ = 0;
};

// What a formula reads and writes: the hash of a tensor, for accesses and stores.
using TensorHash = std::function<Hash(ir::TensorId)>;

Hash formula_hash(const ir::Program& program,
                  const ir::Formula& formula,
                  ExprHasher& expressions,
                  const TensorHash& tensors);

// The formulas of an operation, with those of its parts and bodies. Tensors count by the order of
// their appearance.
Hash definition_hash(const ir::Program& program, ir::OpId op);

}  // namespace lemma::diff

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ir/symbols/symbolic.h"

namespace lemma::ir {
namespace {

// Constants, symbols of all types, polynomials and operations.
struct Pool {
    SymbolPool pool;
    SymId n = pool.symbol("n", ScalarType::Int, {0, 100});
    SymId m = pool.symbol("m", ScalarType::Int);
    SymId other_n = pool.symbol("n", ScalarType::Int, {2, 3});
    SymId r = pool.symbol("r", ScalarType::Real);

    SymId of(SymOp op, SymId lhs, SymId rhs) { return pool.apply(op, lhs, rhs).value(); }
    SymId sum() {
        const SymId square = of(SymOp::Mul, n, of(SymOp::Mul, n, m));
        return of(SymOp::Add, of(SymOp::Mul, square, pool.integer(-3)), pool.integer(7));
    }
    SymId choice() {
        const SymId less = of(SymOp::Less, of(SymOp::Mod, n, pool.integer(5)), sum());
        return pool.select(less, of(SymOp::Mul, r, pool.real(0.1)), pool.real(-0.0)).value();
    }
    SymId name() { return of(SymOp::Add, pool.string("a "), pool.string("name")); }
};

TEST(StoredSymbols, HaveTheSameIds) {
    Pool made;
    const SymId sum = made.sum();
    const SymId choice = made.choice();
    const SymId name = made.name();
    auto read = SymbolPool::from_bytes(made.pool.bytes());
    ASSERT_TRUE(read);
    ASSERT_EQ(read->size(), made.pool.size());
    for (size_t i = 0; i < read->size(); ++i) {
        const auto id = make_id<SymId>(i);
        EXPECT_EQ(read->text(id), made.pool.text(id));
        EXPECT_EQ(read->type(id), made.pool.type(id));
        if (made.pool.type(id) != ScalarType::Int) continue;
        EXPECT_EQ(read->range(id), made.pool.range(id));
    }
    EXPECT_EQ(read->bytes(), made.pool.bytes());

    // What is built again is found, except for symbols: each one is new.
    const size_t before = read->size();
    Pool again{
        .pool = std::move(*read), .n = made.n, .m = made.m, .other_n = made.other_n, .r = made.r};
    EXPECT_EQ(again.sum(), sum);
    EXPECT_EQ(again.choice(), choice);
    EXPECT_EQ(again.name(), name);
    EXPECT_EQ(again.pool.size(), before);
    EXPECT_NE(again.pool.symbol("n", ScalarType::Int), made.n);
    EXPECT_NE(again.of(SymOp::Sub, made.n, made.other_n), again.pool.integer(0));
}

TEST(StoredSymbols, AreCheckedForIdsThatDoNotExist) {
    Pool made;
    made.choice();
    made.sum();
    const std::string bytes = made.pool.bytes();
    for (size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(SymbolPool::from_bytes(bytes.substr(0, size))) << size;
    }
    EXPECT_FALSE(SymbolPool::from_bytes(bytes + '\0'));
    // Other bytes are no pool, or one whose parts exist.
    size_t refused = 0;
    for (size_t at = 0; at < bytes.size(); ++at) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ 0x41);
        const auto pool = SymbolPool::from_bytes(changed);
        refused += !pool;
        for (size_t i = 0; pool && i < pool->size(); ++i) (void)pool->node(make_id<SymId>(i));
    }
    EXPECT_GT(refused, bytes.size() / 8);
}

}  // namespace
}  // namespace lemma::ir

// SPDX-License-Identifier: Apache-2.0
#include "show/amount.h"

#include <gtest/gtest.h>

#include "show/columns.h"

namespace lemma::show {

namespace {

TEST(Amount, BoundsSpread) {
    const Amount exact{.value = 3}, most{.value = 4, .at_most = true};
    EXPECT_EQ(exact + most, (Amount{.value = 7, .at_most = true}));
    EXPECT_EQ(exact * most, (Amount{.value = 12, .at_most = true}));
    EXPECT_EQ(larger(exact, most), (Amount{.value = 4, .at_most = true}));
    EXPECT_EQ(Amount{} * most, Amount{}) << "nothing, however often, is nothing";
}

TEST(Amount, OverflowIsALowerBound) {
    const Amount huge{.value = INT64_MAX / 2 + 1};
    EXPECT_EQ(huge + huge, (Amount{.value = INT64_MAX, .at_most = false, .at_least = true}));
    EXPECT_EQ(huge * huge, (Amount{.value = INT64_MAX, .at_most = false, .at_least = true}));
}

TEST(Amount, ReadsSymbolicExtentsAtTheirBounds) {
    ir::SymbolPool symbols;
    const ir::SymId bounded = symbols.symbol("n", ir::ScalarType::Int, {0, 16});
    const ir::SymId open = symbols.symbol("m", ir::ScalarType::Int, {0, INT64_MAX});
    EXPECT_EQ(amount_of(symbols, symbols.integer(7)), Amount{.value = 7});
    EXPECT_EQ(amount_of(symbols, bounded), (Amount{.value = 16, .at_most = true}));
    EXPECT_EQ(amount_of(symbols, open), (Amount{.value = 1, .at_most = false, .at_least = true}));
}

TEST(Amount, TextGroupsDigitsAndScalesBytes) {
    EXPECT_EQ(count_text({}), "-");
    EXPECT_EQ(count_text({.value = 999}), "999");
    EXPECT_EQ(count_text({.value = 1'234'567, .at_most = true}), "≤1,234,567");
    EXPECT_EQ(bytes_text({.value = 1023}), "1023 B");
    EXPECT_EQ(bytes_text({.value = 1536}), "1.5 KiB");
    EXPECT_EQ(bytes_text({.value = (int64_t{1} << 20) - 1}), "1.0 MiB");
    EXPECT_EQ(bytes_text({.value = 1, .at_most = false, .at_least = true}), "≥1 B");
}

TEST(Columns, AreAsWideAsTheirContent) {
    Columns columns({Align::Left, Align::Right});
    columns.add({"a", "1"});
    columns.add_rule();
    columns.add({"≤bb", "22"});
    columns.add({"c"});
    EXPECT_EQ(columns.text(), "a     1\n───────\n≤bb  22\nc\n");
}

}  // namespace

}  // namespace lemma::show

// SPDX-License-Identifier: Apache-2.0
#include "emit/certified/arithmetic.h"

#include <gtest/gtest.h>

namespace lemma::emit {
namespace {

using Names = std::set<std::string>;

TEST(Arithmetic, NamesAreFoundInCodeAndContracts) {
    EXPECT_EQ(used_arithmetic("t_y[i] = sx_float(sx_add(a, b));"), (Names{"sx_float", "sx_add"}));
    EXPECT_EQ(used_arithmetic("ensures y == sx_mulf_of(a, sx_inf_of);"),
              (Names{"sx_mulf", "sx_inf"}));
}

TEST(Arithmetic, PartsOfOtherNamesAreNotFound) {
    EXPECT_EQ(used_arithmetic("t_sx_add[0] = xsx_mul + sx_unknown + sx_;"), Names{});
}

TEST(Arithmetic, HeaderDeclaresWhatIsUsedAlone) {
    const std::string header = arithmetic_header({"sx_divi"});
    EXPECT_NE(header.find("int64_t sx_divi(int64_t a, int64_t b);"), std::string::npos);
    EXPECT_NE(header.find("logic integer sx_divi_of(integer a, integer b);"), std::string::npos);
    EXPECT_EQ(header.find("sx_wrap"), std::string::npos);
}

TEST(Arithmetic, SourceHasHelpersBeforeTheirUse) {
    const std::string source = arithmetic_source({"sx_divi"});
    const size_t wrap = source.find("static int64_t sx_wrap(uint64_t a)");
    const size_t negation = source.find("static int64_t sx_negi(int64_t a)");
    const size_t division = source.find("\nint64_t sx_divi(int64_t a, int64_t b)");
    ASSERT_NE(division, std::string::npos);
    EXPECT_LT(wrap, negation);
    EXPECT_LT(negation, division);
}

TEST(Arithmetic, HelpersThatAreUsedThemselvesAreVisible) {
    const std::string source = arithmetic_source({"sx_negi", "sx_divi"});
    EXPECT_EQ(source.find("static int64_t sx_negi"), std::string::npos);
}

TEST(Arithmetic, EachFunctionIsDefinedOnce) {
    const std::string source = arithmetic_source({"sx_powi"});
    const size_t first = source.find("int64_t sx_powi(int64_t a, int64_t b)");
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(source.find("int64_t sx_powi", first + 1), std::string::npos);
}

TEST(Arithmetic, NothingIsDeclaredForAModelWithoutArithmetic) {
    EXPECT_EQ(arithmetic_header({}).find("axiomatic"), std::string::npos);
    EXPECT_EQ(arithmetic_source({}).find("sx_"), std::string::npos);
}

}  // namespace
}  // namespace lemma::emit

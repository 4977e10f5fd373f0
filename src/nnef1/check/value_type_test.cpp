// SPDX-License-Identifier: Apache-2.0
#include "nnef1/check/value_type.h"

#include <gtest/gtest.h>

namespace lemma::nnef1 {

namespace {

const ValueType kInteger = ValueType::primitive(TypeName::Integer);
const ValueType kScalar = ValueType::primitive(TypeName::Scalar);
const ValueType kLogical = ValueType::primitive(TypeName::Logical);
const ValueType kTensor = ValueType::tensor(TypeName::Scalar);
const ValueType kUnbound = ValueType::tensor(std::nullopt);

bool casts(const ValueType& from, const ValueType& to) {
    return can_cast(from, to, Dialect::Strict);
}

TEST(ValueType, IsWrittenAsInTheSyntax) {
    EXPECT_EQ(text(kInteger), "integer");
    EXPECT_EQ(text(kTensor), "tensor<scalar>");
    EXPECT_EQ(text(kUnbound), "tensor<>");
    EXPECT_EQ(text(ValueType::array(ValueType::tuple({kInteger, kScalar}))), "(integer, scalar)[]");
    EXPECT_EQ(text(ValueType::empty_array()), "[]");
}

TEST(ValueType, CastsPrimitivesToTensorsOfTheirType) {
    EXPECT_TRUE(casts(kScalar, kTensor));
    EXPECT_TRUE(casts(kScalar, kUnbound));
    EXPECT_FALSE(casts(kInteger, kTensor));
    EXPECT_FALSE(casts(kLogical, kTensor));
    EXPECT_FALSE(casts(kTensor, kScalar));
}

TEST(ValueType, CastsNoPrimitiveToAnother) {
    EXPECT_FALSE(casts(kInteger, kScalar));
    EXPECT_FALSE(casts(kScalar, kInteger));
    EXPECT_FALSE(casts(kLogical, kInteger));
    EXPECT_TRUE(can_cast(kInteger, kScalar, Dialect::Tract));
    EXPECT_TRUE(can_cast(kInteger, kTensor, Dialect::Tract));
    EXPECT_FALSE(can_cast(kScalar, kInteger, Dialect::Tract));
    // Arrays of numbers are tensors, and attributes may be tensors; but a tensor is not a list of
    // tensors.
    EXPECT_TRUE(can_cast(ValueType::array(kInteger), kTensor, Dialect::Tract));
    EXPECT_TRUE(can_cast(kTensor, kInteger, Dialect::Tract));
    EXPECT_FALSE(can_cast(kTensor, ValueType::array(kTensor), Dialect::Tract));
    EXPECT_FALSE(can_cast(ValueType::array(kInteger), kTensor, Dialect::Strict));
}

TEST(ValueType, CastsTensorsToUnboundOnes) {
    EXPECT_TRUE(casts(kTensor, kUnbound));
    EXPECT_FALSE(casts(kUnbound, kTensor));
    EXPECT_FALSE(casts(kTensor, ValueType::tensor(TypeName::Logical)));
}

TEST(ValueType, CastsArraysAndTuplesByItem) {
    EXPECT_TRUE(casts(ValueType::array(kScalar), ValueType::array(kTensor)));
    EXPECT_FALSE(casts(ValueType::array(kInteger), ValueType::array(kTensor)));
    EXPECT_TRUE(casts(ValueType::empty_array(), ValueType::array(kInteger)));
    EXPECT_FALSE(casts(ValueType::array(kInteger), ValueType::empty_array()));
    EXPECT_FALSE(casts(ValueType::empty_array(), kInteger));
    EXPECT_TRUE(casts(ValueType::tuple({kScalar, kTensor}), ValueType::tuple({kTensor, kTensor})));
    EXPECT_FALSE(casts(ValueType::tuple({kScalar}), ValueType::tuple({kScalar, kScalar})));
    EXPECT_FALSE(casts(ValueType::tuple({kScalar, kScalar}), ValueType::array(kScalar)));
}

TEST(ValueType, HasTheWiderTypeInCommon) {
    EXPECT_EQ(common_type(kScalar, kTensor, Dialect::Strict), kTensor);
    EXPECT_EQ(common_type(kTensor, kScalar, Dialect::Strict), kTensor);
    EXPECT_EQ(common_type(kInteger, kScalar, Dialect::Strict), std::nullopt);
    EXPECT_EQ(common_type(ValueType{}, kInteger, Dialect::Strict), kInteger);
}

TEST(ValueType, BindsGenericTypesAtAllDepths) {
    const ValueType generic = ValueType::array(ValueType::tensor(TypeName::Generic));
    EXPECT_TRUE(has_generic(generic));
    EXPECT_EQ(bind(generic, TypeName::Scalar), ValueType::array(kTensor));
    EXPECT_FALSE(has_generic(bind(generic, TypeName::Scalar)));
}

}  // namespace

}  // namespace lemma::nnef1

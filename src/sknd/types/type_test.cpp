// SPDX-License-Identifier: Apache-2.0
#include "sknd/types/type.h"

#include <gtest/gtest.h>

namespace lemma::sknd {

namespace {

Type generic_type(uint16_t index) {
    Type type = scalar_type(BaseType::Generic);
    type.generic = index;
    return type;
}

const std::vector<GenericType> kGenerics = {{.name = "T", .bound = Bound::Num},
                                            {.name = "S", .bound = Bound::Type}};

TEST(Type, IsBadUntilSomethingIsKnown) {
    EXPECT_TRUE(Type{}.bad());
    EXPECT_FALSE(scalar_type(BaseType::Int).bad());
    EXPECT_FALSE(pack_type(BaseType::Any, {}).bad());
}

TEST(Type, SameBaseComparesConcreteTypes) {
    EXPECT_TRUE(same_base(scalar_type(BaseType::Int), scalar_type(BaseType::Int)));
    EXPECT_FALSE(same_base(scalar_type(BaseType::Int), scalar_type(BaseType::Real)));
    EXPECT_FALSE(same_base(scalar_type(BaseType::Bool), scalar_type(BaseType::Str)));
}

TEST(Type, SameBaseLooksAtTheBaseAlone) {
    Type pack = pack_type(BaseType::Int, {});
    pack.optional = pack.tensor = true;
    EXPECT_TRUE(same_base(pack, scalar_type(BaseType::Int)));
}

TEST(Type, BadAndAnyAgreeWithEverything) {
    for (const BaseType wild : {BaseType::Bad, BaseType::Any}) {
        for (const BaseType other :
             {BaseType::Int, BaseType::Real, BaseType::Bool, BaseType::Str}) {
            EXPECT_TRUE(same_base(scalar_type(wild), scalar_type(other)));
            EXPECT_TRUE(same_base(scalar_type(other), scalar_type(wild)));
        }
        EXPECT_TRUE(same_base(scalar_type(wild), generic_type(0)));
    }
}

TEST(Type, GenericTypesAreTheSameByName) {
    EXPECT_TRUE(same_base(generic_type(0), generic_type(0)));
    EXPECT_FALSE(same_base(generic_type(0), generic_type(1)));
    EXPECT_FALSE(same_base(generic_type(0), scalar_type(BaseType::Int)));
}

TEST(Type, RefiningKeepsTheOneThatSaysMore) {
    Type list = scalar_type(BaseType::Any);
    refine_base(list, scalar_type(BaseType::Real));
    EXPECT_EQ(list.base, BaseType::Real);
    refine_base(list, scalar_type(BaseType::Any));
    EXPECT_EQ(list.base, BaseType::Real);

    Type generic = scalar_type(BaseType::Any);
    refine_base(generic, generic_type(1));
    EXPECT_EQ(generic.base, BaseType::Generic);
    EXPECT_EQ(generic.generic, 1);
}

TEST(Type, RefiningABadTypeKeepsItBad) {
    Type bad;
    refine_base(bad, scalar_type(BaseType::Int));
    EXPECT_TRUE(bad.bad());
}

TEST(Type, TextHasTheModifiersInOrder) {
    EXPECT_EQ(type_text(scalar_type(BaseType::Int), {}), "int");
    EXPECT_EQ(type_text(pack_type(BaseType::Str, {}), {}), "str..");
    EXPECT_EQ(type_text(generic_type(1), kGenerics), "S");
    Type tensor = scalar_type(BaseType::Real);
    tensor.tensor = true;
    EXPECT_EQ(type_text(tensor, {}), "real tensor");
    tensor.packed = tensor.optional = true;
    EXPECT_EQ(type_text(tensor, {}), "optional real tensor pack");
    EXPECT_EQ(base_text(tensor, {}), "real");
    EXPECT_EQ(type_text(pack_type(BaseType::Any, {}), {}), "[]..");
}

TEST(Type, TextOfAnUnknownGenericTypeIsNoCrash) {
    EXPECT_EQ(type_text(generic_type(7), kGenerics), "?");
    EXPECT_EQ(type_text(Type{}, kGenerics), "?");
}

TEST(Type, KnowsTheNamesOfTypes) {
    EXPECT_EQ(concrete_type("int"), BaseType::Int);
    EXPECT_EQ(concrete_type("real"), BaseType::Real);
    EXPECT_EQ(concrete_type("bool"), BaseType::Bool);
    EXPECT_EQ(concrete_type("str"), BaseType::Str);
    EXPECT_EQ(concrete_type("num"), BaseType::Bad);
    EXPECT_EQ(concrete_type(""), BaseType::Bad);
    for (const std::string_view name : {"type", "arith", "num"}) {
        EXPECT_TRUE(is_abstract(name));
        EXPECT_EQ(bound_text(abstract_bound(name)), name);
    }
    EXPECT_FALSE(is_abstract("int"));
    EXPECT_FALSE(is_abstract(""));
}

TEST(Type, BoundsAllowWhatTheTextLists) {
    for (const BaseType base : {BaseType::Int, BaseType::Real, BaseType::Bool, BaseType::Str}) {
        EXPECT_TRUE(satisfies(base, Bound::Type));
        EXPECT_EQ(satisfies(base, Bound::Arith), base != BaseType::Str);
        EXPECT_EQ(satisfies(base, Bound::Num), base == BaseType::Int || base == BaseType::Real);
    }
    EXPECT_TRUE(satisfies(BaseType::Bad, Bound::Num));
    EXPECT_TRUE(satisfies(BaseType::Any, Bound::Num));
}

TEST(Type, AGenericTypeSatisfiesTheBoundsAboveItsOwn) {
    EXPECT_TRUE(satisfies(Bound::Num, Bound::Num));
    EXPECT_TRUE(satisfies(Bound::Num, Bound::Arith));
    EXPECT_TRUE(satisfies(Bound::Arith, Bound::Type));
    EXPECT_FALSE(satisfies(Bound::Arith, Bound::Num));
    EXPECT_FALSE(satisfies(Bound::Type, Bound::Arith));
}

}  // namespace

}  // namespace lemma::sknd

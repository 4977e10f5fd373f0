// SPDX-License-Identifier: Apache-2.0
// sknd/types/type.h — the type of an expression or declaration: a base type with the modifiers of
// spec 2.3 (packed, optional, tensor), and the known pack length and rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/symbols/symbolic.h"

namespace lemma::sknd {

enum class BaseType : uint8_t {
    Bad,  // already reported; agrees with everything
    Int,
    Real,
    Bool,
    Str,
    Any,      // the item type of `[]`; agrees with everything
    Generic,  // a name of @dtype
};

// The bound of a generic type: `type` > `arith` > `num`.
enum class Bound : uint8_t { Type, Arith, Num };

struct Type {
    BaseType base = BaseType::Bad;
    uint16_t generic = 0;  // index into the definition's @dtype block, if base is Generic
    bool optional = false;
    bool never_null = false;  // declared optional, but never null: `??` has no effect
    bool packed = false;
    bool tensor = false;
    ir::SymId length;  // length of a pack; invalid if not known symbolically
    ir::SymId rank;    // rank of a tensor; invalid if not known symbolically

    bool bad() const { return base == BaseType::Bad; }
};

inline Type scalar_type(BaseType base) {
    Type type;
    type.base = base;
    return type;
}
inline Type pack_type(BaseType base, ir::SymId length) {
    Type type = scalar_type(base);
    type.packed = true;
    type.length = length;
    return type;
}

struct GenericType {
    std::string_view name;  // a view into the syntax tree
    Bound bound{};
    BaseType fallback = BaseType::Bad;  // Bad: none
    bool bad = false;                   // its base or default is no type, and reported
};

// Whether values of the two types can meet: the same base, or one is Bad or Any.
bool same_base(const Type& a, const Type& b);
// The more specific base of two that agree.
void refine_base(Type& type, const Type& other);

// "int", "T", "optional real.. tensor": the name of a type in messages.
std::string type_text(const Type& type, const std::vector<GenericType>& generics);
std::string base_text(const Type& type, const std::vector<GenericType>& generics);
std::string_view bound_text(Bound bound);

// The concrete type of a keyword such as `int`; Bad for any other name.
BaseType concrete_type(std::string_view name);
// `type`, `arith` or `num`.
bool is_abstract(std::string_view name);
Bound abstract_bound(std::string_view name);
// Whether a concrete base type, or a generic one of bound `of`, satisfies the bound.
bool satisfies(BaseType base, Bound bound);
bool satisfies(Bound of, Bound bound);

}  // namespace lemma::sknd

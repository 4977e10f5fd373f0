// nnef1/check/literals.h — values as literals of NNEF 1.0 text, and names as identifiers.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/unique_names.h"
#include "ir/program/program.h"
#include "nnef1/check/value_type.h"

namespace lemma::nnef1 {

// The type of tensors of this dtype: `scalar` is f32 and `integer` i64, others have none.
std::optional<TypeName> type_of(ir::DType dtype);

std::string string_text(std::string_view text);
// Empty where there is no such literal: numbers that are not finite, values that only a run tells,
// and values of another type. `?` takes what there is.
std::optional<std::string> scalar_text(const ir::SymbolPool& symbols,
                                       const ir::Scalar& scalar,
                                       TypeName type);
// A value of an attribute for a parameter: pairs are taken out of one pack, and an array is also
// what a value that may be missing goes to.
std::optional<std::string> value_text(const ir::SymbolPool& symbols,
                                      const ir::Value& value,
                                      const ValueType& type);
// A default value in the same form.
std::string literal_text(const Nodes& nodes, ExprId id);

class Identifiers {
public:
    // A new identifier that reads like the name: `first.w#2` becomes `first_w_2`.
    std::string make(std::string_view name);

private:
    UniqueNames used_;
};

// Labels are compared without regard to case.
class Labels {
public:
    std::string make(std::string_view name);

private:
    std::set<std::string, std::less<>> used_;  // in lower case
    std::map<std::string, size_t> next_;       // the number to try, by the name without one
};

}  // namespace lemma::nnef1

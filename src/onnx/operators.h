// onnx/operators.h — the one table of ONNX operators. What an operator computes is its definition
// in stdlib/onnx; a row has every other fact that import, export and the profile need about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "onnx/model.h"

namespace lemma::onnx {

using tensor::DType;

enum class Domain : uint8_t { Default, Ml, Preview, Training, Microsoft };
// As the format spells it; empty for the default domain.
std::string_view domain_name(Domain domain);

// Where the meaning of an operator is.
enum class Meaning : uint8_t {
    Definition,  // the operator of that name in stdlib/onnx
    Alias,       // a `Call` of another operator's definition
    Control,     // import/control.cpp
    Sequence,    // import/sequences.cpp
    Optimizer,   // import/optimizers.cpp
    Value,       // import/nodes.cpp: constants and shapes
    None,        // nowhere; models with it are refused
};

// ---- Inputs and types ---------------------------------------------------------------------------

// An input that decides a shape. It becomes an attribute of the call.
enum class SteerAs : uint8_t {
    One,        // a number; exporters write a scalar
    ListOfOne,  // the same; exporters write a list
    List,
};
struct Steering {
    size_t input;
    std::string_view attribute;
    SteerAs as = SteerAs::List;
    // An empty list counts as one that is left out.
    bool empty_is_missing = false;
    DType type = DType::I64;  // in which exporters write integers
    int64_t since = 1;        // before this opset it is an attribute in ONNX, too
};

// Inputs that are packs of the definition: which one is the first, and how many packs take turns
// from there on.
struct Variadic {
    size_t first = 0;
    size_t packs = 1;
};

// A type of the definition that the types of the inputs do not decide.
struct ResultType {
    std::string_view attribute;        // holds the code of the type; may be empty
    std::optional<size_t> from_input;  // whose type it is without that attribute
    DType usual = DType::F32;          // without either
    int64_t since = 1;                 // the opset that brought the attribute
};

// ---- Attributes ---------------------------------------------------------------------------------

// Defaults that follow from the shapes around the node.
enum class Computed : uint8_t {
    KernelShape,   // that of the weights
    Ones,          // one for each spatial axis
    Zeros,         // the same with zero
    PairsOfZeros,  // two for each spatial axis
    Reversed,      // the axes of the input from the last to the first
    ZeroTensor,    // a float tensor, which is left to the user to write
};
// Empty: without the attribute the node means something that no value says.
using Default = std::variant<std::monostate, int64_t, float, std::string_view, Computed>;

// An attribute with its default. Exporters leave it out where it has its default and came after
// the oldest opset that they write.
struct AttributeDefault {
    std::string_view name;
    Default value;
    int64_t since = 1;     // the opset that brought it
    int64_t until = 1000;  // the last one where this is the default
};

// ---- Other forms of calls -----------------------------------------------------------------------

// What import changes in a call to bring it to the form of the definition. `below`: in opsets
// before this one alone.
inline constexpr int64_t kAnyOpset = INT64_MAX;

// The call is one of another definition: of a newer operator, or of an older form of this one,
// such as `Softmax_12`.
struct Call {
    std::string_view op;
    int64_t below = kAnyOpset;
};
// The same, where a model asks for this output.
struct CallForOutput {
    std::string_view op;
    size_t output;
};
// An attribute that means nothing here.
struct Drop {
    std::string_view attribute;
    int64_t below = kAnyOpset;
};
// The default was another one, or there was no attribute yet.
struct Preset {
    std::string_view attribute;
    Default value;
    int64_t below;
};
struct Rename {
    std::string_view attribute, to;
    int64_t below;
};
// A value of an attribute was spelled `from`. Exporters write it so for older opsets.
struct Respell {
    std::string_view attribute, from, to;
    int64_t below;
};
// A real that became an integer.
struct MakeInteger {
    std::string_view attribute;
    int64_t below;
};
// An attribute, a number of the type of the first input, that became an input.
struct ToInput {
    std::string_view attribute;
    size_t input;
    int64_t below;
};
// An input that did not exist yet; others stood in its place.
struct SkipInput {
    size_t input;
    int64_t below;
};
// Where an input has this rank, its last axis has one item and is dropped: a list of one is a
// number. With a step, the same holds for every such input from there on.
struct DropLastAxis {
    size_t input;
    size_t rank = 1;
    size_t step = 0;
};
// An input without elements is as good as none.
struct EmptyIsMissing {
    size_t input;
};
// An input that the definition does not have. Models that give it are refused. Rows have the last
// of these inputs first, for those behind it move up.
struct RefuseInput {
    size_t input;
    std::string_view what;  // "the input `g_idx`"
};
// Calls of these opsets are refused.
struct Refuse {
    int64_t below;
};
// The second operand was aligned with the axis `axis` of the first, not with its end.
struct AlignByAxis {
    int64_t below;
};
// Packs have tensors of one shape. Where shapes differ, tensors are taken two by two by `op`.
struct TwoByTwo {
    std::string_view op;
};
// The attributes `lowest` and `highest` are the limits of the type of an input, if it is integer.
struct LimitsOf {
    size_t input;
};
// Integers are computed in reals and rounded towards zero: the first `count` inputs.
struct ComputeInReals {
    size_t count;
};
using Change = std::variant<Call,
                            CallForOutput,
                            Drop,
                            Preset,
                            Rename,
                            Respell,
                            MakeInteger,
                            ToInput,
                            SkipInput,
                            DropLastAxis,
                            EmptyIsMissing,
                            RefuseInput,
                            Refuse,
                            AlignByAxis,
                            TwoByTwo,
                            LimitsOf,
                            ComputeInReals>;

// ---- What exporters look at ---------------------------------------------------------------------

enum class ElementTypes : uint8_t {
    Bools,
    Integers,
    SmallIntegers,  // of less than 32 bits
    Integers16,     // of 16 bits
    Halves,
    OtherThanSingle,
};
// What a form of the operator needs that came later than the operator: elements of these types,
// a value of an attribute, an input, another rank of the first input.
struct TypeNeeds {
    ElementTypes types;
    std::string_view what;  // "bools"
    int64_t since;
};
struct ValueNeeds {
    std::string_view attribute, value;
    int64_t since;
};
struct InputNeeds {
    size_t input;
    std::string_view name;
    int64_t since;
};
struct OtherRankNeeds {
    size_t rank;
    int64_t since;
};
using Need = std::variant<TypeNeeds, ValueNeeds, InputNeeds, OtherRankNeeds>;

// A list of the definition that is a tensor in ONNX, with elements of this type.
struct TensorAttribute {
    std::string_view name;
    enum class Type : uint8_t { OfInput, OfResult, Bytes } type;
};

// ---- The profile --------------------------------------------------------------------------------

enum class Standing : uint8_t {
    Outside,   // not in the profile
    Draft,     // the working group has a text, but did not select it yet
    Selected,  // in the list of REQ-OP-000
};
enum class BroadcastKind : uint8_t {
    None,
    All,     // all inputs to one shape
    MatMul,  // axes before the last two
    GemmC,   // the third input to that of the result
};

// ---- The table ----------------------------------------------------------------------------------

struct Operator {
    // Operators of ONNX Runtime carry their domain in their name, `com.microsoft.Attention`, for
    // some are in the default domain, too.
    std::string_view name;
    int64_t since;     // the opset of its domain that brought it
    int64_t form = 0;  // the first opset that has the form of the definition, if later
    Domain domain = Domain::Default;
    Meaning meaning = Meaning::Definition;

    std::initializer_list<Steering> steering = {};
    std::optional<Variadic> variadic = {};
    std::optional<ResultType> result_type = {};
    std::string_view reduces_by = {};  // the operator of two operands that it repeats over axes
    std::initializer_list<AttributeDefault> attributes = {};
    // Attributes of the definition that ONNX does not have, or that mean nothing here.
    std::initializer_list<std::string_view> own_attributes = {};
    std::initializer_list<TensorAttribute> tensor_attributes = {};
    bool is_window = false;  // it has `pads`, `auto_pad` and `ceil_mode`
    std::initializer_list<Need> needs = {};
    std::initializer_list<Change> changes = {};  // in this order
    // Operators of the library that the code for this operator calls, besides those that the
    // changes name.
    std::initializer_list<std::string_view> makes = {};

    Standing standing = Standing::Outside;
    BroadcastKind broadcast = BroadcastKind::None;
    // Inputs that share a type variable; one item: from that input on.
    std::initializer_list<size_t> same_type = {};
    bool is_random = false;

    // The first opset whose form is the definition's.
    constexpr int64_t has_form_since() const { return form ? form : since; }
};

// The rows, sorted by name: operator_table.cpp, then operator_table_microsoft.cpp.
std::span<const Operator> onnx_operators();
std::span<const Operator> microsoft_operators();
// All of them.
std::vector<Operator> all_operators();
// Null for names that are no operator of ONNX.
const Operator* find_operator(std::string_view name);
// The name of the node's operator in the table.
std::string operator_of(const Node& node);
// The operators of the library that the changes and the code of a row call.
std::vector<std::string_view> made_operators(const Operator& op);

}  // namespace lemma::onnx

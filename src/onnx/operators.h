// SPDX-License-Identifier: Apache-2.0
// onnx/operators.h — the one table of ONNX operators. The definition in stdlib/onnx says what an
// operator computes. The row has all other facts that import, export and the profile need.
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
// The name in the format; empty for the default domain.
std::string_view domain_name(Domain domain);

// Where an operator gets its meaning.
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
    // An empty list counts as omitted.
    bool empty_is_missing = false;
    DType type = DType::I64;  // type of the integers that exporters write
    int64_t since = 1;        // before this opset it is an attribute in ONNX, too
};

// Inputs that are packs of the definition: the first of them, and the number of packs that
// alternate from there on.
struct Variadic {
    size_t first = 0;
    size_t packs = 1;
};

// A type of the definition that does not follow from the types of the inputs.
struct ResultType {
    std::string_view attribute;        // attribute with the code of the type; may be empty
    std::optional<size_t> from_input;  // input that has the type, without the attribute
    DType usual = DType::F32;          // type without either
    int64_t since = 1;                 // the opset that introduced the attribute
};

// ---- Attributes ---------------------------------------------------------------------------------

// Defaults that depend on the shapes of the node.
enum class Computed : uint8_t {
    KernelShape,   // that of the weights
    Ones,          // one per spatial axis
    Zeros,         // zero per spatial axis
    PairsOfZeros,  // two per spatial axis
    Reversed,      // the axes of the input from the last to the first
    ZeroTensor,    // a float tensor, which the user must write
};
// Empty: no value has the same meaning as omitting the attribute.
using Default = std::variant<std::monostate, int64_t, float, std::string_view, Computed>;

// An attribute with its default. Exporters omit an attribute with its default value if it is newer
// than the oldest opset that they write.
struct AttributeDefault {
    std::string_view name;
    Default value;
    int64_t since = 1;     // the opset that introduced it
    int64_t until = 1000;  // the last one with this default
};

// ---- Other forms of calls -----------------------------------------------------------------------

// Changes that import makes to bring a call to the form of the definition. `below`: the change
// applies to opsets before this one only.
inline constexpr int64_t kAnyOpset = INT64_MAX;

// Calls another definition: that of a newer operator, or of an older form of this one, such as
// `Softmax_12`.
struct Call {
    std::string_view op;
    int64_t below = kAnyOpset;
};
// The same, if the model uses this output.
struct CallForOutput {
    std::string_view op;
    size_t output;
};
// An attribute without effect here.
struct Drop {
    std::string_view attribute;
    int64_t below = kAnyOpset;
};
// An attribute that had another default, or did not exist yet.
struct Preset {
    std::string_view attribute;
    Default value;
    int64_t below;
};
struct Rename {
    std::string_view attribute, to;
    int64_t below;
};
// An attribute value that was spelled `from`. Exporters write this spelling for older opsets.
struct Respell {
    std::string_view attribute, from, to;
    int64_t below;
};
// A real attribute that became an integer.
struct MakeInteger {
    std::string_view attribute;
    int64_t below;
};
// An attribute that became an input. It is a number of the type of the first input.
struct ToInput {
    std::string_view attribute;
    size_t input;
    int64_t below;
};
// An input that did not exist yet; other inputs had its position.
struct SkipInput {
    size_t input;
    int64_t below;
};
// An input of this rank loses its last axis, which has extent 1: a list of one is a number. With a
// step, the change applies to every `step`-th input from there on.
struct DropLastAxis {
    size_t input;
    size_t rank = 1;
    size_t step = 0;
};
// An input without elements counts as omitted.
struct EmptyIsMissing {
    size_t input;
};
// An input that the definition lacks. Import refuses models that use it. Rows list these inputs
// from last to first, because removing one moves later inputs up.
struct RefuseInput {
    size_t input;
    std::string_view what;  // "the input `g_idx`"
};
// Import refuses calls of these opsets.
struct Refuse {
    int64_t below;
};
// The second operand was aligned with the axis `axis` of the first, not with its end.
struct AlignByAxis {
    int64_t below;
};
// A pack has tensors of one shape. Tensors of different shapes are combined pairwise by `op`.
struct TwoByTwo {
    std::string_view op;
};
// Sets the attributes `lowest` and `highest` to the limits of the type of an input, if it is
// integer.
struct LimitsOf {
    size_t input;
};
// The first `count` inputs are computed as reals if they are integers. The result is rounded
// towards zero.
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

// ---- For export ---------------------------------------------------------------------------------

enum class ElementTypes : uint8_t {
    Bools,
    Integers,
    SmallIntegers,  // of less than 32 bits
    Integers16,     // of 16 bits
    Halves,
    OtherThanSingle,
};
// A form of the operator that came later than the operator: with elements of these types, a value
// of an attribute, an input, or another rank of the first input.
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

// A list of the definition that is a tensor of this element type in ONNX.
struct TensorAttribute {
    std::string_view name;
    enum class Type : uint8_t { OfInput, OfResult, Bytes } type;
};

// ---- The profile --------------------------------------------------------------------------------

enum class Standing : uint8_t {
    Outside,   // not in the profile
    Draft,     // the working group has a text, but has not selected it yet
    Selected,  // in the list of REQ-OP-000
};
enum class BroadcastKind : uint8_t {
    None,
    All,     // all inputs to one shape
    MatMul,  // axes before the last two
    GemmC,   // the third input to the shape of the result
};

// ---- The table ----------------------------------------------------------------------------------

struct Operator {
    // Operators of ONNX Runtime include their domain in the name, `com.microsoft.Attention`,
    // because some names exist in the default domain, too.
    std::string_view name;
    int64_t since;     // the opset of its domain that introduced it
    int64_t form = 0;  // the first opset with the form of the definition, if later
    Domain domain = Domain::Default;
    Meaning meaning = Meaning::Definition;

    std::initializer_list<Steering> steering = {};
    std::optional<Variadic> variadic = {};
    std::optional<ResultType> result_type = {};
    std::string_view reduces_by = {};  // the binary operator that it repeats over axes
    std::initializer_list<AttributeDefault> attributes = {};
    // Attributes of the definition that ONNX lacks, or that have no effect here.
    std::initializer_list<std::string_view> own_attributes = {};
    std::initializer_list<TensorAttribute> tensor_attributes = {};
    bool is_window = false;  // has `pads`, `auto_pad` and `ceil_mode`
    std::initializer_list<Need> needs = {};
    std::initializer_list<Change> changes = {};  // applied in this order
    // Operators of the library that the code for this operator calls, besides those in the changes.
    std::initializer_list<std::string_view> makes = {};

    Standing standing = Standing::Outside;
    BroadcastKind broadcast = BroadcastKind::None;
    // Inputs that share a type variable; one item: from that input on.
    std::initializer_list<size_t> same_type = {};
    bool is_random = false;

    // The first opset with the form of the definition.
    constexpr int64_t has_form_since() const { return form ? form : since; }
};

// The rows, sorted by name: operator_table.cpp, then operator_table_microsoft.cpp.
std::span<const Operator> onnx_operators();
std::span<const Operator> microsoft_operators();
// All rows.
std::vector<Operator> all_operators();
// Null if ONNX has no operator of this name.
const Operator* find_operator(std::string_view name);
// The name of the node's operator in the table.
std::string operator_of(const Node& node);
// The operators of the library that the changes and the code of a row call.
std::vector<std::string_view> made_operators(const Operator& op);

}  // namespace lemma::onnx

// SPDX-License-Identifier: Apache-2.0
// nnef1/syntax/ast.h — the syntax tree of an NNEF 1.0 document as written: it keeps parentheses,
// spelling and order. Nodes live in stores and refer to each other by id. Lists are ranges of
// shared vectors and names are views of the source text, so a flat graph of a hundred thousand
// operations needs few allocations. The SourceMap must outlive the tree.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/store.h"
#include "diag/span.h"
#include "text/tokens.h"

namespace lemma::nnef1 {

struct ExprId : Id<ExprId> {};
struct TypeId : Id<TypeId> {};
struct InvocationId : Id<InvocationId> {};

// `text` is the plain name: without `i"…"` and escapes in the tract dialect.
struct Name {
    std::string_view text;
    Span span;
};

// Parts of nodes are aligned to four bytes at most: smaller trees make large documents faster to
// read.
#pragma pack(push, 4)
// A view of a text of less than 4 GiB.
class TextView {
public:
    TextView() = default;
    TextView(const char* text) : TextView(std::string_view(text)) {}
    TextView(std::string_view text)
        : data_(text.data()), size_(static_cast<uint32_t>(text.size())) {}
    operator std::string_view() const { return view(); }
    std::string_view view() const { return {data_, size_}; }
    bool empty() const { return size_ == 0; }
    friend bool operator==(TextView a, std::string_view b) { return a.view() == b; }

private:
    const char* data_ = nullptr;
    uint32_t size_ = 0;
};
// A minus sign right before a number belongs to the literal, unless `^` follows the number: -2^2 is
// -(2^2). The span of the node has the text as written.
template <class T>
class NumberLiteral {
public:
    explicit NumberLiteral(T value) : value_(value) {}
    T value() const { return value_; }  // not a reference, because it may be misaligned

private:
    T value_;
};
#pragma pack(pop)
using IntegerLiteral = NumberLiteral<int64_t>;
using ScalarLiteral = NumberLiteral<double>;

// Consecutive items in a shared vector of Nodes; `items` reads them.
template <class T>
struct Slice {
    uint32_t begin = 0;
    uint32_t count = 0;
    bool empty() const { return count == 0; }
    size_t size() const { return count; }
};

// ---- Types ------------------------------------------------------------------------------------

enum class TypeName : uint8_t { Integer, Scalar, Logical, String, Generic /* ? */ };

struct PrimitiveType {
    TypeName name{};
};
struct TensorType {  // tensor<scalar>, or without item tensor<>
    std::optional<TypeName> item;
};
struct ArrayType {
    TypeId item;
};
struct TupleType {  // two items or more
    Slice<TypeId> items;
};
struct BadType {};  // reported by the parser; agrees with every type
struct Type {
    Span span;
    std::variant<BadType, PrimitiveType, TensorType, ArrayType, TupleType> node;
};

// ---- Expressions ------------------------------------------------------------------------------

enum class UnaryOp : uint8_t { Plus, Minus, Not };
enum class BinaryOp : uint8_t {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    In,
};
enum class Builtin : uint8_t { ShapeOf, LengthOf, RangeOf, Integer, Scalar, Logical, String };

struct Argument {
    TextView name;  // empty for a positional one
    Span name_span;
    ExprId value;
};
struct Iterator {  // `name in range` of a comprehension
    Name name;
    ExprId range;
};

struct LogicalLiteral {
    bool value = false;
};
struct StringLiteral {
    TextView value;  // escapes resolved
};
struct Identifier {
    TextView name;
};
struct Paren {  // (x)
    ExprId inner;
};
struct Array {
    Slice<ExprId> items;
};
struct Tuple {  // two items or more; without parentheses only left of an assignment
    Slice<ExprId> items;
    bool parentheses = true;
};
struct Subscript {  // x[i]
    ExprId base;
    ExprId index;
};
struct SubscriptRange {  // x[b:e]; each end may be missing
    ExprId base;
    ExprId begin, end;
};
struct Unary {
    UnaryOp op{};
    ExprId operand;
};
struct Binary {
    BinaryOp op{};
    uint32_t op_begin = 0;  // offset of the operator in the file
    ExprId lhs, rhs;
};
struct IfElse {  // consequent if condition else alternative
    ExprId consequent, condition, alternative;
};
struct Comprehension {  // [for i in a, j in b if condition yield value]
    Slice<Iterator> iterators;
    ExprId condition;  // may be missing
    ExprId value;
};
struct BuiltinCall {
    Builtin function{};
    ExprId argument;
};
// name<type>(args). The node of this id has a span that begins with the name.
struct Invocation {
    TextView name;
    Slice<Argument> args;
    std::optional<TypeName> type;
    uint32_t name_size = 0;  // as written
};
struct BadExpr {};  // reported by the parser; agrees with every type

struct Expr {
    Span span;
    std::variant<BadExpr,
                 IntegerLiteral,
                 ScalarLiteral,
                 LogicalLiteral,
                 StringLiteral,
                 Identifier,
                 Paren,
                 Array,
                 Tuple,
                 Subscript,
                 SubscriptRange,
                 Unary,
                 Binary,
                 IfElse,
                 Comprehension,
                 BuiltinCall,
                 InvocationId>
        node;
};
static_assert(sizeof(Expr) == 32);

// The nodes of a document or quantisation file.
class Nodes {
public:
    Store<ExprId, Expr> exprs;
    Store<TypeId, Type> types;
    Store<InvocationId, Invocation> invocations;

    // Null if the expression is not an invocation.
    const Invocation* invocation(const Expr& expr) const {
        const auto* id = std::get_if<InvocationId>(&expr.node);
        return id ? &invocations[*id] : nullptr;
    }

    std::span<const ExprId> items(Slice<ExprId> slice) const { return view(expr_lists_, slice); }
    std::span<const TypeId> items(Slice<TypeId> slice) const { return view(type_lists_, slice); }
    std::span<const Argument> items(Slice<Argument> slice) const { return view(args_, slice); }
    std::span<const Iterator> items(Slice<Iterator> slice) const { return view(iterators_, slice); }

    Slice<ExprId> add_list(std::span<const ExprId> items) { return append(expr_lists_, items); }
    Slice<TypeId> add_list(std::span<const TypeId> items) { return append(type_lists_, items); }
    Slice<Argument> add_list(std::span<const Argument> items) { return append(args_, items); }
    Slice<Iterator> add_list(std::span<const Iterator> items) { return append(iterators_, items); }

    // Reserves room for this many expressions and their usual parts.
    void reserve(size_t count) {
        exprs.reserve(count);
        expr_lists_.reserve(count / 2);
        args_.reserve(count / 2);
        invocations.reserve(count / 8);
    }

    // Stores a text that is not in the source; the view lives as long as the tree.
    std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

    Nodes() = default;
    Nodes(Nodes&&) = default;
    Nodes& operator=(Nodes&&) = default;
    Nodes(const Nodes&) = delete;  // copied views would point into the old texts
    Nodes& operator=(const Nodes&) = delete;

private:
    template <class T>
    static std::span<const T> view(const std::vector<T>& all, Slice<T> slice) {
        LEMMA_CHECK(size_t{slice.begin} + slice.count <= all.size());
        return {all.data() + slice.begin, slice.count};
    }
    template <class T>
    static Slice<T> append(std::vector<T>& all, std::span<const T> items) {
        const auto begin = static_cast<uint32_t>(all.size());
        all.insert(all.end(), items.begin(), items.end());
        return {begin, static_cast<uint32_t>(items.size())};
    }

    std::vector<ExprId> expr_lists_;
    std::vector<TypeId> type_lists_;
    std::vector<Argument> args_;
    std::vector<Iterator> iterators_;
    std::deque<std::string> texts_;
};

// ---- Documents --------------------------------------------------------------------------------

using text::Comment;

struct Version {
    Span span;  // of the statement; invalid if it is missing
    std::string_view text;
    int major_number = 0;
    int minor_number = 0;
};
struct Extension {
    Span span;
    std::vector<Name> names;
    // Tract: the text between the only name and the `;`: `S >= 0`.
    std::string_view rest;
};
struct Assignment {
    Span span;      // with the `;`
    ExprId target;  // Identifier, Array or Tuple of such, or BadExpr
    ExprId value;
};
struct Param {
    Span span;
    Name name;
    TypeId type;
    ExprId default_value;  // may be missing; literals, and arrays and tuples of them
};
struct Result {
    Span span;
    Name name;
    TypeId type;
};
struct GenericDecl {  // <?> or <? = scalar>
    Span span;
    std::optional<TypeName> default_type;
};
struct Body {
    Span span;  // of the braces
    std::vector<Assignment> assignments;
};
struct Fragment {
    Span span;
    Name name;
    std::optional<GenericDecl> generic;
    std::vector<Param> params;
    std::vector<Result> results;
    std::optional<Body> body;  // missing: a custom operation
    uint32_t arrow = 0;        // offset of `->` in the file
};
struct Graph {
    Span span;
    Name name;
    std::vector<Name> params;
    std::vector<Name> results;
    Body body;
    uint32_t arrow = 0;  // offset of `->` in the file
};

// The extensions of the specification.
inline constexpr std::string_view kFragmentDefinitions = "KHR_enable_fragment_definitions";
inline constexpr std::string_view kOperatorExpressions = "KHR_enable_operator_expressions";

struct Document : Nodes {
    diag::FileId file;
    Version version;
    std::vector<Extension> extensions;
    std::vector<Fragment> fragments;
    std::optional<Graph> graph;  // missing: a library, or an error was reported
    std::vector<Comment> comments;

    bool has_extension(std::string_view name) const;
};

// The place of the operation's name in a call.
inline Span name_span(const Expr& expr, const Invocation& call) {
    return {expr.span.file, expr.span.begin, expr.span.begin + call.name_size};
}
std::string_view spelling(TypeName name);     // `scalar`, `?`
std::string_view spelling(UnaryOp op);        // `!`
std::string_view spelling(BinaryOp op);       // `&&`
std::string_view spelling(Builtin function);  // `shape_of`

}  // namespace lemma::nnef1

// SPDX-License-Identifier: Apache-2.0
// sknd/syntax/ast.h — the syntax tree of one SkriptND module as written: it keeps parentheses,
// spelling and order. Nodes live in stores of their Module and refer to each other by id. Names are
// views of the source text, so the SourceMap must outlive the tree.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/store.h"
#include "diag/span.h"
#include "sknd/syntax/tokens.h"

namespace lemma::sknd {

struct ExprId : Id<ExprId> {};
struct RegionId : Id<RegionId> {};

struct Name {
    std::string_view text;
    Span span;
};

// ---- Expressions ------------------------------------------------------------------------------

enum class UnaryOp : uint8_t { Plus, Minus, Not };
enum class BinaryOp : uint8_t {
    Add,
    Sub,
    Mul,
    Div,
    CeilDiv,
    Mod,
    Pow,
    Min,
    Max,  // numbers (Add: strings too)
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,  // to bool
    And,
    Or,
    Xor,
    Implies,  // bool
    Is,
    In,  // compile-time tests
};
// A fold has a BinaryOp of the list in 2.4, or Uniform for `:= ..`.
enum class FoldOp : uint8_t {
    Sum,
    Product,
    All,
    Any,
    Min,
    Max,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Uniform,
};
enum class MemberKind : uint8_t { Shape, Rank, Size };

struct IntLiteral {
    int64_t value = 0;
};
struct RealLiteral {
    double value = 0;
    std::string_view text;  // as written, for printing; empty if a program made it
};
struct BoolLiteral {
    bool value = false;
};
struct InfLiteral {};
struct PiLiteral {};
// A string of one or more adjacent literals. `parts` alternates text (escapes resolved) and
// formatted expressions. The pieces are the literals as written, quotes included; Module::pieces
// holds them in sequence.
struct StringLiteral {
    struct Part {
        std::string_view text;  // used if `expr` is not valid
        ExprId expr;
    };
    std::vector<Part> parts;
    uint32_t first_piece = 0;
    uint32_t piece_count = 0;
};
struct Identifier {
    std::string_view name;
};
struct Member {  // x.shape, x.rank, x.size
    ExprId base;
    MemberKind member{};
};
struct Paren {
    ExprId inner;
};
struct List {  // items may be Range, Expand of anything, or Expand of Zip
    std::vector<ExprId> items;
};
struct Range {  // b:e:s; in an index each part may be missing
    ExprId begin, end, step;
};
struct Expand {  // x.. or x..(n)
    ExprId item;
    ExprId count;  // may be missing
};
struct Zip {  // (a, b) right before `..`
    std::vector<ExprId> items;
};
struct Index {  // x[i]: an item, a range, a pack of indices or a mask of a pack or string
    ExprId base;
    ExprId index;
};
struct Access {  // x[i,j], x[i,], x[], x[i..]: an element of a tensor
    ExprId base;
    std::vector<ExprId> indices;
};
struct Guard {  // |i| or |i <> below : above|, only directly as an access index
    ExprId index;
    ExprId below, above;  // both or none
};
struct Substitution {  // x[i] <- v
    ExprId base;
    ExprId index;
    ExprId value;
};
struct Unary {
    UnaryOp op{};
    ExprId operand;
};
struct Binary {
    BinaryOp op{};
    ExprId lhs, rhs;
    Span op_span;
};
struct Select {  // c ? a : b, or c ? a
    ExprId condition, consequent, alternative;
};
struct Coalesce {  // a ?? b
    ExprId value, fallback;
};
struct NullTest {  // ?a
    ExprId operand;
};
struct Fold {  // x + .. or, cumulative, x + ...
    FoldOp op{};
    ExprId operand;
    bool cumulative = false;
    Span op_span;
};
struct Cast {  // real(x), T(x), or int() for the default value
    Name type;
    ExprId operand;  // may be missing
};
struct BuiltinCall {  // `sin`(x), or sin(x)
    Name function;
    ExprId operand;
};
struct Omitted {};  // `~` as an argument or extent
struct BadExpr {};  // reported by the parser; agrees with every type

struct Expr {
    Span span;
    std::variant<BadExpr,
                 IntLiteral,
                 RealLiteral,
                 BoolLiteral,
                 InfLiteral,
                 PiLiteral,
                 StringLiteral,
                 Identifier,
                 Member,
                 Paren,
                 List,
                 Range,
                 Expand,
                 Zip,
                 Index,
                 Access,
                 Guard,
                 Substitution,
                 Unary,
                 Binary,
                 Select,
                 Coalesce,
                 NullTest,
                 Fold,
                 Cast,
                 BuiltinCall,
                 Omitted>
        node;
};

// ---- Types and declarations -------------------------------------------------------------------

// `static` and `dynamic` are extensions of the reference (notes, resolution 15).
enum class Qualifier : uint8_t { None, Static, Dynamic };

struct PackSpec {   // ..(n) or ..
    ExprId length;  // may be missing
    Qualifier qualifier{};
    Span span;
    ExprId bound{};  // the 5 of `..(n|5)`, an extension of the reference; may be missing
};
struct ExtentSpec {       // one item of a shape: [..] extent [| bound] [pack]
    bool spread = false;  // leading `..`: a separate extent for each tensor of a pack
    Qualifier qualifier{};
    ExprId extent;  // Omitted for `~`
    ExprId bound;   // may be missing
    std::optional<PackSpec> pack;
    Span span;
};
struct TypeSpec {
    bool optional = false;
    Qualifier qualifier{};
    Name base;    // int real bool str type arith num, or a generic type
    ExprId rank;  // the r of `real^(r)[…]`; may be missing
    std::optional<std::vector<ExtentSpec>> shape;
    std::optional<PackSpec> pack;
    Span span;
    Span shape_span;  // the brackets
};
struct LoopBound {  // i < n
    Name index;
    ExprId bound;
    Span span;
};
struct DtypeDecl {
    Name name;
    Name base;
    std::optional<Name> fallback;
    Span span;
};
struct ParamDecl {  // @attrib @input @output @constant @variable
    Name name;
    TypeSpec type;
    ExprId value;  // default or constant value; may be missing
    std::vector<LoopBound> bounds;
    Span span;
};

// ---- Left sides -------------------------------------------------------------------------------

struct LValueItem {
    struct Target {
        Name name;
        std::optional<TypeSpec> type;  // `Xs: real[s,1,c]..(b)`
    };
    bool omitted = false;          // `~`
    bool zip = false;              // `(a, b)..`
    std::vector<Target> targets;   // one unless zip; none if omitted
    std::optional<PackSpec> pack;  // a pack after a typed target belongs to the type
    Span span;
};
struct LValue {
    bool list = false;  // [a, b..]
    std::vector<LValueItem> items;
    Span span;
};

// ---- @using @assert @lower --------------------------------------------------------------------

struct UsingStmt {
    LValue lhs;
    ExprId rhs;
    Span span;
};
struct AssertStmt {
    struct Printed {
        std::optional<std::string> label;
        ExprId value;
    };
    ExprId condition;
    ExprId message;  // a StringLiteral; may be missing
    std::vector<Printed> printed;
    Span span;
};
struct IterCount {  // ..(n), ..(i -> n) or ..(i ->)
    std::optional<Name> index;
    ExprId count;  // may be missing
    Span span;
};
enum class LowerOp : uint8_t { Assign, Sum, Product, All, Any, Min, Max, Update };
struct LowerStmt {
    struct Local {
        Name name;
        ExprId value;
    };
    std::optional<IterCount> unroll;
    std::vector<Local> locals;
    ExprId target;  // an Access
    LowerOp op{};
    Span op_span;
    ExprId value;
    std::vector<LoopBound> bounds;
    ExprId condition;  // may be missing
    Span span;
};

// ---- @compose @update @quantize ---------------------------------------------------------------

struct QualifiedName {
    std::vector<Name> parts;
    Span span;
    std::string text() const;
};
struct AttributeArg {
    Name name;
    ExprId value;
    Span span;
};
struct Invocation {
    QualifiedName callee;
    std::vector<Name> types;  // <real, T>
    Span types_span;
    std::vector<AttributeArg> attributes;
    std::vector<ExprId> arguments;  // Omitted for `~`
    Span arguments_span;            // the parentheses
};
struct Value {  // a tensor or compile-time expression as a value
    ExprId expr;
};
struct Component {
    std::vector<LValue> results;
    RegionId body;
    Span span;
};
struct Block {
    std::vector<Component> components;
    std::vector<ExprId> yields;
    Span yield_span;
};
struct Branch {  // if c then a elif c2 then b else d
    struct Arm {
        RegionId condition, consequent;
    };
    std::vector<Arm> arms;
    RegionId alternative;
};
struct Loop {
    struct Carried {
        Name name;
        std::optional<TypeSpec> type;
        ExprId initial;
    };
    struct Scan {
        Name name;
        ExprId pack;
    };
    std::vector<Carried> carried;
    std::vector<Scan> scans;
    RegionId pre_condition;  // while … do; may be missing
    bool unroll = false;
    Span do_span;  // the `do` or `unroll` keyword
    std::optional<IterCount> count;
    RegionId body;
    RegionId post_condition;  // do … while; may be missing
};
struct BadRegion {};

// The right side of `=` in @compose, or a branch, condition or loop body.
struct Region {
    Span span;
    std::optional<Name> label;
    std::variant<BadRegion, Invocation, Value, Block, Branch, Loop> node;
};
struct QuantizeStmt {
    QualifiedName tensor;
    QualifiedName callee;
    std::vector<Name> types;
    std::vector<AttributeArg> attributes;
    Span span;
};

// ---- Definitions and modules ------------------------------------------------------------------

enum class BlockKind : uint8_t {
    Dtype,
    Attrib,
    Input,
    Using,
    Constant,
    Variable,
    Output,
    Assert,
    Lower,
    Compose,
    Update,
    Quantize,
};
std::string_view block_name(BlockKind kind);  // "@dtype", …

// The place of a block in the text. A definition has at most one of each kind.
struct BlockSpan {
    BlockKind kind{};
    Span keyword;  // `@input`
    Span span;     // keyword to closing brace
};
struct Definition {
    bool graph = false;
    bool is_public = false;
    Name name;
    std::vector<DtypeDecl> dtypes;
    std::vector<ParamDecl> attribs, inputs, outputs, constants, variables;
    std::vector<UsingStmt> usings;
    std::vector<AssertStmt> asserts;
    std::vector<LowerStmt> lowers;
    std::vector<Component> composes;
    std::vector<Component> updates;
    std::vector<QuantizeStmt> quantizes;
    std::vector<BlockSpan> blocks;  // in the order written
    Span span;

    const BlockSpan* block(BlockKind kind) const;
};
struct Import {
    std::vector<QualifiedName> modules;
    Span span;
};
struct Module {
    diag::FileId file;
    std::vector<Import> imports;
    std::vector<Definition> definitions;
    std::vector<Comment> comments;  // in the order written
    Store<ExprId, Expr> exprs;
    Store<RegionId, Region> regions;
    std::vector<std::string_view> pieces;  // of string literals
    // Texts of strings that differ from the source: with escapes, or joined.
    std::vector<std::shared_ptr<const std::string>> made_texts;
};

}  // namespace lemma::sknd

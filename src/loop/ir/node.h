// SPDX-License-Identifier: Apache-2.0
// loop/ir/node.h — the loop IR: loops over buffers in scalar and vector code, in the form in which
// it becomes machine code. Expressions are interned; addresses are affine in the loop variables.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "tensor/dtype.h"

namespace lemma::loop {

struct ExprId : Id<ExprId> {};
struct VarId : Id<VarId> {};      // a loop variable: an int
struct LocalId : Id<LocalId> {};  // a register that statements set
struct BufferId : Id<BufferId> {};

// Of values in registers; buffers hold any dtype. Int has 64 bits. I32 is an int that fits 32 bits:
// a total of products of bytes. Arithmetic on it gives an Int; only DotBytes and `fma32` stay in 32
// bits and wrap around.
enum class Kind : uint8_t { Bool, I32, Int, F32, F64 };
struct Type {
    Kind kind = Kind::Int;
    uint16_t lanes = 1;

    bool real() const { return kind == Kind::F32 || kind == Kind::F64; }
    friend bool operator==(const Type&, const Type&) = default;
};
// What elements of the dtype are computed in; not for strings.
Kind kind_of(tensor::DType dtype);
// A real as an I32: towards zero, saturates, and nan is 0.
int32_t to_int32(double value);

enum class Op : uint8_t {
    Constant,  // `integer` or `real`
    Var,
    Local,
    Load,
    Ramp,  // 0, 1, 2, … in the lanes
    Read,  // of a stage, not of a function: the element of tensor `integer` at the indices
    // Of a stage: the int, known to be in [0, `integer`) wherever it counts, and below the second
    // operand, if there is one: a run-time extent.
    Assume,
    // of numbers
    Add,
    Sub,
    Mul,
    Div,  // int: rounds down, by zero is 0, and the least number by -1 is itself
    Mod,
    Pow,
    Min,  // nan if one of two reals is
    Max,  // a < b ? b : a
    Neg,
    Abs,
    Fma,
    // of reals
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    Rint,      // to even
    Round,     // halves away from zero
    CopySign,  // the first, with the sign of the second
    Library,   // a function of libm, by `name`
    // to bool
    Less,
    LessEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Xor,
    Not,
    Select,
    Cast,       // to the type; real to int: towards zero, saturates, and nan is 0
    Broadcast,  // a scalar to all lanes
    // Of floats, a * 2^b for a whole b with |b| < 250; and a positive, normal a as m * 2^e with m
    // between sqrt(1/2) and sqrt(2): its e and its m.
    Scale,
    Exponent,
    Mantissa,
    // Of a float, the first of two bf16 whose sum is close to it: the nearest bf16, halves away
    // from zero; or 1 with the sign of the float, if that is not finite. The second one is the
    // rest.
    FirstTerm,
    // Of two vectors, in groups of twice `integer` lanes: from each, one behind the other, the
    // first halves of its groups, or the second ones.
    FirstHalves,
    SecondHalves,
    // Of i32: a total and two vectors with four bytes in each lane; adds the four products to the
    // total. Bit 0 of `integer`: the bytes of the first vector are signed; bit 1: of the second.
    DotBytes,
    // Of f32: a total and two vectors of i32 with two bf16 in each lane; adds the product of the
    // second ones, then that of the first ones. Subnormal numbers count as zero.
    DotBf16,
    // of the lanes of a vector: one scalar
    SumLanes,
    ProductLanes,
    MinLanes,
    MaxLanes,
    AllLanes,
    AnyLanes,
};

struct AddressTerm {
    VarId var;
    int64_t factor;
    friend bool operator==(const AddressTerm&, const AddressTerm&) = default;
};
// The element `offset + sum(factor * var) + dynamic` of a buffer.
struct Address {
    int64_t offset = 0;
    std::vector<AddressTerm> terms;  // sorted by variable
    ExprId dynamic;                  // may be missing; a vector of ints gathers or scatters
    int64_t lane_stride = 1;         // from lane to lane; without `dynamic` lanes

    void add(VarId var, int64_t factor);
    friend bool operator==(const Address&, const Address&) = default;
};

struct Expr {
    Op op{};
    Type type;
    int64_t integer = 0;  // of a constant; else what it names: the variable, the local, the size
    double real = 0;
    std::vector<ExprId> args;
    // Of a load.
    BufferId buffer;
    Address address;
    ExprId mask;  // may be missing; where it is false nothing is read and the value is zero
    // A load of I32 takes the four bytes from the element on in each lane, whatever the dtype.
    // Two loads of one element are the same expression only if nothing is stored between them.
    uint32_t epoch = 0;
    const char* name = nullptr;  // of a library function, without the `f` of its float form
};

struct Stmt;
using Block = std::vector<Stmt>;

struct For {
    VarId var;
    ExprId begin, end;  // ints; the step is `step`
    int64_t step = 1;
    Block body;
};
struct If {
    ExprId condition;
    Block body;
};
struct StoreStmt {
    BufferId buffer;
    Address address;
    ExprId value;
    ExprId mask;  // may be missing
};
struct Set {
    LocalId local;
    ExprId value;
};
// Computes the expression here, so that all later uses in the block and inside of it share it.
struct Let {
    ExprId value;
};
// Gives a variable its value for the rest of the block.
struct Bind {
    VarId var;
    ExprId value;
};
struct Prefetch {
    BufferId buffer;
    Address address;
};
// Works on tile registers: matrices with rows of bytes. The elements of a row lie side by side, the
// rows `stride` elements apart.
enum class TileAction : uint8_t { Zero, Load, Dot, Store };
// The products of a dot: of bytes, added to i32, or of bf16, added to f32.
enum class TileProducts : uint8_t {
    Unsigned,
    UnsignedSigned,
    SignedUnsigned,
    Signed,
    Bf16,
};
struct TileStmt {
    TileAction action{};
    int tile = 0;
    // Of a load or a store.
    BufferId buffer;
    Address address;
    int64_t stride = 0;
    // Of a dot, which adds the product of the matrices a and b. A row of b has the elements of four
    // rows (bytes) or two rows (bf16) of the matrix, column by column.
    int a = 0, b = 0;
    TileProducts products{};
};
// All items of a group come here before one of them goes on; stores before it are seen behind it.
// The local gets whether the value, a bool, is true in one of them; both may be missing.
struct Barrier {
    LocalId any;
    ExprId value;
};
// The local gets the value that another item of the warp computes: the one whose number differs in
// the bits of `distance`. All items of the warp come here together. Values are scalars.
struct Exchange {
    LocalId local;
    ExprId value;
    int64_t distance = 1;
};
// Copies to memory of the group go on while the item does. Those since the end of the last batch
// are a batch. To await is to wait until only the last `later` batches of the item are under way.
enum class CopyAction : uint8_t { Copy, EndBatch, Await };
struct CopyStmt {
    CopyAction action{};
    // Of a copy: so many elements side by side, 4, 8 or 16 bytes in all; both addresses are
    // multiples of that. Zeros where it is not wanted.
    BufferId to, from;
    Address at, source;
    int64_t elements = 1;
    ExprId wanted;  // may be missing
    int64_t later = 0;
};
// The items of a warp multiply two matrices and add the product, 16 rows of 8 columns, to totals. A
// word is a float, which is rounded to 10 bits of fraction, or two neighbours of 16 bits along the
// sum. Item i has in this order:
// - of A, 16 rows of 8 words: words i % 4 of rows i / 4 and i / 4 + 8, words i % 4 + 4 of both;
// - of B, 8 columns of 8 words: words i % 4 and i % 4 + 4 of column i / 4;
// - of the totals: columns 2 * (i % 4) and the next one of row i / 4, then of row i / 4 + 8.
enum class MatrixProducts : uint8_t { Tf32, F16, Bf16, U8, U8I8, I8U8, I8 };
inline bool of_bytes(MatrixProducts products) { return products >= MatrixProducts::U8; }
struct MatrixStmt {
    MatrixProducts products{};
    std::array<LocalId, 4> totals;
    std::array<ExprId, 4> a;  // words, as I32
    std::array<ExprId, 2> b;
};
struct Stmt {
    std::variant<For,
                 If,
                 StoreStmt,
                 Set,
                 Let,
                 Bind,
                 Prefetch,
                 TileStmt,
                 Barrier,
                 Exchange,
                 CopyStmt,
                 MatrixStmt>
        node;
};

struct Buffer {
    std::string name;
    tensor::DType dtype{};
    bool written = false;
    int64_t scratch = 0;  // elements of memory that each call has for itself; 0: an argument
    bool shared = false;  // scratch memory that the items of a group share
};
struct Local {
    Type type;
};
// At most kMostTiles, with rows of at most kTileBytes.
constexpr int kMostTiles = 8, kMostTileRows = 16, kTileBytes = 64;
struct TileRegister {
    int rows = 0, bytes = 0;
};

// The items of a group on a device; so many share memory and barriers.
constexpr int64_t kMostGroup = 1024;
// Bytes that a group shares: each device has so many, and those of more than the plain ones are
// part of a launch.
constexpr int64_t kPlainGroupMemory = 48 << 10, kMostGroupMemory = 96 << 10;
// The items of a warp: neighbours in a group that may exchange values.
constexpr int64_t kWarp = 32;

// One kernel. Its items are independent of one another: a call does those of a range. With groups,
// it is for a device: each item is a thread, and the items of a group run at the same time. Groups
// are independent of one another, and a call does whole groups.
struct Function {
    std::string name;
    // What a call gives the addresses of; no two overlap. Scratch memory comes last.
    std::vector<Buffer> buffers;
    std::vector<std::string> vars;
    std::vector<Local> locals;
    std::vector<TileRegister> tiles;
    std::vector<Expr> exprs;
    VarId item;  // 0 <= item < items
    int64_t items = 1;
    int64_t group = 0;      // items of a group; 0: not for a device
    bool anywhere = false;  // what is read may lie at any address, not only at whole elements
    bool aligned = false;   // for a device: what it is given begins at whole vectors of 16 bytes
    Block body;

    const Expr& operator[](ExprId id) const { return exprs[id.value]; }
    // The buffers that are not scratch memory.
    size_t argument_count() const;
    // Where the memory that the items of a group share has the buffer: so many bytes from its
    // beginning. Without a buffer: its size.
    int64_t group_memory(BufferId buffer = {}) const;
};

// Builds expressions with their types; equal ones are one, and constants are folded.
class Builder {
public:
    explicit Builder(Function& function) : f_(function) {}

    VarId var(std::string name);
    LocalId local(Type type);
    BufferId buffer(std::string name, tensor::DType dtype, bool written);
    BufferId scratch(tensor::DType dtype, int64_t elements);
    // Scratch memory of a group.
    BufferId shared(tensor::DType dtype, int64_t elements);

    ExprId integer(int64_t value);
    ExprId real(double value, Kind kind);
    ExprId boolean(bool value);
    ExprId index(VarId var);
    ExprId get(LocalId local);
    ExprId load(BufferId buffer, Address address, uint16_t lanes = 1, ExprId mask = {});
    // Four bytes per lane, as an I32.
    ExprId load_bytes(BufferId buffer, Address address, uint16_t lanes = 1);
    ExprId ramp(uint16_t lanes);
    ExprId read(uint32_t tensor, Kind kind, std::vector<ExprId> indices);
    ExprId assume(ExprId index, int64_t extent, ExprId end = {});
    // Scalars are spread to the lanes of the others; reals meet in the wider kind.
    ExprId make(Op op, std::vector<ExprId> args);
    ExprId select(ExprId condition, ExprId consequent, ExprId alternative);
    ExprId cast(ExprId value, Kind kind);
    ExprId spread(ExprId value, uint16_t lanes);
    ExprId library(const char* name, std::vector<ExprId> args);
    // FirstHalves or SecondHalves, of groups of twice so many lanes.
    ExprId halves(Op which, ExprId a, ExprId b, int64_t size);
    // See Op::DotBytes.
    ExprId dot_bytes(ExprId total, ExprId a, ExprId b, bool a_signed, bool b_signed);
    ExprId dot_bf16(ExprId total, ExprId a, ExprId b);
    // a * b + c of I32 in 32 bits.
    ExprId fma32(ExprId a, ExprId b, ExprId c);
    // The value of an address without its buffer, as an int.
    ExprId sum(const Address& address);
    // Loads behind it may give other values.
    void stored() { ++epoch_; }

    const Expr& operator[](ExprId id) const { return f_.exprs[id.value]; }
    Type type(ExprId id) const { return f_.exprs[id.value].type; }
    bool is_integer(ExprId id, int64_t value) const;
    Function& function() { return f_; }

private:
    ExprId intern(Expr expr);
    ExprId fold(Op op, Type type, const std::vector<ExprId>& args);
    Type unify(Op op, std::vector<ExprId>& args);

    Function& f_;
    std::unordered_multimap<size_t, ExprId> known_;
    uint32_t epoch_ = 0;
};

const char* op_text(Op op);
std::string type_text(Type type);  // `f32x16`
// A readable text, one statement a line; equal texts mean equal kernels.
std::string print(const Function& function);
// What is wrong with it; empty if nothing is.
std::string verify(const Function& function);

}  // namespace lemma::loop

// SPDX-License-Identifier: Apache-2.0
// Sums of products for a device. A group of items computes a tile of the result: points by lanes.
// It copies sections of both operands to its memory, several sections ahead. An item adds the
// products of its part of the tile in registers, or a warp does with matrix products. If there are
// few tiles, the slices of a group compute the same tile, each from other sections.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loop/schedule/lowering.h"
#include "loop/schedule/nest.h"
#include "loop/schedule/points.h"

namespace lemma::loop {

namespace {

constexpr int64_t kApart = 4;        // words between rows of A: they lie in other banks
constexpr int64_t kMatrixApart = 8;  // likewise of B, for matrix products
constexpr int64_t kQuad = 4;         // words that an item reads at once
constexpr int64_t kRowsAtOnce = 16, kColumnsAtOnce = 8, kWordsAtOnce = 8;  // of a matrix product

class DeviceContraction {
public:
    DeviceContraction(const Stage& stage,
                      const Contraction& contraction,
                      StagePool& pool,
                      const BufferViews& places)
        : stage_(stage),
          c_(contraction),
          t_(*contraction.device),
          pool_(pool),
          places_(places),
          lower_(pool, places, result_),
          build_(lower_.build),
          points_(merge_points(stage, contraction.points, pool, places)),
          unit_(contraction.group),
          by_products_(contraction.product || contraction.squares.valid()) {}

    ScheduledKernel make();

private:
    using Vars = std::vector<VarId>;
    struct Extents {
        std::vector<VarId> vars;
        std::vector<int64_t> extents;
        int64_t all() const {
            int64_t product = 1;
            for (const int64_t extent : extents) product = total_elements(product, extent);
            return product;
        }
    };
    // What an item copies of a section of an operand: every n-th chunk, for n items.
    struct Copies {
        BufferId to;
        int64_t words = 1;               // of a chunk
        bool even = true;                // chunks lie at multiples of their size
        std::vector<ExprId> step, lane;  // of the first element; A: the row instead of the lane
        std::vector<Vars> points;        // of A
        int64_t row = 0;                 // words of a row in memory
    };

    void add_buffers();
    void find_items(Block& out);
    void prepare_a(Block& out);
    void prepare_b(Block& out);
    void copy(ExprId section, VarId buffer, Block& out);
    void copy_a(ExprId first, VarId buffer, Block& out);
    void copy_b(ExprId first, VarId buffer, Block& out);
    void copy_one(
        const Copies& copies, Lowering::Element from, Address to, ExprId wanted, Block& out);
    void start_totals(Block& out);
    void sections(Block& out);
    ExprId added(LocalId total, ExprId a, ExprId b);
    void multiply_words(VarId buffer, Block& out);
    void multiply_matrices(VarId buffer, Block& out);
    void join_slices(Block& out);
    void zero_totals(Block& out);
    void distances(Block& out);
    void store(Block& out);
    bool stores_vectors() const;
    ExprId vector_of(size_t row, size_t column, int64_t width);

    void choose_chunks();
    bool is_even(const Expr& read, VarId along, int64_t chunk) const;
    ExprId wanted_step(ExprId step);
    // The first element of the word in the row, of rows of so many words.
    ExprId at_word(ExprId row, int64_t words, ExprId word) {
        return binary(Op::Mul, build_.make(Op::Add, {binary(Op::Mul, row, words), word}), unit_);
    }
    ExprId number(int64_t value) { return build_.integer(value); }
    ExprId binary(Op op, ExprId a, int64_t b) { return build_.make(op, {a, number(b)}); }
    ExprId bound(ExprId value, Block& out);
    VarId new_var(ExprId value, Block& out);
    Vars take_apart(ExprId number, const Extents& extents, Block& out);
    void bind(const Extents& extents, const Vars& vars) {
        for (size_t i = 0; i < vars.size(); ++i) lower_.bind(extents.vars[i], vars[i]);
    }
    // The words of memory that a section of an operand takes.
    int64_t words_of_a() const { return t_.rows * a_.row; }
    int64_t words_of_b() const { return t_.section * b_.row; }
    Address at_section(VarId buffer, int64_t words) const;
    int64_t threads() const { return t_.threads(); }

    const Stage& stage_;
    const Contraction& c_;
    const DeviceTile& t_;
    StagePool& pool_;
    const BufferViews& places_;
    ScheduledKernel result_;
    Lowering lower_;
    Builder& build_;
    Points points_;
    Extents rows_, reduced_, batch_;
    const int64_t unit_;    // elements of a word
    bool by_products_;      // sums them, also where the value is another one
    int64_t sum_ = 1;       // steps, each a word
    int64_t sections_ = 1;  // of a slice
    BufferId packed_;
    Copies a_, b_;
    VarId slice_, thread_, block_, row_tile_;
    VarId x_, y_;                               // of the item
    VarId warp_column_;                         // of its warp, in columns of warps
    std::vector<Address> row_at_, column_at_;   // of the item's totals in the tile
    std::vector<std::vector<LocalId>> totals_;  // by row and column
};

ScheduledKernel DeviceContraction::make() {
    Function& function = result_.function;
    function.name = "product";
    function.item = build_.var("item");
    for (const VarId var : points_.merged) lower_.bind(var, Address{});
    rows_ = {points_.vars, points_.extents};
    for (const VarId var : c_.reduced) {
        reduced_.vars.push_back(var);
        reduced_.extents.push_back(pool_.extent(var));
    }
    for (const VarId var : c_.batch) {
        batch_.vars.push_back(var);
        batch_.extents.push_back(pool_.extent(var));
    }
    sum_ = reduced_.all();
    sections_ = ceil_of(sum_, t_.section * t_.slices);
    add_buffers();
    Block& out = function.body;
    find_items(out);
    choose_chunks();
    prepare_a(out);
    prepare_b(out);
    start_totals(out);
    sections(out);
    if (t_.slices > 1) join_slices(out);
    if (c_.squares.valid()) distances(out);
    const ExprId first = binary(Op::Equal, build_.index(slice_), 0);
    when(t_.slices > 1 ? first : build_.boolean(true), build_, out, [&](Block& block) {
        store(block);
    });
    result_.schedule =
        fmt::format("{} {}x{} of threads", t_.products ? "matrices" : "tile", t_.rows, t_.columns);
    if (t_.slices > 1) result_.schedule += fmt::format(", {} slices", t_.slices);
    return std::move(result_);
}

// Memory of the group comes last, so the arguments must be known before.
void DeviceContraction::add_buffers() {
    if (!c_.in_place) packed_ = lower_.buffer(c_.packed, false);
    const Expr a = pool_[c_.a];
    lower_.buffer(tensor_of(a), false);
    if (c_.in_place) lower_.buffer(tensor_of(pool_[c_.b]), false);
    for (const ExprId value : {stage_.initial, stage_.finish, c_.squares}) {
        if (!value.valid()) continue;
        pool_.visit_reads(value, [&](ExprId id, const Expr& e) {
            if (id != stage_.total) lower_.buffer(tensor_of(e), false);
        });
    }
    lower_.buffer(stage_.writes[0].tensor, true);
    a_.row = t_.section + kApart;
    b_.row = t_.columns + (t_.products ? kMatrixApart : 0);
    const int64_t buffers = t_.slices * t_.stages;
    const auto dtype_of = [&](ExprId operand) {
        return unit_ > 1 ? places_.at(tensor_of(pool_[operand])).dtype : tensor::DType::F32;
    };
    a_.to = build_.shared(dtype_of(c_.a), buffers * words_of_a() * unit_);
    b_.to = build_.shared(dtype_of(c_.b), buffers * words_of_b() * unit_);
}

// ---- Items --------------------------------------------------------------------------------------

ExprId DeviceContraction::bound(ExprId value, Block& out) {
    if (build_[value].op == Op::Constant) return value;
    return build_.index(new_var(value, out));
}

VarId DeviceContraction::new_var(ExprId value, Block& out) {
    const VarId var = build_.var({});
    out.push_back({Bind{var, value}});
    return var;
}

DeviceContraction::Vars DeviceContraction::take_apart(ExprId number,
                                                      const Extents& extents,
                                                      Block& out) {
    Vars vars(extents.vars.size());
    ExprId rest = number;
    for (size_t i = vars.size(); i-- > 0;) {
        vars[i] = new_var(i == 0 ? rest : binary(Op::Mod, rest, extents.extents[i]), out);
        if (i > 0) rest = bound(binary(Op::Div, rest, extents.extents[i]), out);
    }
    return vars;
}

void DeviceContraction::find_items(Block& out) {
    Function& function = result_.function;
    function.group = threads() * t_.slices;
    const int64_t row_tiles = ceil_of(rows_.all(), t_.rows);
    function.items =
        total_elements(total_elements(c_.blocks * row_tiles, batch_.all()), function.group);
    const ExprId item = build_.index(function.item);
    const ExprId in_group = bound(binary(Op::Mod, item, function.group), out);
    slice_ = new_var(binary(Op::Div, in_group, threads()), out);
    thread_ = new_var(binary(Op::Mod, in_group, threads()), out);
    const ExprId group = bound(binary(Op::Div, item, function.group), out);
    block_ = new_var(binary(Op::Mod, group, c_.blocks), out);
    const ExprId rest = bound(binary(Op::Div, group, c_.blocks), out);
    row_tile_ = new_var(binary(Op::Mod, rest, row_tiles), out);
    bind(batch_, take_apart(bound(binary(Op::Div, rest, row_tiles), out), batch_, out));
}

// ---- Copies -------------------------------------------------------------------------------------

// Whether chunks of so many elements along the variable lie at whole chunks in memory.
bool DeviceContraction::is_even(const Expr& read, VarId along, int64_t chunk) const {
    const BufferView& place = places_.at(tensor_of(read));
    const Layout& layout = place.layout;
    if (place.align % chunk != 0 || layout.offset % chunk != 0 || layout.split >= 0) return false;
    for (size_t axis = 0; axis < read.args.size(); ++axis) {
        const auto affine = pool_.affine(read.args[axis]);
        if (!affine) return false;
        const int64_t stride = layout.strides[axis];
        if (affine->offset * stride % chunk != 0) return false;
        for (const AddressTerm& term : affine->terms) {
            if (term.var != along && term.factor * stride % chunk != 0) return false;
        }
    }
    return true;
}

// As many words as a copy takes, if they lie side by side.
void DeviceContraction::choose_chunks() {
    const auto choose = [&](Copies& copies, const Expr& read, VarId along, int64_t unit) {
        const BufferView& place = places_.at(tensor_of(read));
        const bool side_by_side = stride_of(pool_, place, read.args, along) == unit;
        const bool whole =
            side_by_side && pool_.extent(along) % kQuad == 0 && is_even(read, along, kQuad * unit);
        copies.words = whole ? kQuad : 1;
        copies.even = whole || unit == 1 || (side_by_side && is_even(read, along, unit));
    };
    choose(a_, pool_[c_.a], c_.reduced.back(), unit_);
    if (c_.in_place) {
        choose(b_, pool_[c_.b], c_.lane, 1);
    } else {
        b_.words = kQuad;
    }
}

void DeviceContraction::prepare_a(Block& out) {
    const int64_t chunks = t_.section / a_.words;  // of a row
    const ExprId thread = build_.index(thread_);
    const ExprId step = bound(binary(Op::Mul, binary(Op::Mod, thread, chunks), a_.words), out);
    const ExprId row = bound(binary(Op::Div, thread, chunks), out);
    const int64_t all = rows_.all();
    for (int64_t i = 0; i < t_.rows * chunks / threads(); ++i) {
        a_.step.push_back(step);
        a_.lane.push_back(bound(binary(Op::Add, row, i * (threads() / chunks)), out));
        const ExprId first = binary(Op::Mul, build_.index(row_tile_), t_.rows);
        ExprId point = build_.make(Op::Add, {first, a_.lane.back()});
        // Totals of other points are not stored.
        if (all % t_.rows != 0) point = binary(Op::Min, point, all - 1);
        a_.points.push_back(take_apart(bound(point, out), rows_, out));
    }
}

void DeviceContraction::prepare_b(Block& out) {
    const int64_t chunks = t_.columns / b_.words;  // of a step
    const ExprId thread = build_.index(thread_);
    for (int64_t i = 0; i < t_.section * chunks / threads(); ++i) {
        const ExprId chunk = binary(Op::Add, thread, i * threads());
        b_.step.push_back(bound(binary(Op::Div, chunk, chunks), out));
        b_.lane.push_back(bound(binary(Op::Mul, binary(Op::Mod, chunk, chunks), b_.words), out));
    }
}

Address DeviceContraction::at_section(VarId buffer, int64_t words) const {
    Address at;
    at.add(buffer, words * unit_);
    at.add(slice_, t_.stages * words * unit_);
    return at;
}

// Missing: every step is.
ExprId DeviceContraction::wanted_step(ExprId step) {
    const bool all = sum_ % (t_.section * t_.slices) == 0;
    return all ? build_.boolean(true) : binary(Op::Less, step, sum_);
}

// The section of that number of each slice.
void DeviceContraction::copy(ExprId section, VarId buffer, Block& out) {
    const ExprId all =
        build_.make(Op::Add, {binary(Op::Mul, section, t_.slices), build_.index(slice_)});
    const ExprId first = bound(binary(Op::Mul, all, t_.section), out);
    copy_a(first, buffer, out);
    copy_b(first, buffer, out);
}

void DeviceContraction::copy_one(
    const Copies& copies, Lowering::Element from, Address to, ExprId wanted, Block& out) {
    const Expr& always = build_[wanted];
    const bool all = always.op == Op::Constant && always.integer != 0;
    const std::vector<Buffer>& buffers = result_.function.buffers;
    const bool same = buffers[from.buffer.value].dtype == buffers[copies.to.value].dtype;
    if (same && copies.even) {
        CopyStmt statement{.action = CopyAction::Copy, .to = copies.to, .from = from.buffer};
        statement.at = std::move(to);
        statement.source = std::move(from.address);
        statement.elements = copies.words * unit_;
        if (!all) statement.wanted = wanted;
        out.push_back({std::move(statement)});
        return;
    }
    // Other types become floats on the way; bytes stay integers.
    const Kind kind = c_.kind == Kind::I32 ? Kind::Int : Kind::F32;
    for (int64_t i = 0; i < copies.words * unit_; ++i) {
        const LocalId held = build_.local({kind, 1});
        out.push_back({Set{held, build_.cast(number(0), kind)}});
        when(wanted, build_, out, [&](Block& block) {
            Address source = from.address;
            source.offset += i;
            const ExprId value = build_.load(from.buffer, std::move(source));
            block.push_back({Set{held, build_.cast(value, kind)}});
        });
        Address target = to;
        target.offset += i;
        out.push_back({StoreStmt{copies.to, std::move(target), build_.get(held), {}}});
        build_.stored();
    }
}

void DeviceContraction::copy_a(ExprId first, VarId buffer, Block& out) {
    const ExprId step = bound(build_.make(Op::Add, {first, a_.step[0]}), out);
    bind(reduced_, take_apart(step, reduced_, out));
    const ExprId wanted = wanted_step(step);
    const Expr a = pool_[c_.a];
    for (size_t i = 0; i < a_.lane.size(); ++i) {
        bind(rows_, a_.points[i]);
        Address to = at_section(buffer, words_of_a());
        to.dynamic = at_word(a_.lane[i], a_.row, a_.step[0]);
        copy_one(a_, lower_.element(tensor_of(a), a.args, false), std::move(to), wanted, out);
    }
}

void DeviceContraction::copy_b(ExprId first, VarId buffer, Block& out) {
    const Expr b = pool_[c_.b];
    for (size_t i = 0; i < b_.lane.size(); ++i) {
        const ExprId step = bound(build_.make(Op::Add, {first, b_.step[i]}), out);
        ExprId wanted = wanted_step(step);
        Lowering::Element from;
        if (c_.in_place) {
            bind(reduced_, take_apart(step, reduced_, out));
            const ExprId before = binary(Op::Mul, build_.index(block_), t_.columns);
            const VarId lane = new_var(build_.make(Op::Add, {before, b_.lane[i]}), out);
            lower_.bind(c_.lane, lane);
            const int64_t extent = pool_.extent(c_.lane);
            if (extent % t_.columns != 0) {
                const ExprId inside = binary(Op::Less, build_.index(lane), extent);
                wanted = build_.make(Op::And, {wanted, inside});
            }
            from = lower_.element(tensor_of(b), b.args, false);
        } else {
            const Layout& layout = places_.at(c_.packed).layout;
            from.buffer = packed_;
            size_t axis = 0;
            for (const VarId var : c_.packed_batch) {
                from.address.add(lower_.bound(var).terms.at(0).var, layout.strides[axis++]);
            }
            from.address.add(block_, layout.strides[axis]);
            // The steps lie one behind the other.
            from.address.dynamic = at_word(step, t_.columns, b_.lane[i]);
        }
        Address to = at_section(buffer, words_of_b());
        to.dynamic = at_word(b_.step[i], b_.row, b_.lane[i]);
        copy_one(b_, std::move(from), std::move(to), wanted, out);
    }
}

// ---- Products -----------------------------------------------------------------------------------

void DeviceContraction::start_totals(Block& out) {
    const ExprId thread = build_.index(thread_);
    const int64_t across = t_.columns / t_.own_columns;
    const auto at = [](VarId var, int64_t factor, int64_t offset) {
        Address address;
        address.add(var, factor);
        address.offset = offset;
        return address;
    };
    if (t_.products) {
        const ExprId warp = bound(binary(Op::Div, thread, kWarp), out);
        const ExprId lane = bound(binary(Op::Mod, thread, kWarp), out);
        const ExprId first_row = binary(Op::Mul, binary(Op::Div, warp, across), t_.own_rows);
        // Row of the totals and of A; a quarter of a row, and its column of B.
        y_ = new_var(build_.make(Op::Add, {first_row, binary(Op::Div, lane, 4)}), out);
        x_ = new_var(binary(Op::Mod, lane, 4), out);
        warp_column_ = new_var(binary(Op::Mod, warp, across), out);
        for (int64_t i = 0; i < t_.own_rows; i += kRowsAtOnce / 2) row_at_.push_back(at(y_, 1, i));
        // Matrices in a row share their columns: each has two neighbours of every item.
        const int64_t shared = t_.together / 2 * kColumnsAtOnce;
        for (int64_t j = 0; j < t_.own_columns / kColumnsAtOnce; ++j) {
            const int64_t before = 2 * j / t_.together * shared + 2 * j % t_.together;
            for (int64_t next = 0; next < 2; ++next) {
                Address column = at(x_, t_.together, before + next);
                column.add(warp_column_, t_.own_columns);
                column_at_.push_back(std::move(column));
            }
        }
    } else {
        y_ = new_var(binary(Op::Div, thread, across), out);
        x_ = new_var(binary(Op::Mod, thread, across), out);
        for (int64_t i = 0; i < t_.own_rows; ++i) {
            row_at_.push_back(at(y_, 1, i * (t_.rows / t_.own_rows)));
        }
        for (int64_t j = 0; j < t_.own_columns; ++j) {
            column_at_.push_back(at(x_, kQuad, j % kQuad + j / kQuad * (across * kQuad)));
        }
    }
    totals_.assign(row_at_.size(), std::vector<LocalId>(column_at_.size()));
    for (auto& row : totals_) {
        for (LocalId& total : row) total = build_.local({c_.kind, 1});
    }
    zero_totals(out);
}

void DeviceContraction::zero_totals(Block& out) {
    for (const auto& row : totals_) {
        for (const LocalId total : row) {
            out.push_back({Set{total, build_.cast(number(0), c_.kind)}});
        }
    }
}

// The copies of a section begin when those of the sections before it are under way.
void DeviceContraction::sections(Block& out) {
    const int64_t ahead = t_.stages - 1;
    const auto copy_if_there = [&](ExprId section, Block& block) {
        const VarId buffer = new_var(binary(Op::Mod, section, t_.stages), block);
        when(binary(Op::Less, section, sections_), build_, block, [&](Block& inner) {
            copy(section, buffer, inner);
        });
        block.push_back({CopyStmt{.action = CopyAction::EndBatch}});
    };
    const VarId early = build_.var({});
    For first{early, number(0), number(ahead), 1, {}};
    copy_if_there(build_.index(early), first.body);
    out.push_back({std::move(first)});
    const VarId now = build_.var({});
    For all{now, number(0), number(sections_), 1, {}};
    all.body.push_back({CopyStmt{.action = CopyAction::Await, .later = ahead - 1}});
    all.body.push_back({Barrier{}});
    const ExprId next = bound(binary(Op::Add, build_.index(now), ahead), all.body);
    copy_if_there(next, all.body);
    build_.stored();
    const VarId buffer = new_var(binary(Op::Mod, build_.index(now), t_.stages), all.body);
    if (t_.products) {
        multiply_matrices(buffer, all.body);
    } else {
        multiply_words(buffer, all.body);
    }
    build_.stored();
    out.push_back({std::move(all)});
}

// The total after one more step, which is a product or another value of both operands.
ExprId DeviceContraction::added(LocalId total, ExprId a, ExprId b) {
    const ExprId before = build_.get(total);
    if (by_products_) return build_.make(Op::Fma, {a, b, before});
    lower_.forget_values();
    lower_.define(c_.a, a);
    lower_.define(c_.b, b);
    const ExprId value = lower_.value(stage_.writes[0].value);
    lower_.forget_values();
    const Expr e = build_[value];
    if (e.op == Op::Mul) return build_.make(Op::Fma, {e.args[0], e.args[1], before});
    return build_.make(Op::Add, {before, value});
}

void DeviceContraction::multiply_words(VarId buffer, Block& out) {
    const VarId step = build_.var({});
    For steps{step, number(0), number(t_.section), kQuad, {}};
    for (int64_t ahead = 0; ahead < kQuad; ++ahead) {
        for (size_t i = 0; i < row_at_.size(); ++i) {
            Address from_a = at_section(buffer, words_of_a());
            from_a.add(step, 1);
            from_a.add(y_, a_.row);
            from_a.offset = row_at_[i].offset * a_.row + ahead;
            const ExprId a = build_.load(a_.to, std::move(from_a));
            for (size_t j = 0; j < column_at_.size(); ++j) {
                Address from_b = at_section(buffer, words_of_b());
                from_b.add(step, b_.row);
                from_b.add(x_, kQuad);
                from_b.offset = ahead * b_.row + column_at_[j].offset;
                const ExprId b = build_.load(b_.to, std::move(from_b));
                const LocalId total = totals_[i][j];
                steps.body.push_back({Set{total, added(total, a, b)}});
            }
        }
    }
    out.push_back({std::move(steps)});
}

void DeviceContraction::multiply_matrices(VarId buffer, Block& out) {
    const VarId step = build_.var({});
    For steps{step, number(0), number(t_.section), kWordsAtOnce, {}};
    const auto word_of_a = [&](int64_t row, int64_t word) {
        Address at = at_section(buffer, words_of_a());
        at.add(step, unit_);
        at.add(y_, a_.row * unit_);
        at.add(x_, unit_);
        at.offset = (row * a_.row + word) * unit_;
        return build_.load_bytes(a_.to, std::move(at));
    };
    const VarId column =
        new_var(binary(Op::Div, binary(Op::Mod, build_.index(thread_), kWarp), 4), out);
    const auto word_of_b = [&](int64_t word, int64_t columns) {
        Address at = at_section(buffer, words_of_b());
        at.add(step, b_.row * unit_);
        at.add(x_, b_.row * unit_);
        at.add(column, unit_);
        at.add(warp_column_, t_.own_columns * unit_);
        at.offset = (word * b_.row + columns) * unit_;
        return build_.load_bytes(b_.to, std::move(at));
    };
    for (size_t i = 0; i < row_at_.size(); i += 2) {
        for (size_t j = 0; j < column_at_.size(); j += 2) {
            const int64_t row = row_at_[i].offset;
            const auto columns = static_cast<int64_t>(j) / 2 * kColumnsAtOnce;
            constexpr int64_t kHalf = kRowsAtOnce / 2;
            MatrixStmt product{
                *t_.products,
                {totals_[i][j], totals_[i][j + 1], totals_[i + 1][j], totals_[i + 1][j + 1]},
                {word_of_a(row, 0),
                 word_of_a(row + kHalf, 0),
                 word_of_a(row, 4),
                 word_of_a(row + kHalf, 4)},
                {word_of_b(0, columns), word_of_b(4, columns)}};
            steps.body.push_back({std::move(product)});
        }
    }
    out.push_back({std::move(steps)});
}

// Adds the totals of the second half of the slices to those of the first, until one is left.
void DeviceContraction::join_slices(Block& out) {
    const int64_t own = std::ssize(row_at_) * std::ssize(column_at_);
    const tensor::DType dtype = c_.kind == Kind::I32 ? tensor::DType::I32 : tensor::DType::F32;
    const BufferId parts = build_.shared(dtype, t_.slices / 2 * own * threads());
    const ExprId slice = build_.index(slice_);
    const auto each = [&](int64_t first, const auto& visit) {
        int64_t i = -first * own;
        for (const auto& row : totals_) {
            for (const LocalId total : row) {
                Address at;
                at.offset = i++ * threads();
                at.add(slice_, own * threads());
                at.add(thread_, 1);
                visit(total, std::move(at));
            }
        }
    };
    for (int64_t half = t_.slices / 2; half > 0; half /= 2) {
        const ExprId second = build_.make(Op::LessEqual, {number(half), slice});
        const ExprId still = binary(Op::Less, slice, 2 * half);
        when(build_.make(Op::And, {second, still}), build_, out, [&](Block& block) {
            each(half, [&](LocalId total, Address at) {
                const ExprId value = build_.cast(build_.get(total), kind_of(dtype));
                block.push_back({StoreStmt{parts, std::move(at), value, {}}});
            });
        });
        build_.stored();
        out.push_back({Barrier{}});
        when(binary(Op::Less, slice, half), build_, out, [&](Block& block) {
            each(0, [&](LocalId total, Address at) {
                const ExprId other = build_.load(parts, std::move(at));
                const ExprId sum = build_.make(Op::Add, {build_.get(total), other});
                block.push_back({Set{total, build_.cast(sum, c_.kind)}});
            });
        });
        out.push_back({Barrier{}});
        build_.stored();
    }
}

// Turns totals of products into totals of squared distances, as on the processor
// (contraction_sum.cpp). A group with a distance that is too small, infinite or nan sums its tile
// again as written.
void DeviceContraction::distances(Block& out) {
    constexpr double kGoodShare = 0.125;
    const ExprId minus_two = build_.real(-2, Kind::F32), zero = build_.real(0, Kind::F32);
    const int64_t points = rows_.all(), lanes = pool_.extent(c_.lane);
    ExprId bad = build_.boolean(false);
    for (size_t i = 0; i < row_at_.size(); ++i) {
        const ExprId row = binary(Op::Mul, build_.index(row_tile_), t_.rows);
        const ExprId point = build_.make(Op::Add, {row, build_.sum(row_at_[i])});
        bind(rows_, take_apart(bound(binary(Op::Min, point, points - 1), out), rows_, out));
        for (size_t j = 0; j < column_at_.size(); ++j) {
            Address column = column_at_[j];
            column.add(block_, t_.columns);
            lower_.bind(c_.lane, new_var(binary(Op::Min, build_.sum(column), lanes - 1), out));
            const ExprId squares = lower_.value(c_.squares);
            const LocalId total = totals_[i][j];
            ExprId distance = build_.make(Op::Fma, {build_.get(total), minus_two, squares});
            // A root may follow, so it must not be negative.
            if (c_.trusts_squares) distance = build_.make(Op::Max, {distance, zero});
            out.push_back({Set{total, distance}});
            const ExprId least =
                build_.make(Op::Mul, {squares, build_.real(kGoodShare, Kind::F32)});
            const ExprId good = build_.make(
                Op::And,
                {build_.make(Op::LessEqual, {least, build_.get(total)}),
                 build_.make(Op::Less, {build_.get(total), build_.real(HUGE_VAL, Kind::F32)})});
            bad = build_.make(Op::Or, {bad, build_.make(Op::Not, {good})});
        }
    }
    if (c_.trusts_squares) return;
    const LocalId again = build_.local({Kind::Bool, 1});
    out.push_back({Barrier{again, bad}});
    If all{build_.get(again), {}};
    by_products_ = false;
    zero_totals(all.body);
    sections(all.body);
    by_products_ = true;
    out.push_back({std::move(all)});
    build_.stored();
}

// Whether neighbouring columns of an item are neighbours in all tensors behind the sum.
bool DeviceContraction::stores_vectors() const {
    const auto stride = [&](ir::TensorId tensor, const std::vector<ExprId>& index) {
        return stride_of(pool_, places_.at(tensor), index, c_.lane);
    };
    const StageWrite& write = stage_.writes[0];
    bool good = pool_.extent(c_.lane) % t_.together == 0 && stride(write.tensor, write.index) == 1;
    for (const ExprId value : {stage_.initial, stage_.finish}) {
        if (!value.valid()) continue;
        pool_.visit_reads(value, [&](ExprId id, const Expr& e) {
            if (id == stage_.total) return;
            const int64_t step = stride(tensor_of(e), e.args);
            good &= step == 0 || step == 1;
        });
    }
    return good;
}

// The totals of neighbouring columns.
ExprId DeviceContraction::vector_of(size_t row, size_t column, int64_t width) {
    const auto lanes = static_cast<uint16_t>(width);
    ExprId vector = build_.spread(build_.get(totals_[row][column]), lanes);
    for (int64_t lane = 1; lane < width; ++lane) {
        const ExprId own = build_.get(totals_[row][column + static_cast<size_t>(lane)]);
        const ExprId from_here = build_.make(Op::LessEqual, {number(lane), build_.ramp(lanes)});
        vector = build_.select(from_here, build_.spread(own, lanes), vector);
    }
    return vector;
}

void DeviceContraction::store(Block& out) {
    const StageWrite& write = stage_.writes[0];
    const int64_t points = rows_.all(), lanes = pool_.extent(c_.lane);
    const int64_t width = stores_vectors() ? t_.together : 1;
    const bool starts_at_zero = [&] {
        const Expr& initial = pool_[stage_.initial];
        return initial.op == Op::Constant && initial.real == 0 && initial.integer == 0;
    }();
    std::vector<Address> columns = column_at_;
    std::vector<ExprId> numbers;
    for (Address& at : columns) {
        at.add(block_, t_.columns);
        numbers.push_back(bound(build_.sum(at), out));
        if (width > 1) at.add(lower_.lane_var, 1);
    }
    const auto store_at = [&](size_t row, size_t column, Block& block) {
        lower_.bind(c_.lane, columns[column]);
        lower_.set_lanes(static_cast<uint16_t>(width), {});
        ExprId value = vector_of(row, column, width);
        if (!starts_at_zero) {
            const ExprId initial = build_.cast(lower_.value(stage_.initial), c_.kind);
            value = build_.make(Op::Add, {value, initial});
        }
        if (stage_.finish.valid()) {
            lower_.define(stage_.total, value);
            value = lower_.value(stage_.finish);
        }
        block.push_back(lower_.store(write.tensor, write.index, value));
        lower_.set_lanes(1, {});
    };
    const auto always = build_.boolean(true);
    for (size_t i = 0; i < row_at_.size(); ++i) {
        const ExprId before = binary(Op::Mul, build_.index(row_tile_), t_.rows);
        const ExprId point = bound(build_.make(Op::Add, {before, build_.sum(row_at_[i])}), out);
        const Vars vars = take_apart(point, rows_, out);
        const ExprId there = points % t_.rows == 0 ? always : binary(Op::Less, point, points);
        when(there, build_, out, [&](Block& block) {
            bind(rows_, vars);
            for (size_t j = 0; j < columns.size(); j += static_cast<size_t>(width)) {
                const ExprId inside =
                    lanes % t_.columns == 0 ? always : binary(Op::Less, numbers[j], lanes);
                when(inside, build_, block, [&](Block& inner) { store_at(i, j, inner); });
            }
        });
    }
}

}  // namespace

ScheduledKernel schedule_device_contraction(const Stage& stage,
                                            const Contraction& contraction,
                                            StagePool& pool,
                                            const BufferViews& places) {
    return DeviceContraction(stage, contraction, pool, places).make();
}

}  // namespace lemma::loop

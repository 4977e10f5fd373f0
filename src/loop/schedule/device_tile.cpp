// SPDX-License-Identifier: Apache-2.0
// Sums of products for a device: a group computes a tile of the result. It copies a section of both
// operands to its memory, and each item adds the products of a small tile in registers. If there
// are few tiles, several slices of a group compute the same tile, each from other sections.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "loop/schedule/nest.h"

namespace lemma::loop {

namespace {

constexpr int64_t kSection = 16;  // steps of the sum at a time
constexpr int64_t kOwn = 4;       // points of an item along each side
constexpr int64_t kLeastExtent = 16;
constexpr int64_t kApart = 4;  // elements between rows of a section: they lie in other banks

constexpr int64_t kLargeSide = 64, kSmallSide = 32;  // of a tile
constexpr int64_t kManyGroups = 256;                 // enough for a device
constexpr int64_t kLeastSlices = 48;                 // of all groups
constexpr int64_t kMostSlices = 8;                   // of a group

// An operand with the loops that only it depends on.
struct Operand {
    ExprId value;
    std::vector<NestLoop> loops;  // outermost first
    std::vector<StageGuard> guards;
    bool along_sum = false;  // elements of a section lie side by side along the sum
    int64_t extent = 1;
};

int64_t extent_of(const std::vector<NestLoop>& loops) {
    int64_t extent = 1;
    for (const NestLoop& loop : loops) extent = total_elements(extent, loop.extent);
    return extent;
}

class DeviceTile {
public:
    DeviceTile(const NestContext& context,
               const NestShape& shape,
               NestSteps& steps,
               ScheduledKernel& result,
               Lowering& lower)
        : context_(context),
          stage_(context.stage),
          pool_(context.pool),
          shape_(shape),
          steps_(steps),
          result_(result),
          f_(result.function),
          lower_(lower),
          build_(lower.build) {}

    bool find();
    void make();

private:
    using Vars = std::vector<VarId>;  // one for each loop

    bool depends(const Operand& operand, VarId var) const;
    bool take_guards();
    bool choose_size();
    int64_t groups(int64_t side) const;
    int64_t tiles(const Operand& operand) const { return (operand.extent + side_ - 1) / side_; }
    bool is_along_sum(const Operand& operand) const;
    Vars take_apart(ExprId number, const std::vector<NestLoop>& loops, Block& out);
    void bind(const std::vector<NestLoop>& loops, const Vars& vars);
    ExprId bound(ExprId value, Block& out);
    ExprId below(ExprId number, int64_t extent, int64_t most);
    // The elements of a section that an item copies.
    struct Copy {
        BufferId to;
        std::vector<ExprId> point, step;  // the place of each in the section
        std::vector<ExprId> inside;       // whether it is a point of the operand
        std::vector<Vars> vars;           // of the operand
    };
    Copy prepare(const Operand& operand, ExprId tile, Block& out);
    void copy(const Operand& operand, const Copy& copy, VarId section, Block& out);
    void multiply(Block& out);
    void join_slices(Block& out);
    void store(ExprId row_tile, ExprId column_tile, Block& out);
    int64_t row() const { return side_ + kApart; }

    const NestContext& context_;
    const Stage& stage_;
    StagePool& pool_;
    const NestShape& shape_;
    NestSteps& steps_;
    ScheduledKernel& result_;
    Function& f_;
    Lowering& lower_;
    Builder& build_;
    Operand rows_, columns_;  // the innermost loop of the result is one of the columns
    std::vector<NestLoop> batch_;
    int64_t sum_ = 1, side_ = 0;
    int64_t items_ = 0, slices_ = 1;  // of a slice; of a group
    Copy a_, b_;
    VarId slice_, thread_, x_, y_;  // the thread is that of the slice
    std::array<std::array<LocalId, kOwn>, kOwn> totals_;
};

// ---- The choice ---------------------------------------------------------------------------------

bool DeviceTile::depends(const Operand& operand, VarId var) const {
    return pool_.depends(operand.value, var) ||
           std::ranges::any_of(operand.guards, [&](const StageGuard& guard) {
               return pool_.depends(guard.index, var);
           });
}

// A guard belongs to an operand if it does not depend on loops of the other one.
bool DeviceTile::take_guards() {
    for (const StageGuard& guard : stage_.guards) {
        const auto alone = [&](const Operand& other) {
            return std::ranges::none_of(shape_.outputs, [&](const NestLoop& loop) {
                return pool_.depends(guard.index, loop.var) && depends(other, loop.var);
            });
        };
        if (alone(rows_)) {
            columns_.guards.push_back(guard);
        } else if (alone(columns_)) {
            rows_.guards.push_back(guard);
        } else {
            return false;
        }
    }
    return true;
}

int64_t DeviceTile::groups(int64_t side) const {
    const auto tiles = [&](const Operand& operand) { return (operand.extent + side - 1) / side; };
    return total_elements(total_elements(tiles(rows_), tiles(columns_)), extent_of(batch_));
}

bool DeviceTile::choose_size() {
    side_ = groups(kLargeSide) >= kManyGroups ? kLargeSide : kSmallSide;
    items_ = side_ / kOwn * (side_ / kOwn);
    const int64_t few = groups(side_);
    while (side_ == kSmallSide && slices_ < kMostSlices && few * slices_ < 8 * kManyGroups &&
           4 * slices_ * kSection <= sum_) {
        slices_ *= 2;
    }
    return few * slices_ >= kLeastSlices;
}

bool DeviceTile::is_along_sum(const Operand& operand) const {
    const Expr& e = pool_[operand.value];
    if (e.op != Op::Read) return false;
    const auto stride = [&](const NestLoop& loop) {
        return context_.stride(tensor_of(e), e.args, loop.var);
    };
    return stride(shape_.reductions.back()) == 1 && stride(operand.loops.back()) != 1;
}

bool DeviceTile::find() {
    const bool sum = stage_.combine == ir::FormulaOp::Sum && stage_.writes.size() == 1 &&
                     stage_.initial.valid() && !stage_.kept && !stage_.condition.valid();
    if (!sum || pool_.strict || context_.run_time || shape_.reductions.empty()) return false;
    const Expr& product = pool_[stage_.writes[0].value];
    const Kind held = stage_.finish.valid()
                          ? pool_[stage_.total].type.kind
                          : kind_of(context_.places.at(stage_.writes[0].tensor).dtype);
    const bool floats = product.op == Op::Mul && product.type.kind == Kind::F32;
    if (!floats || held != Kind::F32 || steps_.may_fail()) return false;
    rows_.value = product.args[0];
    columns_.value = product.args[1];
    if (shape_.outputs.empty() || !take_guards()) return false;
    const VarId innermost = shape_.outputs.back().var;
    if (depends(rows_, innermost) && !depends(columns_, innermost)) std::swap(rows_, columns_);
    for (const NestLoop& loop : shape_.outputs) {
        const bool of_rows = depends(rows_, loop.var);
        const bool of_columns = depends(columns_, loop.var);
        (of_rows == of_columns ? batch_ : of_rows ? rows_.loops : columns_.loops).push_back(loop);
    }
    rows_.extent = extent_of(rows_.loops);
    columns_.extent = extent_of(columns_.loops);
    sum_ = extent_of(shape_.reductions);
    if (std::min({rows_.extent, columns_.extent, sum_}) < kLeastExtent || !choose_size()) {
        return false;
    }
    for (Operand* const operand : {&rows_, &columns_}) {
        operand->along_sum = is_along_sum(*operand);
    }
    return true;
}

// ---- The loops ----------------------------------------------------------------------------------

ExprId DeviceTile::bound(ExprId value, Block& out) {
    if (build_[value].op == Op::Constant) return value;
    const VarId var = build_.var({});
    out.push_back({Bind{var, value}});
    return build_.index(var);
}

DeviceTile::Vars DeviceTile::take_apart(ExprId number,
                                        const std::vector<NestLoop>& loops,
                                        Block& out) {
    Vars vars(loops.size());
    ExprId rest = number;
    for (size_t i = loops.size(); i-- > 0;) {
        const ExprId extent = build_.integer(loops[i].extent);
        vars[i] = build_.var({});
        out.push_back({Bind{vars[i], i == 0 ? rest : build_.make(Op::Mod, {rest, extent})}});
        rest = build_.make(Op::Div, {rest, extent});
    }
    return vars;
}

void DeviceTile::bind(const std::vector<NestLoop>& loops, const Vars& vars) {
    for (size_t i = 0; i < loops.size(); ++i) lower_.bind(loops[i].var, vars[i]);
}

// Whether the number, which is below `most`, is below the extent.
ExprId DeviceTile::below(ExprId number, int64_t extent, int64_t most) {
    if (most <= extent) return build_.boolean(true);
    return build_.make(Op::Less, {number, build_.integer(extent)});
}

// An item copies every n-th element, for n items. Neighbours copy neighbouring elements.
DeviceTile::Copy DeviceTile::prepare(const Operand& operand, ExprId tile, Block& out) {
    Copy copy;
    copy.to = build_.shared(tensor::DType::F32, slices_ * kSection * row());
    const int64_t most = tiles(operand) * side_;
    const int64_t fast = operand.along_sum ? kSection : side_;
    const ExprId thread = build_.index(thread_);
    const ExprId low = bound(build_.make(Op::Mod, {thread, build_.integer(fast)}), out);
    const ExprId high = bound(build_.make(Op::Div, {thread, build_.integer(fast)}), out);
    const ExprId first = build_.make(Op::Mul, {tile, build_.integer(side_)});
    for (int64_t i = 0; i < kSection * side_ / items_; ++i) {
        const ExprId later = build_.make(Op::Add, {high, build_.integer(i * (items_ / fast))});
        copy.point.push_back(operand.along_sum ? later : low);
        copy.step.push_back(operand.along_sum ? low : later);
        if (!operand.along_sum && i > 0) {  // the same point
            copy.vars.push_back(copy.vars[0]);
            copy.inside.push_back(copy.inside[0]);
            continue;
        }
        const ExprId number = bound(build_.make(Op::Add, {first, copy.point.back()}), out);
        copy.inside.push_back(below(number, operand.extent, most));
        copy.vars.push_back(take_apart(number, operand.loops, out));
    }
    return copy;
}

// What is outside of the operand is zero.
void DeviceTile::copy(const Operand& operand, const Copy& copy, VarId section, Block& out) {
    const int64_t all = slices_ * kSection;
    const int64_t most = (sum_ + all - 1) / all * all;
    Vars steps;
    ExprId step;
    for (size_t i = 0; i < copy.point.size(); ++i) {
        if (i == 0 || copy.step[i] != copy.step[i - 1]) {
            Address first;
            first.add(section, 1);
            first.add(slice_, kSection);
            step = bound(build_.make(Op::Add, {build_.sum(first), copy.step[i]}), out);
            steps = take_apart(step, shape_.reductions, out);
        }
        bind(operand.loops, copy.vars[i]);
        bind(shape_.reductions, steps);
        ExprId inside = build_.make(Op::And, {copy.inside[i], below(step, sum_, most)});
        for (const StageGuard& guard : operand.guards) {
            inside = build_.make(Op::And, {inside, steps_.holds(guard)});
        }
        const LocalId held = build_.local({Kind::F32, 1});
        out.push_back({Set{held, build_.real(0, Kind::F32)}});
        when(inside, build_, out, [&](Block& block) {
            const ExprId value = build_.cast(lower_.value(operand.value), Kind::F32);
            block.push_back({Set{held, value}});
        });
        Address at;
        at.add(slice_, kSection * row());
        at.dynamic = build_.make(
            Op::Add, {build_.make(Op::Mul, {copy.step[i], build_.integer(row())}), copy.point[i]});
        out.push_back({StoreStmt{copy.to, std::move(at), build_.get(held), {}}});
        build_.stored();
    }
}

void DeviceTile::multiply(Block& out) {
    for (int64_t step = 0; step < kSection; ++step) {
        const auto load = [&](BufferId from, VarId var, int64_t factor, int64_t ahead) {
            Address at;
            at.offset = step * row() + ahead;
            at.add(var, factor);
            at.add(slice_, kSection * row());
            return build_.load(from, std::move(at));
        };
        for (int64_t i = 0; i < kOwn; ++i) {
            const ExprId a = load(a_.to, y_, kOwn, i);
            for (int64_t j = 0; j < kOwn; ++j) {
                const ExprId b = load(b_.to, x_, 1, j * (side_ / kOwn));
                const LocalId total = totals_[static_cast<size_t>(i)][static_cast<size_t>(j)];
                out.push_back({Set{total, build_.make(Op::Fma, {a, b, build_.get(total)})}});
            }
        }
    }
}

// Adds the totals of the second half of the slices to those of the first, until one is left. They
// go through the memory of a section, which is free by then.
void DeviceTile::join_slices(Block& out) {
    const ExprId slice = build_.index(slice_);
    const auto each = [&](int64_t first, const auto& visit) {
        for (size_t i = 0; i < kOwn * kOwn; ++i) {
            Address at;
            at.offset = (static_cast<int64_t>(i) - first * kOwn * kOwn) * items_;
            at.add(slice_, kOwn * kOwn * items_);
            at.add(thread_, 1);
            visit(totals_[i / kOwn][i % kOwn], std::move(at));
        }
    };
    for (int64_t half = slices_ / 2; half > 0; half /= 2) {
        const ExprId second = build_.make(Op::LessEqual, {build_.integer(half), slice});
        const ExprId still = build_.make(Op::Less, {slice, build_.integer(2 * half)});
        when(build_.make(Op::And, {second, still}), build_, out, [&](Block& block) {
            each(half, [&](LocalId total, Address at) {
                block.push_back({StoreStmt{a_.to, std::move(at), build_.get(total), {}}});
            });
        });
        build_.stored();
        out.push_back({Barrier{}});
        when(build_.make(Op::Less, {slice, build_.integer(half)}), build_, out, [&](Block& block) {
            each(0, [&](LocalId total, Address at) {
                const ExprId other = build_.load(a_.to, std::move(at));
                block.push_back({Set{total, build_.make(Op::Add, {build_.get(total), other})}});
            });
        });
        out.push_back({Barrier{}});
    }
}

void DeviceTile::store(ExprId row_tile, ExprId column_tile, Block& out) {
    struct Point {
        ExprId inside;
        Vars vars;
    };
    const auto points = [&](const Operand& operand, ExprId tile, VarId own, int64_t factor) {
        std::array<Point, kOwn> result;
        const int64_t apart = factor == 1 ? side_ / kOwn : 1;
        for (int64_t i = 0; i < kOwn; ++i) {
            Address at;
            at.offset = i * apart;
            at.add(own, factor);
            const ExprId first = build_.make(Op::Mul, {tile, build_.integer(side_)});
            const ExprId number = bound(build_.make(Op::Add, {first, build_.sum(at)}), out);
            result[static_cast<size_t>(i)] = {below(number, operand.extent, tiles(operand) * side_),
                                              take_apart(number, operand.loops, out)};
        }
        return result;
    };
    const auto rows = points(rows_, row_tile, y_, kOwn);
    const auto columns = points(columns_, column_tile, x_, 1);
    for (size_t i = 0; i < kOwn; ++i) {
        for (size_t j = 0; j < kOwn; ++j) {
            bind(rows_.loops, rows[i].vars);
            bind(columns_.loops, columns[j].vars);
            const ExprId inside = build_.make(Op::And, {rows[i].inside, columns[j].inside});
            when(inside, build_, out, [&](Block& block) {
                steps_.store_total(build_.get(totals_[i][j]), block);
            });
        }
    }
}

void DeviceTile::make() {
    steps_.add_arguments();
    f_.group = items_ * slices_;
    f_.items = total_elements(groups(side_), f_.group);
    result_.schedule = fmt::format("tile {0}x{0} of threads", side_);
    if (slices_ > 1) result_.schedule += fmt::format(", {} slices", slices_);
    Block& out = f_.body;
    const ExprId items = build_.integer(items_), all = build_.integer(f_.group);
    const ExprId item = build_.index(f_.item);
    const ExprId across = build_.integer(side_ / kOwn);
    const auto new_var = [&](ExprId value) {
        const VarId var = build_.var({});
        out.push_back({Bind{var, value}});
        return var;
    };
    const ExprId in_group = bound(build_.make(Op::Mod, {item, all}), out);
    slice_ = new_var(build_.make(Op::Div, {in_group, items}));
    thread_ = new_var(build_.make(Op::Mod, {in_group, items}));
    x_ = new_var(build_.make(Op::Mod, {build_.index(thread_), across}));
    y_ = new_var(build_.make(Op::Div, {build_.index(thread_), across}));
    const ExprId group = bound(build_.make(Op::Div, {item, all}), out);
    const ExprId column_tiles = build_.integer(tiles(columns_));
    const ExprId row_tiles = build_.integer(tiles(rows_));
    const ExprId column_tile = bound(build_.make(Op::Mod, {group, column_tiles}), out);
    const ExprId rest = bound(build_.make(Op::Div, {group, column_tiles}), out);
    const ExprId row_tile = bound(build_.make(Op::Mod, {rest, row_tiles}), out);
    bind(batch_, take_apart(bound(build_.make(Op::Div, {rest, row_tiles}), out), batch_, out));
    a_ = prepare(rows_, row_tile, out);
    b_ = prepare(columns_, column_tile, out);
    for (auto& row : totals_) {
        for (LocalId& total : row) {
            total = build_.local({Kind::F32, 1});
            out.push_back({Set{total, build_.real(0, Kind::F32)}});
        }
    }
    const VarId section = build_.var({});
    For sections{section, build_.integer(0), build_.integer(sum_), slices_ * kSection, {}};
    copy(rows_, a_, section, sections.body);
    copy(columns_, b_, section, sections.body);
    sections.body.push_back({Barrier{}});
    multiply(sections.body);
    sections.body.push_back({Barrier{}});
    out.push_back({std::move(sections)});
    join_slices(out);
    const ExprId first = build_.make(Op::Equal, {build_.index(slice_), build_.integer(0)});
    when(slices_ > 1 ? first : build_.boolean(true), build_, out, [&](Block& block) {
        store(row_tile, column_tile, block);
    });
}

}  // namespace

bool schedule_device_tile(const NestContext& context,
                          const NestShape& shape,
                          NestSteps& steps,
                          ScheduledKernel& result,
                          Lowering& lower) {
    DeviceTile tile(context, shape, steps, result, lower);
    if (!tile.find()) return false;
    tile.make();
    return true;
}

}  // namespace lemma::loop

// SPDX-License-Identifier: Apache-2.0
// Maps whose result is contiguous along one variable and whose operand is contiguous along another:
// square tiles are read row by row, transposed in registers, and stored row by row.
#include <algorithm>

#include "base/checked.h"
#include "loop/schedule/nest.h"

namespace lemma::loop {

namespace {

constexpr int64_t kFarApart = 5;  // elements; nearer ones are picked from whole vectors
constexpr int64_t kLeastColumns = 4;
// Lines of the first cache that lie so many bytes apart compete for one set, which has room for
// eight of them and more, but not for 16.
constexpr int64_t kSetBytes = 4096;
constexpr int64_t kMostRows = 16;
constexpr int64_t kMostSteps = int64_t{1} << 30;
constexpr int64_t kTogether = 4;  // blocks of rows, of which lines are read side by side

class TransposedKernel {
public:
    explicit TransposedKernel(const NestContext& context)
        : context_(context), pool_(context.pool), lower_(pool_, context.places, result_) {}

    std::optional<ScheduledKernel> make();

private:
    // Elements along one variable, from `first` on.
    struct Side {
        Address first;
        int64_t count;  // at most the number of lanes
    };
    bool find_sides();
    bool is_turned(const Expr& read) const;
    bool is_even(const Expr& read) const;
    void merge(VarId inner, int64_t& extent);
    void choose_blocks();
    int64_t blocks() const { return (rows_ + height_ - 1) / height_; }
    void decode_item(Block& out);
    void strip(const Side& rows, int64_t together, Block& out);
    void tiles(const Side& rows, int64_t together, const Side& columns, Block& out);
    void tile(const Side& rows, const Side& columns, Block& out);
    std::vector<ExprId> turned(const Expr& read, const Side& rows, const Side& columns, Block& out);
    void bind_lanes(VarId var, const Side& side);
    void bind_one(VarId var, const Side& side, int64_t index);
    int64_t stride(const Expr& read, VarId var) const {
        return context_.stride(tensor_of(read), read.args, var);
    }

    const NestContext& context_;
    StagePool& pool_;
    ScheduledKernel result_;
    Lowering lower_;
    Builder& build_ = lower_.build;
    VarId lane_;                      // the result is contiguous along it
    VarId row_;                       // transposed operands are contiguous along it
    int64_t columns_ = 0, rows_ = 0;  // steps of both, with those of merged loops
    std::vector<VarId> merged_;
    std::vector<std::pair<ExprId, Expr>> turned_;
    int64_t height_ = 0;    // rows of a block
    int64_t together_ = 1;  // blocks of an item
    VarId item_;            // the item's number along the rows
};

bool TransposedKernel::is_turned(const Expr& read) const {
    return stride(read, row_) == 1 && std::abs(stride(read, lane_)) >= kFarApart;
}

bool TransposedKernel::is_even(const Expr& read) const {
    return stride(read, lane_) >= 0 && stride(read, lane_) < kFarApart;
}

bool TransposedKernel::find_sides() {
    const Stage& stage = context_.stage;
    const StageWrite& write = stage.writes[0];
    std::vector<std::pair<ExprId, Expr>> reads;
    pool_.visit_reads(write.value, [&](ExprId id, const Expr& e) { reads.emplace_back(id, e); });
    const int64_t lanes = context_.target.lanes();
    for (const StageLoop& loop : stage.loops) {
        // Tiles that are half full are still faster than elements one by one.
        const bool long_enough = loop.extent >= kLeastColumns && 2 * loop.extent >= lanes;
        if (context_.stride(write.tensor, write.index, loop.var) == 1 && long_enough) {
            lane_ = loop.var;
        }
    }
    if (!lane_.valid()) return false;
    for (const StageLoop& loop : stage.loops) {
        if (loop.var == lane_ || loop.extent < lanes) continue;
        row_ = loop.var;
        turned_.clear();
        bool good = true;
        for (const auto& read : reads) {
            const bool turns = is_turned(read.second) && read.second.type.kind == Kind::F32;
            if (turns) turned_.push_back(read);
            good &= turns || is_even(read.second);
        }
        if (good && !turned_.empty()) return true;
    }
    return false;
}

std::optional<ScheduledKernel> TransposedKernel::make() {
    const Stage& stage = context_.stage;
    if (!is_plain(stage) || !find_sides()) return std::nullopt;
    Faults faults(pool_, context_.places);
    const StageWrite& write = stage.writes[0];
    if (faults.of(write.value).valid() || faults.outside(write.tensor, write.index).valid()) {
        return std::nullopt;
    }
    Function& function = result_.function;
    function.name = "transposed";
    function.item = build_.var("item");
    merge(lane_, columns_);
    merge(row_, rows_);
    choose_blocks();
    decode_item(function.body);
    const int64_t whole = rows_ / (height_ * together_);
    const int64_t rest = rows_ % (height_ * together_);
    Side rows{{}, height_};
    rows.first.add(item_, height_ * together_);
    if (rest == 0) {
        strip(rows, together_, function.body);
    } else {
        const ExprId item = build_.index(item_);
        If all{build_.make(Op::Less, {item, build_.integer(whole)}), {}};
        strip(rows, together_, all.body);
        function.body.push_back({std::move(all)});
        If last{build_.make(Op::Equal, {item, build_.integer(whole)}), {}};
        if (rest >= height_) strip(rows, rest / height_, last.body);
        rows.first.offset = rest / height_ * height_;
        rows.count = rest % height_;
        if (rows.count > 0) strip(rows, 1, last.body);
        function.body.push_back({std::move(last)});
    }
    result_.schedule = "turned x" + std::to_string(context_.target.lanes());
    return std::move(result_);
}

// Loops whose steps continue those of the inner one, like the rows of an image, become part of it.
void TransposedKernel::merge(VarId inner, int64_t& extent) {
    extent = pool_.extent(inner);
    const std::vector<StageLoop>& loops = context_.stage.loops;
    bool again = true;
    while (again) {
        again = false;
        for (const StageLoop& loop : loops) {
            const bool taken = loop.var == lane_ || loop.var == row_ ||
                               std::ranges::find(merged_, loop.var) != merged_.end();
            const auto steps = checked_mul(loop.extent, extent);
            if (taken || !steps || *steps > kMostSteps) continue;
            if (!can_collapse(context_.stage, pool_, context_.places, loop.var, inner, extent)) {
                continue;
            }
            lower_.bind(loop.var, Address{});
            merged_.push_back(loop.var);
            extent = *steps;
            again = true;
        }
    }
}

// Rows of the result that compete are written eight at a time. Where columns of an operand compete,
// each is read several lines at a time, which the processor fetches ahead.
void TransposedKernel::choose_blocks() {
    height_ = context_.target.lanes();
    const auto competes = [](tensor::DType dtype, int64_t stride) {
        return stride * tensor::dtype_size(dtype) % kSetBytes == 0;
    };
    const auto dtype = [&](ir::TensorId id) { return context_.places.at(id).dtype; };
    const StageWrite& write = context_.stage.writes[0];
    const int64_t written = context_.stride(write.tensor, write.index, row_);
    const bool apart = competes(dtype(write.tensor), written);
    const bool columns_apart = std::ranges::any_of(turned_, [&](const auto& read) {
        return competes(dtype(tensor_of(read.second)), stride(read.second, lane_));
    });
    if (apart == columns_apart) return;
    if (columns_apart) together_ = std::min(kTogether, rows_ / height_);
    if (apart && height_ == kMostRows) height_ /= 2;
}

// Items are blocks of rows, for all values of the variables outside the tiles.
void TransposedKernel::decode_item(Block& out) {
    Function& function = result_.function;
    const int64_t items = (blocks() + together_ - 1) / together_;
    item_ = build_.var({});
    ExprId rest = build_.index(function.item);
    out.push_back({Bind{item_, build_.make(Op::Mod, {rest, build_.integer(items)})}});
    rest = build_.make(Op::Div, {rest, build_.integer(items)});
    function.items = items;
    for (const StageLoop& loop : context_.stage.loops) {
        const bool merged = std::ranges::find(merged_, loop.var) != merged_.end();
        if (merged || loop.var == lane_ || loop.var == row_) continue;
        const VarId var = build_.var({});
        const ExprId extent = build_.integer(loop.extent);
        out.push_back({Bind{var, build_.make(Op::Mod, {rest, extent})}});
        rest = build_.make(Op::Div, {rest, extent});
        function.items *= loop.extent;
        lower_.bind(loop.var, var);
    }
}

// All tiles of so many blocks of rows.
void TransposedKernel::strip(const Side& rows, int64_t together, Block& out) {
    const int64_t lanes = context_.target.lanes();
    const int64_t whole = columns_ / lanes;
    const VarId var = build_.var({});
    For all{var, build_.integer(0), build_.integer(whole), 1, {}};
    Side columns{{}, lanes};
    columns.first.add(var, lanes);
    tiles(rows, together, columns, all.body);
    out.push_back({std::move(all)});
    columns.first = {};
    columns.first.offset = whole * lanes;
    columns.count = columns_ % lanes;
    if (columns.count > 0) tiles(rows, together, columns, out);
}

// The tiles of these columns, one for each block of rows.
void TransposedKernel::tiles(const Side& rows, int64_t together, const Side& columns, Block& out) {
    if (together == 1) return tile(rows, columns, out);
    const VarId var = build_.var({});
    For all{var, build_.integer(0), build_.integer(together), 1, {}};
    Side block = rows;
    block.first.add(var, height_);
    tile(block, columns, all.body);
    out.push_back({std::move(all)});
}

void TransposedKernel::bind_lanes(VarId var, const Side& side) {
    Address at = side.first;
    at.add(lower_.lane_var, 1);
    lower_.bind(var, std::move(at));
    const uint16_t lanes = context_.target.lanes();
    ExprId mask;
    if (side.count < lanes) {
        mask = build_.make(Op::Less, {build_.ramp(lanes), build_.integer(side.count)});
    }
    lower_.set_lanes(lanes, mask);
}

void TransposedKernel::bind_one(VarId var, const Side& side, int64_t index) {
    Address at = side.first;
    at.offset += index;
    lower_.bind(var, std::move(at));
}

// One vector per row, with the columns in its lanes.
std::vector<ExprId> TransposedKernel::turned(const Expr& read,
                                             const Side& rows,
                                             const Side& columns,
                                             Block& out) {
    const uint16_t lanes = context_.target.lanes();
    std::vector<ExprId> vectors;
    for (int64_t column = 0; column < columns.count; ++column) {
        bind_one(lane_, columns, column);
        bind_lanes(row_, rows);
        vectors.push_back(lower_.load(tensor_of(read), read.args));
        out.push_back({Let{vectors.back()}});
    }
    vectors.resize(lanes, build_.spread(build_.real(0, Kind::F32), lanes));
    for (size_t size = lanes / 2; size > 0; size /= 2) {
        for (size_t i = 0; i < lanes; ++i) {
            if (i / size % 2 == 1) continue;
            const ExprId a = vectors[i], b = vectors[i + size];
            vectors[i] = build_.halves(Op::FirstHalves, a, b, static_cast<int64_t>(size));
            vectors[i + size] = build_.halves(Op::SecondHalves, a, b, static_cast<int64_t>(size));
        }
    }
    return vectors;
}

void TransposedKernel::tile(const Side& rows, const Side& columns, Block& out) {
    std::vector<std::vector<ExprId>> operands;
    for (const auto& [id, read] : turned_) operands.push_back(turned(read, rows, columns, out));
    const StageWrite& write = context_.stage.writes[0];
    for (int64_t row = 0; row < rows.count; ++row) {
        bind_one(row_, rows, row);
        bind_lanes(lane_, columns);
        for (size_t i = 0; i < turned_.size(); ++i) {
            lower_.define(turned_[i].first, operands[i][static_cast<size_t>(row)]);
        }
        out.push_back(lower_.store(write.tensor, write.index, lower_.value(write.value)));
    }
}

}  // namespace

std::optional<ScheduledKernel> schedule_transposed(const NestContext& context) {
    return TransposedKernel(context).make();
}

}  // namespace lemma::loop

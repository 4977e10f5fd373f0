// SPDX-License-Identifier: Apache-2.0
// Maps whose result is contiguous along one variable and whose operand is contiguous along another:
// square tiles are read row by row, transposed in registers, and stored row by row.
#include <algorithm>

#include "loop/schedule/nest.h"

namespace lemma::loop {

namespace {

constexpr int64_t kFarApart = 5;  // elements; nearer ones are picked from whole vectors
constexpr int64_t kLeastColumns = 4;

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
    void decode_item(Block& out);
    void strip(const Side& rows, Block& out);
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
    VarId lane_;  // the result is contiguous along it
    VarId row_;   // transposed operands are contiguous along it
    std::vector<std::pair<ExprId, Expr>> turned_;
    VarId block_;  // of rows
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
    decode_item(function.body);
    const int64_t lanes = context_.target.lanes();
    const int64_t whole = pool_.extent(row_) / lanes;
    const int64_t rest = pool_.extent(row_) % lanes;
    Side rows{{}, lanes};
    rows.first.add(block_, lanes);
    if (rest == 0) {
        strip(rows, function.body);
    } else {
        const ExprId block = build_.index(block_);
        If all{build_.make(Op::Less, {block, build_.integer(whole)}), {}};
        strip(rows, all.body);
        function.body.push_back({std::move(all)});
        If last{build_.make(Op::Equal, {block, build_.integer(whole)}), {}};
        rows.count = rest;
        strip(rows, last.body);
        function.body.push_back({std::move(last)});
    }
    result_.schedule = "turned x" + std::to_string(lanes);
    return std::move(result_);
}

// Items are blocks of rows, for all values of the variables outside the tiles.
void TransposedKernel::decode_item(Block& out) {
    const int64_t lanes = context_.target.lanes();
    Function& function = result_.function;
    const int64_t blocks = (pool_.extent(row_) + lanes - 1) / lanes;
    block_ = build_.var({});
    ExprId rest = build_.index(function.item);
    out.push_back({Bind{block_, build_.make(Op::Mod, {rest, build_.integer(blocks)})}});
    rest = build_.make(Op::Div, {rest, build_.integer(blocks)});
    function.items = blocks;
    for (const StageLoop& loop : context_.stage.loops) {
        if (loop.var == lane_ || loop.var == row_) continue;
        const VarId var = build_.var({});
        const ExprId extent = build_.integer(loop.extent);
        out.push_back({Bind{var, build_.make(Op::Mod, {rest, extent})}});
        rest = build_.make(Op::Div, {rest, extent});
        function.items *= loop.extent;
        lower_.bind(loop.var, var);
    }
}

// All tiles of one block of rows.
void TransposedKernel::strip(const Side& rows, Block& out) {
    const int64_t lanes = context_.target.lanes();
    const int64_t whole = pool_.extent(lane_) / lanes;
    const VarId var = build_.var({});
    For all{var, build_.integer(0), build_.integer(whole), 1, {}};
    Side columns{{}, lanes};
    columns.first.add(var, lanes);
    tile(rows, columns, all.body);
    out.push_back({std::move(all)});
    columns.first = {};
    columns.first.offset = whole * lanes;
    columns.count = pool_.extent(lane_) % lanes;
    if (columns.count > 0) tile(rows, columns, out);
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

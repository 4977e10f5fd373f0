// SPDX-License-Identifier: Apache-2.0
// Maps for a device that transpose an operand: a group copies a square of it to its memory, along
// the rows of the operand, and computes elements along the rows of the result.
#include <algorithm>
#include <optional>

#include "loop/schedule/device/device.h"

namespace lemma::loop {

namespace {

constexpr int64_t kSide = kWarp;                 // of a square
constexpr int64_t kRows = kDeviceGroup / kSide;  // of a square at a time
constexpr int64_t kLeastExtent = 16;
constexpr size_t kMostOperands = 2;

class DeviceTranspose {
public:
    DeviceTranspose(const NestContext& context,
                    const NestShape& shape,
                    NestSteps& steps,
                    ScheduledKernel& result,
                    Lowering& lower)
        : context_(context),
          shape_(shape),
          steps_(steps),
          result_(result),
          lower_(lower),
          build_(lower.build) {}

    bool find();
    void make();

private:
    int64_t stride(ir::TensorId tensor, const std::vector<ExprId>& index, VarId var) const {
        return context_.stride(tensor, index, var);
    }
    bool add(ExprId id, const Expr& read);
    ExprId bind(VarId down, int64_t row);
    ExprId is_whole();
    Address place(VarId down, VarId right, int64_t row) const;
    void copy(bool whole, Block& out);
    void compute(bool whole, Block& out);

    const NestContext& context_;
    const NestShape& shape_;
    NestSteps& steps_;
    ScheduledKernel& result_;
    Lowering& lower_;
    Builder& build_;
    NestLoop along_, across_;        // the innermost loops of the result and of the operands
    std::vector<ExprId> reads_;      // of the operands
    std::vector<BufferId> squares_;  // and their parts in the memory of the group
    VarId along_tile_, across_tile_, x_, y_;
};

// Whether neighbours along another loop than the innermost one lie side by side.
bool DeviceTranspose::add(ExprId id, const Expr& read) {
    const int64_t here = stride(tensor_of(read), read.args, along_.var);
    if (here == 0 || here == 1 || here == INT64_MAX) return false;
    for (const NestLoop& loop : shape_.outputs) {
        if (stride(tensor_of(read), read.args, loop.var) != 1) continue;
        if (across_.var.valid() && across_.var != loop.var) return false;
        across_ = loop;
        reads_.push_back(id);
        return true;
    }
    return false;
}

bool DeviceTranspose::find() {
    const Stage& stage = context_.stage;
    const bool map = is_plain(stage) && shape_.reductions.empty() && !context_.run_time;
    if (!map || shape_.outputs.size() < 2 || steps_.may_fail()) return false;
    along_ = shape_.outputs.back();
    const StageWrite& write = stage.writes[0];
    if (stride(write.tensor, write.index, along_.var) != 1) return false;
    context_.pool.visit_reads(write.value, [&](ExprId id, const Expr& e) { add(id, e); });
    if (reads_.empty() || reads_.size() > kMostOperands) return false;
    return std::min(along_.extent, across_.extent) >= kLeastExtent;
}

// Whether all of the square, or an item of it, lies inside. Binds both loops to the item: the loop
// `down` has its row.
ExprId DeviceTranspose::bind(VarId down, int64_t row) {
    ExprId all = build_.boolean(true);
    const auto one = [&](const NestLoop& loop, VarId tile) {
        Address at;
        at.add(tile, kSide);
        at.add(loop.var == down ? y_ : x_, 1);
        at.offset = loop.var == down ? row : 0;
        if (loop.extent % kSide != 0) {
            const ExprId end = build_.integer(loop.extent);
            all = build_.make(Op::And, {all, build_.make(Op::Less, {build_.sum(at), end})});
        }
        lower_.bind(loop.var, std::move(at));
    };
    one(along_, along_tile_);
    one(across_, across_tile_);
    return all;
}

ExprId DeviceTranspose::is_whole() {
    ExprId all = build_.boolean(true);
    const auto one = [&](const NestLoop& loop, VarId tile) {
        if (loop.extent % kSide == 0) return;
        const ExprId whole = build_.integer(loop.extent / kSide);
        all = build_.make(Op::And, {all, build_.make(Op::Less, {build_.index(tile), whole})});
    };
    one(along_, along_tile_);
    one(across_, across_tile_);
    return all;
}

// The place of an item in the memory of the group.
Address DeviceTranspose::place(VarId down, VarId right, int64_t row) const {
    Address at;
    at.offset = row;
    at.add(down, kSide + 1);  // rows begin in other banks
    at.add(right, 1);
    return at;
}

// Copies the operands of all rows; the loads do not wait for each other.
void DeviceTranspose::copy(bool whole, Block& out) {
    std::vector<Stmt> stores;
    for (int64_t row = 0; row < kSide; row += kRows) {
        const ExprId inside = bind(along_.var, row);
        when(whole ? build_.boolean(true) : inside, build_, out, [&](Block& block) {
            for (size_t i = 0; i < reads_.size(); ++i) {
                const ExprId value = lower_.value(reads_[i]);
                Stmt store{StoreStmt{squares_[i], place(y_, x_, row * (kSide + 1)), value, {}}};
                if (whole) block.push_back({Let{value}});
                (whole ? stores : block).push_back(std::move(store));
            }
        });
    }
    for (Stmt& store : stores) out.push_back(std::move(store));
}

void DeviceTranspose::compute(bool whole, Block& out) {
    for (int64_t row = 0; row < kSide; row += kRows) {
        const ExprId inside = bind(across_.var, row);
        when(whole ? build_.boolean(true) : inside, build_, out, [&](Block& block) {
            for (size_t i = 0; i < reads_.size(); ++i) {
                lower_.define(reads_[i], build_.load(squares_[i], place(x_, y_, row)));
            }
            steps_.element(block);
        });
    }
}

void DeviceTranspose::make() {
    Function& f = result_.function;
    result_.schedule = "transposed by groups";
    f.group = kDeviceGroup;
    const auto tiles = [](const NestLoop& loop) { return (loop.extent + kSide - 1) / kSide; };
    std::vector<NestLoop> others = shape_.outputs;
    std::erase_if(others, [&](const NestLoop& loop) {
        return loop.var == along_.var || loop.var == across_.var;
    });
    const int64_t squares = total_elements(tiles(along_), tiles(across_));
    f.items = total_elements(total_elements(squares, elements_of(others)), f.group);
    steps_.add_arguments();
    Block& out = f.body;
    const auto new_var = [&](Op op, ExprId value, int64_t by) {
        const VarId var = build_.var({});
        out.push_back({Bind{var, build_.make(op, {value, build_.integer(by)})}});
        return var;
    };
    const ExprId item = build_.index(f.item);
    x_ = new_var(Op::Mod, item, kSide);
    const VarId thread = new_var(Op::Mod, item, f.group);
    y_ = new_var(Op::Div, build_.index(thread), kSide);
    const VarId group = new_var(Op::Div, item, f.group);
    along_tile_ = new_var(Op::Mod, build_.index(group), tiles(along_));
    const VarId rest = new_var(Op::Div, build_.index(group), tiles(along_));
    across_tile_ = new_var(Op::Mod, build_.index(rest), tiles(across_));
    const VarId other = new_var(Op::Div, build_.index(rest), tiles(across_));
    NestLoops(others, {}, context_.target, result_, lower_)
        .bind_items(build_.index(other), others.size(), out);
    for (const ExprId id : reads_) {
        const tensor::DType dtype = context_.places.at(tensor_of(context_.pool[id])).dtype;
        squares_.push_back(build_.shared(dtype, kSide * (kSide + 1)));
    }
    const ExprId whole = is_whole(), cut = build_.make(Op::Not, {whole});
    when(whole, build_, out, [&](Block& block) { copy(true, block); });
    when(cut, build_, out, [&](Block& block) { copy(false, block); });
    build_.stored();
    out.push_back({Barrier{}});
    when(whole, build_, out, [&](Block& block) { compute(true, block); });
    when(cut, build_, out, [&](Block& block) { compute(false, block); });
}

}  // namespace

bool schedule_device_transpose(const NestContext& context,
                               const NestShape& shape,
                               NestSteps& steps,
                               ScheduledKernel& result,
                               Lowering& lower) {
    DeviceTranspose transpose(context, shape, steps, result, lower);
    if (!transpose.find()) return false;
    transpose.make();
    return true;
}

}  // namespace lemma::loop

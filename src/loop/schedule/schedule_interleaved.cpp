// SPDX-License-Identifier: Apache-2.0
// Maps whose result interleaves a few rows, as a channel shuffle does: the result is contiguous
// along a short variable and its rows are contiguous along another. A vector of each row is
// computed, and the vectors are interleaved in registers. Several writes may do so alike, such as
// those of pairs of terms (terms.h).
#include <algorithm>
#include <array>
#include <bit>

#include "loop/schedule/nest.h"

namespace lemma::loop {

namespace {

constexpr int64_t kEnoughItems = 64;

class InterleavedKernel {
public:
    explicit InterleavedKernel(const NestContext& context)
        : context_(context), pool_(context.pool), lower_(pool_, context.places, result_) {}

    std::optional<ScheduledKernel> make();

private:
    bool is_map() const;
    bool find_variables();
    bool reads_rows(const StageWrite& write) const;
    bool is_alike(const StageWrite& write) const;
    bool may_fail() const;
    void outer_loops(Block& out);
    void row(Block& out);
    void part(const Address& first, int64_t count, Block& out);
    void store(const StageWrite& write,
               const std::vector<ExprId>& vectors,
               const Address& first,
               int64_t count,
               Block& out);
    std::vector<ExprId> interleaved(std::vector<ExprId> vectors);
    ExprId mask(int64_t count);
    int64_t lanes() const { return context_.target.lanes(); }

    const NestContext& context_;
    StagePool& pool_;
    ScheduledKernel result_;
    Lowering lower_;
    Builder& build_ = lower_.build;
    VarId way_;  // the result is contiguous along it
    int64_t ways_ = 0;
    VarId row_;  // the operands are contiguous along it
};

bool InterleavedKernel::find_variables() {
    const Stage& stage = context_.stage;
    const StageWrite& write = stage.writes[0];
    const auto step = [&](VarId var) { return context_.stride(write.tensor, write.index, var); };
    for (const StageLoop& loop : stage.loops) {
        const auto extent = static_cast<uint64_t>(loop.extent);
        const bool fits = loop.extent > 1 && loop.extent < lanes() && std::has_single_bit(extent);
        if (step(loop.var) != 1 || !fits) continue;
        way_ = loop.var;
        ways_ = loop.extent;
    }
    if (!way_.valid()) return false;
    for (const StageLoop& loop : stage.loops) {
        if (loop.var != way_ && step(loop.var) == ways_ && loop.extent >= lanes()) row_ = loop.var;
    }
    return row_.valid() && std::ranges::all_of(stage.writes, [&](const StageWrite& other) {
               return is_alike(other) && reads_rows(other);
           });
}

// Whether every step assigns one element for each write, without guards or a condition.
bool InterleavedKernel::is_map() const {
    const Stage& stage = context_.stage;
    return stage.combine == ir::FormulaOp::Assign && !stage.writes.empty() && !stage.empty &&
           stage.guards.empty() && !stage.condition.valid() &&
           (stage.writes.size() == 1 || any_order(stage, pool_));
}

// Whether the write has the steps of the first one.
bool InterleavedKernel::is_alike(const StageWrite& write) const {
    const StageWrite& first = context_.stage.writes[0];
    return std::ranges::all_of(std::array{way_, row_}, [&](VarId var) {
        return context_.stride(write.tensor, write.index, var) ==
               context_.stride(first.tensor, first.index, var);
    });
}

bool InterleavedKernel::may_fail() const {
    Faults faults(pool_, context_.places);
    return std::ranges::any_of(context_.stage.writes, [&](const StageWrite& write) {
        return faults.of(write.value).valid() || faults.outside(write.tensor, write.index).valid();
    });
}

// Whether a vector along the row needs no gathering.
bool InterleavedKernel::reads_rows(const StageWrite& write) const {
    const tensor::DType dtype = context_.places.at(write.tensor).dtype;
    bool good = pool_[write.value].type.kind == Kind::F32 &&
                (dtype == tensor::DType::F32 || dtype == tensor::DType::BF16);
    bool any = false;
    pool_.visit_reads(write.value, [&](ExprId, const Expr& read) {
        const int64_t step = context_.stride(tensor_of(read), read.args, row_);
        good = good && (step == 0 || step == 1);
        any = any || step == 1;
    });
    return good && any;
}

std::optional<ScheduledKernel> InterleavedKernel::make() {
    if (!is_map() || !find_variables() || may_fail()) return std::nullopt;
    Function& function = result_.function;
    function.name = "interleaved";
    function.item = build_.var("item");
    outer_loops(function.body);
    result_.schedule = "interleaved x" + std::to_string(lanes());
    return std::move(result_);
}

// The outermost loops become items.
void InterleavedKernel::outer_loops(Block& out) {
    Function& function = result_.function;
    std::vector<StageLoop> items, inside;
    function.items = 1;
    for (const StageLoop& loop : context_.stage.loops) {
        if (loop.var == way_ || loop.var == row_) continue;
        if (function.items >= kEnoughItems) {
            inside.push_back(loop);
            continue;
        }
        items.push_back(loop);
        function.items *= loop.extent;
    }
    ExprId rest = build_.index(function.item);
    for (size_t i = items.size(); i-- > 0;) {
        const VarId var = build_.var({});
        const ExprId extent = build_.integer(items[i].extent);
        out.push_back({Bind{var, i == 0 ? rest : build_.make(Op::Mod, {rest, extent})}});
        rest = build_.make(Op::Div, {rest, extent});
        lower_.bind(items[i].var, var);
    }
    std::vector<For> loops;
    for (const StageLoop& loop : inside) {
        const VarId var = build_.var({});
        lower_.bind(loop.var, var);
        loops.push_back({var, build_.integer(0), build_.integer(loop.extent), 1, {}});
    }
    Block body;
    row(body);
    for (size_t i = loops.size(); i-- > 0;) {
        loops[i].body = std::move(body);
        body = {};
        body.push_back({std::move(loops[i])});
    }
    for (Stmt& stmt : body) out.push_back(std::move(stmt));
}

void InterleavedKernel::row(Block& out) {
    const int64_t whole = pool_.extent(row_) / lanes();
    const int64_t rest = pool_.extent(row_) % lanes();
    const VarId var = build_.var({});
    For all{var, build_.integer(0), build_.integer(whole), 1, {}};
    Address first;
    first.add(var, lanes());
    part(first, lanes(), all.body);
    out.push_back({std::move(all)});
    first = {};
    first.offset = whole * lanes();
    if (rest > 0) part(first, rest, out);
}

ExprId InterleavedKernel::mask(int64_t count) {
    if (count >= lanes()) return {};
    return build_.make(Op::Less, {build_.ramp(context_.target.lanes()), build_.integer(count)});
}

// `count` elements of all rows.
void InterleavedKernel::part(const Address& first, int64_t count, Block& out) {
    std::vector<std::vector<ExprId>> results;
    for (const StageWrite& write : context_.stage.writes) {
        std::vector<ExprId> vectors;
        for (int64_t way = 0; way < ways_; ++way) {
            Address here = first;
            here.add(lower_.lane_var, 1);
            lower_.bind(row_, std::move(here));
            Address number;
            number.offset = way;
            lower_.bind(way_, std::move(number));
            lower_.set_lanes(context_.target.lanes(), mask(count));
            vectors.push_back(build_.spread(lower_.value(write.value), context_.target.lanes()));
            out.push_back({Let{vectors.back()}});
        }
        results.push_back(interleaved(std::move(vectors)));
    }
    for (size_t i = 0; i < results.size(); ++i) {
        store(context_.stage.writes[i], results[i], first, count, out);
    }
}

// The result is contiguous from the first element of the first row on.
void InterleavedKernel::store(const StageWrite& write,
                              const std::vector<ExprId>& vectors,
                              const Address& first,
                              int64_t count,
                              Block& out) {
    for (int64_t i = 0; i < ways_ && i * lanes() < count * ways_; ++i) {
        Address here = first;
        here.offset += i * lanes() / ways_;
        lower_.bind(row_, std::move(here));
        Address lane;
        lane.add(lower_.lane_var, 1);
        lower_.bind(way_, std::move(lane));
        lower_.set_lanes(context_.target.lanes(), mask(count * ways_ - i * lanes()));
        out.push_back(lower_.store(write.tensor, write.index, vectors[static_cast<size_t>(i)]));
    }
}

// An element is named by the bits of its vector's number and of its lane. Each step exchanges one
// bit of the former with one of the latter, until the lanes have the order of the result.
std::vector<ExprId> InterleavedKernel::interleaved(std::vector<ExprId> vectors) {
    const int way_bits = std::countr_zero(static_cast<uint64_t>(ways_));
    const int lane_bits = std::countr_zero(static_cast<uint64_t>(lanes()));
    // The bits of the result's index, from the lowest: those of the way, then those of the column.
    std::vector<int> of_vector, of_lane;
    for (int bit = 0; bit < way_bits; ++bit) of_vector.push_back(bit);
    for (int bit = 0; bit < lane_bits; ++bit) of_lane.push_back(way_bits + bit);
    for (int bit = 0; bit < lane_bits; ++bit) {
        int& lane = of_lane[static_cast<size_t>(bit)];
        const auto at = std::ranges::find(of_vector, bit);
        if (at == of_vector.end()) continue;
        const auto apart = size_t{1} << (at - of_vector.begin());
        for (size_t i = 0; i < vectors.size(); ++i) {
            if (i & apart) continue;
            const ExprId a = vectors[i], b = vectors[i + apart];
            vectors[i] = build_.halves(Op::FirstHalves, a, b, int64_t{1} << bit);
            vectors[i + apart] = build_.halves(Op::SecondHalves, a, b, int64_t{1} << bit);
        }
        std::swap(*at, lane);
    }
    std::vector<ExprId> sorted(vectors.size());
    for (size_t i = 0; i < vectors.size(); ++i) {
        size_t to = 0;
        for (size_t bit = 0; bit < of_vector.size(); ++bit) {
            if (i >> bit & 1) to |= size_t{1} << (of_vector[bit] - lane_bits);
        }
        sorted[to] = vectors[i];
    }
    return sorted;
}

}  // namespace

std::optional<ScheduledKernel> schedule_interleaved(const NestContext& context) {
    return InterleavedKernel(context).make();
}

}  // namespace lemma::loop

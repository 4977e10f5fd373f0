// SPDX-License-Identifier: Apache-2.0
// Several stages in one kernel for a device. The items of a warp or of a group compute a row. They
// keep its elements in registers from stage to stage, and read and write memory once. Rows that are
// too long for that go through memory, with a barrier between stages; rows side by side are one for
// each item.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "loop/schedule/device/device.h"

namespace lemma::loop {

namespace {

constexpr int64_t kShortRow = 4;     // elements of a row for one item
constexpr int64_t kMostHeld = 16;    // elements that an item of a group holds
constexpr int64_t kMostInWarp = 32;  // and an item of a warp
constexpr int64_t kFewRows = 256;    // they should have groups
constexpr int64_t kLongRow = 512;    // of few rows
constexpr int64_t kFewItems = 4096;  // for rows that lie side by side: groups read them better
constexpr int64_t kGroup = 128;      // items of a group with several rows
constexpr int64_t kVectorBytes = 16;

// Whether a value in a register is the one that the tensor would have.
bool is_exact(tensor::DType dtype) {
    return dtype == tensor::DType::F32 || dtype == tensor::DType::F64 ||
           dtype == tensor::DType::I64 || dtype == tensor::DType::Bool;
}

class DeviceRows {
public:
    DeviceRows(const std::vector<Stage>& stages,
               const RowGroup& rows,
               StagePool& pool,
               const BufferViews& places,
               const Target& target)
        : stages_(stages),
          rows_(rows),
          pool_(pool),
          target_(target),
          places_(row_places(stages, rows, pool, places)),
          lower_(pool, places_, result_),
          build_(lower_.build) {}

    ScheduledKernel make();

private:
    using Index = std::vector<ExprId>;

    NestContext context(const Stage& stage) { return {stage, pool_, places_, target_}; }
    bool is_number(ir::TensorId id) const { return rows_.numbers.contains(id); }
    const NestLoop* inner(size_t stage) const;
    void find_shapes();
    void choose_form();
    bool are_side_by_side();
    bool can_hold();
    int64_t choose_lanes();
    Index canonical(size_t stage, const Index& index);
    template <class Visit>
    void each_write(size_t stage, const Visit& visit) const;
    template <class Visit>
    void each_read(size_t stage, const Visit& visit) const;
    bool is_stored(size_t stage, ir::TensorId id) const;
    void add_arguments();
    void bind_rows(Block& out);
    void hold_number(const Stage& stage, ExprId number, Block& out);

    // In registers.
    void make_chunks(Block& out);
    void bind_chunk(size_t stage, size_t chunk);
    ExprId reduce(size_t stage, Block& out);
    void map(size_t stage, Block& out);
    void keep(size_t stage, size_t chunk, const StageWrite& write, Block& out);
    ExprId over_row(Op combine, ExprId part, Block& out);
    void in_registers(size_t stage, Block& out);

    // In memory.
    void in_memory(size_t stage, Block& out);
    void map_in_memory(size_t stage, Block& out);

    const std::vector<Stage>& stages_;
    const RowGroup& rows_;
    StagePool& pool_;
    const Target& target_;
    BufferViews places_;
    ScheduledKernel result_;
    Lowering lower_;
    Builder& build_;
    std::vector<NestLoop> loops_;
    std::vector<VarId> vars_;
    std::vector<NestShape> shapes_;             // by stage: the loops inside a row, collapsed
    std::vector<std::vector<NestLoop>> inner_;  // and before
    int64_t count_ = 1, length_ = 1;            // of rows; of the longest one
    int64_t threads_ = 1, lanes_ = 1;           // of a row; of a vector
    bool held_ = false;                         // in registers
    VarId thread_;
    ExprId inside_;  // whether there is such a row; missing: always
    // A vector of the row: its position, and whether there is one; missing: always.
    struct Chunk {
        VarId position;
        ExprId valid;
    };
    std::vector<Chunk> chunks_;
    // What a tensor of the group has in each chunk.
    std::unordered_map<ir::TensorId, std::vector<ExprId>, IdHash> values_;
};

// ---- The choice ---------------------------------------------------------------------------------

// The only loop of the stage inside a row; null if there is none.
const NestLoop* DeviceRows::inner(size_t stage) const {
    const NestShape& shape = shapes_[stage];
    const auto& loops = shape.reductions.empty() ? shape.outputs : shape.reductions;
    return loops.empty() ? nullptr : &loops[0];
}

void DeviceRows::find_shapes() {
    for (const StageLoop& loop : rows_.loops) {
        loops_.push_back({loop.var, loop.extent});
        vars_.push_back(loop.var);
        count_ = total_elements(count_, loop.extent);
    }
    const StageWrite& write = stages_.back().writes[0];
    std::ranges::stable_sort(loops_, std::greater(), [&](const NestLoop& loop) {
        return std::abs(context(stages_.back()).stride(write.tensor, write.index, loop.var));
    });
    for (const Stage& stage : stages_) {
        NestShape shape = find_loops(context(stage), vars_);
        inner_.push_back(shape.reductions.empty() ? shape.outputs : shape.reductions);
        collapse(context(stage), shape, lower_);
        length_ = std::max({length_, elements_of(shape.reductions), elements_of(shape.outputs)});
        shapes_.push_back(std::move(shape));
    }
}

template <class Visit>
void DeviceRows::each_write(size_t stage, const Visit& visit) const {
    visit(stages_[stage].writes[0]);
    if (stages_[stage].kept) visit(*stages_[stage].kept);
}

template <class Visit>
void DeviceRows::each_read(size_t stage, const Visit& visit) const {
    for_each_value(stages_[stage], [&](ExprId value) {
        pool_.visit_reads(value, [&](ExprId at, const Expr& e) {
            if (at != stages_[stage].total && !is_number(tensor_of(e))) visit(at, e);
        });
    });
}

// Whether neighbours in memory are elements of different rows.
bool DeviceRows::are_side_by_side() {
    for (size_t i = stages_.size(); i-- > 0 && !loops_.empty();) {
        if (!inner(i)) continue;
        bool across = false, along = false;
        const auto look = [&](ir::TensorId tensor, const Index& index) {
            across |= context(stages_[i]).stride(tensor, index, loops_.back().var) == 1;
            along |= context(stages_[i]).stride(tensor, index, inner(i)->var) == 1;
        };
        each_read(i, [&](ExprId, const Expr& e) { look(tensor_of(e), e.args); });
        return across && !along;
    }
    return false;
}

// The index with the variables of the first stage that has loops.
DeviceRows::Index DeviceRows::canonical(size_t stage, const Index& index) {
    const auto first =
        std::ranges::find_if(inner_, [](const auto& loops) { return !loops.empty(); });
    std::unordered_map<VarId, ExprId, IdHash> with;
    for (size_t i = 0; i < inner_[stage].size(); ++i) {
        with[inner_[stage][i].var] = pool_.build.index((*first)[i].var);
    }
    Index result;
    for (const ExprId part : index) result.push_back(pool_.substitute(part, with));
    return result;
}

// Whether all stages have one loop over the same elements, and read only those elements of each
// other's results that the item has computed.
bool DeviceRows::can_hold() {
    const std::vector<NestLoop>* first = nullptr;
    std::unordered_map<ir::TensorId, Index, IdHash> written;
    for (size_t i = 0; i < stages_.size(); ++i) {
        const NestShape& shape = shapes_[i];
        const size_t loops = shape.reductions.size() + shape.outputs.size();
        if (loops > 1) return false;
        if (loops == 1) {
            if (!first) first = &inner_[i];
            if (!std::ranges::equal(*first, inner_[i], {}, &NestLoop::extent, &NestLoop::extent)) {
                return false;
            }
        }
        bool good = true;
        each_read(i, [&](ExprId, const Expr& e) {
            const auto made = written.find(tensor_of(e));
            if (made == written.end()) return;
            good &= loops == 1 && canonical(i, e.args) == made->second;
            good &= is_exact(places_.at(tensor_of(e)).dtype);
        });
        if (!good) return false;
        if (!shape.outputs.empty()) {
            const StageWrite& write = stages_[i].writes[0];
            written[write.tensor] = canonical(i, write.index);
        }
        if (const auto& kept = stages_[i].kept) {
            written[kept->tensor] = canonical(i, kept->index);
        }
    }
    return first != nullptr;
}

// The lanes of vectors along the rows.
int64_t DeviceRows::choose_lanes() {
    int64_t least = INT64_MAX;
    bool good = true;
    std::vector<int64_t> apart;  // rows in memory
    for (size_t i = 0; i < stages_.size(); ++i) {
        if (!inner(i)) continue;
        const auto look = [&](ir::TensorId tensor, const Index& index) {
            if (is_number(tensor)) return;
            const int64_t stride = context(stages_[i]).stride(tensor, index, inner(i)->var);
            good &= stride == 0 || stride == 1;
            if (stride != 1) return;
            least = std::min(least, tensor::dtype_size(places_.at(tensor).dtype));
            for (const NestLoop& loop : loops_) {
                apart.push_back(context(stages_[i]).stride(tensor, index, loop.var));
            }
        };
        each_read(i, [&](ExprId, const Expr& e) { look(tensor_of(e), e.args); });
        each_write(i, [&](const StageWrite& write) {
            if (shapes_[i].reductions.empty() || &write != stages_[i].writes.data()) {
                look(write.tensor, write.index);
            }
        });
    }
    if (!good || least > kVectorBytes) return 1;
    const int64_t lanes = std::min<int64_t>(kVectorBytes / least, 8);
    const bool whole = length_ % lanes == 0 && std::ranges::all_of(apart, [&](int64_t stride) {
                           return stride != INT64_MAX && stride % lanes == 0;
                       });
    return whole ? lanes : 1;
}

void DeviceRows::choose_form() {
    const bool many = count_ >= kFewItems || length_ < kLongRow;
    if ((many && are_side_by_side()) || length_ <= kShortRow) return;
    held_ = can_hold();
    if (held_) lanes_ = choose_lanes();
    const int64_t vectors = (length_ + lanes_ - 1) / lanes_;
    const auto holds = [&](int64_t threads, int64_t most) {
        return (vectors + threads - 1) / threads * lanes_ <= most;
    };
    threads_ = std::min(kWarp, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(vectors))));
    const bool few = count_ < kFewRows && length_ >= kLongRow;
    if (held_ && !few && holds(threads_, kMostInWarp)) return;
    threads_ = kGroup;
    while (threads_ < kMostGroup && !holds(threads_, few ? kMostHeld / 2 : kMostHeld))
        threads_ *= 2;
    held_ = held_ && holds(threads_, kMostHeld);
    if (!held_) lanes_ = 1;
}

// ---- Rows ---------------------------------------------------------------------------------------

// Whether the kernel writes the tensor in the stage: a later stage may write it again.
bool DeviceRows::is_stored(size_t stage, ir::TensorId id) const {
    if (is_number(id)) return false;
    if (!held_) return true;
    bool again = false;
    for (size_t i = stage + 1; i < stages_.size(); ++i) {
        each_write(i, [&](const StageWrite& write) { again |= write.tensor == id; });
    }
    return !again;
}

// Before memory of a group.
void DeviceRows::add_arguments() {
    std::unordered_set<ir::TensorId, IdHash> made;
    for (size_t i = 0; i < stages_.size(); ++i) {
        each_read(i, [&](ExprId, const Expr& e) {
            if (!held_ || !made.contains(tensor_of(e))) lower_.buffer(tensor_of(e), false);
        });
        each_write(i, [&](const StageWrite& write) {
            if (is_stored(i, write.tensor)) lower_.buffer(write.tensor, true);
            made.insert(write.tensor);
        });
    }
}

void DeviceRows::bind_rows(Block& out) {
    Function& f = result_.function;
    const ExprId item = build_.index(f.item);
    f.group = threads_ > kWarp ? threads_ : threads_ == 1 ? kDeviceGroup : kGroup;
    f.items = total_elements(count_, threads_);
    if (threads_ > 1) f.items = (f.items + kWarp - 1) / kWarp * kWarp;
    thread_ = build_.var("thread");
    const ExprId threads = build_.integer(threads_);
    out.push_back({Bind{thread_, build_.make(Op::Mod, {item, threads})}});
    ExprId row = build_.make(Op::Div, {item, threads});
    if (f.items != total_elements(count_, threads_)) {
        inside_ = build_.make(Op::Less, {row, build_.integer(count_)});
        row = build_.make(Op::Min, {row, build_.integer(count_ - 1)});
    }
    NestLoops(loops_, {}, target_, result_, lower_).bind_items(row, loops_.size(), out);
}

// The number of a row, for the stages behind it; maybe others need it, too.
void DeviceRows::hold_number(const Stage& stage, ExprId number, Block& out) {
    const StageWrite& write = stage.writes[0];
    number = build_.cast(number, kind_of(places_.at(write.tensor).dtype));
    out.push_back({Let{number}});
    lower_.forget_values();
    lower_.hold(write.tensor, number);
    if (is_number(write.tensor)) return;
    ExprId first = build_.make(Op::Equal, {build_.index(thread_), build_.integer(0)});
    if (inside_.valid()) first = build_.make(Op::And, {first, inside_});
    when(first, build_, out, [&](Block& block) {
        block.push_back(lower_.store(write.tensor, write.index, number));
    });
}

// ---- In registers -------------------------------------------------------------------------------

// An item has every n-th vector of the row. Behind its end, it has the last one again.
void DeviceRows::make_chunks(Block& out) {
    const int64_t vectors = length_ / lanes_;
    for (int64_t first = 0; first < vectors; first += threads_) {
        Address at;
        at.offset = first;
        at.add(thread_, 1);
        ExprId position = build_.sum(at);
        Chunk chunk{build_.var({}), {}};
        if (first + threads_ > vectors) {
            chunk.valid = build_.make(Op::Less, {position, build_.integer(vectors)});
            position = build_.make(Op::Min, {position, build_.integer(vectors - 1)});
        }
        out.push_back({Bind{chunk.position, position}});
        chunks_.push_back(chunk);
    }
}

// Binds the loop of the stage to a vector, whose elements may already be known.
void DeviceRows::bind_chunk(size_t stage, size_t chunk) {
    Address at;
    at.add(chunks_[chunk].position, lanes_);
    if (lanes_ > 1) at.add(lower_.lane_var, 1);
    lower_.bind(inner(stage)->var, std::move(at));
    each_read(stage, [&](ExprId id, const Expr& e) {
        const auto held = values_.find(tensor_of(e));
        if (held != values_.end()) lower_.define(id, held->second[chunk]);
    });
}

void DeviceRows::keep(size_t stage, size_t chunk, const StageWrite& write, Block& out) {
    const Kind kind = kind_of(places_.at(write.tensor).dtype);
    const ExprId value =
        build_.spread(build_.cast(lower_.value(write.value), kind), static_cast<uint16_t>(lanes_));
    out.push_back({Let{value}});
    if (is_stored(stage, write.tensor)) {
        ExprId valid = chunks_[chunk].valid.valid() ? chunks_[chunk].valid : build_.boolean(true);
        if (inside_.valid()) valid = build_.make(Op::And, {valid, inside_});
        when(valid, build_, out, [&](Block& block) {
            block.push_back(lower_.store(write.tensor, write.index, value));
        });
    }
    std::vector<ExprId>& held = values_[write.tensor];
    held.resize(chunks_.size());
    held[chunk] = value;
}

ExprId DeviceRows::over_row(Op combine, ExprId part, Block& out) {
    if (threads_ == 1) return part;
    const ExprId sum = over_warp(build_, combine, part, std::min(threads_, kWarp), out);
    if (threads_ <= kWarp) return sum;
    return over_warps(build_, {combine, sum, thread_, threads_}, out);
}

ExprId DeviceRows::reduce(size_t stage, Block& out) {
    const Stage& s = stages_[stage];
    const StageWrite& write = s.writes[0];
    NestSteps steps(context(s), shapes_[stage], result_, lower_);
    const Kind held =
        s.finish.valid() ? pool_[s.total].type.kind : kind_of(places_.at(write.tensor).dtype);
    const Kind kind = std::max(pool_[write.value].type.kind, held);
    const Type type{kind, static_cast<uint16_t>(lanes_)};
    const Op combine = combining_op(s.combine);
    const ExprId neutral = steps.neutral(type);
    lower_.set_lanes(type.lanes, {});
    ExprId sum;
    for (size_t i = 0; i < chunks_.size(); ++i) {
        bind_chunk(stage, i);
        const ExprId given = lower_.value(write.value);
        const Expr e = build_[given];
        const bool product =
            combine == Op::Add && e.op == Op::Mul && e.type == type && type.real() && sum.valid();
        ExprId next = build_.spread(build_.cast(given, kind), type.lanes);
        if (s.kept) {
            out.push_back({Let{next}});
            keep(stage, i, *s.kept, out);
        }
        const ExprId valid = chunks_[i].valid;
        if (valid.valid()) next = build_.select(build_.spread(valid, type.lanes), next, neutral);
        if (product && !valid.valid()) {
            sum = build_.make(Op::Fma, {e.args[0], e.args[1], sum});
        } else {
            sum = sum.valid() ? build_.make(combine, {sum, next}) : next;
        }
        out.push_back({Let{sum}});
    }
    lower_.set_lanes(1, {});
    if (lanes_ > 1) sum = build_.make(lanes_op(s.combine), {sum});
    const ExprId start = build_.cast(steps.starting_value(), kind);
    const ExprId total = build_.make(combine, {start, over_row(combine, sum, out)});
    return steps.finished(total, out);
}

void DeviceRows::map(size_t stage, Block& out) {
    lower_.set_lanes(static_cast<uint16_t>(lanes_), {});
    for (size_t i = 0; i < chunks_.size(); ++i) {
        bind_chunk(stage, i);
        keep(stage, i, stages_[stage].writes[0], out);
    }
    lower_.set_lanes(1, {});
}

void DeviceRows::in_registers(size_t stage, Block& out) {
    lower_.forget_values();
    const NestShape& shape = shapes_[stage];
    if (!shape.outputs.empty()) return map(stage, out);
    const Stage& s = stages_[stage];
    const bool sum = !shape.reductions.empty();
    hold_number(s, sum ? reduce(stage, out) : lower_.value(s.writes[0].value), out);
}

// ---- In memory ----------------------------------------------------------------------------------

void DeviceRows::map_in_memory(size_t stage, Block& out) {
    const std::vector<NestLoop>& loops = shapes_[stage].outputs;
    NestSteps steps(context(stages_[stage]), shapes_[stage], result_, lower_);
    NestLoops all(loops, {}, target_, result_, lower_);
    if (threads_ == 1) return all.all(out, [&](Block& body) { steps.element(body); });
    const VarId step = build_.var({});
    For body{step, build_.index(thread_), build_.integer(elements_of(loops)), threads_, {}};
    all.bind_items(build_.index(step), loops.size(), body.body);
    steps.element(body.body);
    out.push_back({std::move(body)});
}

void DeviceRows::in_memory(size_t stage, Block& out) {
    lower_.forget_values();
    const Stage& s = stages_[stage];
    const NestShape& shape = shapes_[stage];
    if (!shape.outputs.empty()) {
        map_in_memory(stage, out);
    } else if (accumulates(s)) {
        NestSteps steps(context(s), shape, result_, lower_);
        const auto longest = std::ranges::max_element(shape.reductions, {}, &NestLoop::extent);
        if (threads_ > 1 && longest != shape.reductions.end()) {
            steps.share({longest->var, thread_, threads_, {}, {}});
        }
        hold_number(s, steps.total({}, out), out);
    } else {
        hold_number(s, lower_.value(s.writes[0].value), out);
    }
    // The items have other elements in the next stage.
    if (threads_ > 1 && stage + 1 < stages_.size()) out.push_back({Barrier{}});
}

ScheduledKernel DeviceRows::make() {
    Function& function = result_.function;
    function.item = build_.var("item");
    function.name = "rows";
    lower_.has_library = false;
    find_shapes();
    choose_form();
    Block& out = function.body;
    add_arguments();
    bind_rows(out);
    if (held_) make_chunks(out);
    for (size_t i = 0; i < stages_.size(); ++i) held_ ? in_registers(i, out) : in_memory(i, out);
    result_.schedule = threads_ == 1 ? "rows, a thread each"
                       : held_       ? fmt::format("rows x{}, {} threads", lanes_, threads_)
                                     : fmt::format("rows in memory, {} threads", threads_);
    return std::move(result_);
}

}  // namespace

ScheduledKernel schedule_device_rows(const std::vector<Stage>& stages,
                                     const RowGroup& rows,
                                     StagePool& pool,
                                     const BufferViews& places,
                                     const Target& target) {
    return DeviceRows(stages, rows, pool, places, target).make();
}

}  // namespace lemma::loop

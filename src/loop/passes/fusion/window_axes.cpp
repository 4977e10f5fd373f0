// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/fusion/window_axes.h"

#include <cmath>

#include "loop/passes/fusion/rows_impl.h"

namespace lemma::loop {

namespace {

// A step of loops around a whole window takes this many times as long as one of unrolled loops.
constexpr double kLoopCost = 2;
constexpr double kCopyCost = 0.75;   // of an element of the border or inside it
constexpr int64_t kMostTaps = 1024;  // longer sums are in double

class WindowSplitter {
public:
    WindowSplitter(RegionGraph& region, const Target& target, FusionGroup& group)
        : graph_(region.graph),
          pool_(region.graph.pool),
          build_(region.graph.pool.build),
          layouts_(region.layouts),
          target_(target),
          group_(group) {}

    bool run() {
        if (!is_candidate() || !find_axes() || !are_guards_covered() || !choose_passes()) {
            return false;
        }
        rewrite();
        return true;
    }

private:
    // Element stride * output + dilation * tap + offset of the source.
    struct Axis {
        size_t number = 0;  // of the tensors
        VarId output, tap;  // the tap may be missing
        int64_t stride = 1, dilation = 0, offset = 0;
        int64_t outputs = 1, taps = 1, extent = 1;
        int64_t below = 0, above = 0;  // elements of the border
        bool done = false;             // one element for each output

        int64_t padded() const { return below + extent + above; }
    };
    // A part of the scratch memory, in order.
    struct Plane {
        int64_t first = 0;
        std::vector<int64_t> extents;
    };
    using Pass = std::vector<size_t>;  // axes, by their place in `axes_`

    Stage& stage() { return group_.stages[0]; }
    const Stage& stage() const { return group_.stages[0]; }
    bool is_candidate() const;
    // The index without the promise that it is inside the source.
    ExprId plain(ExprId index) const {
        while (pool_[index].op == Op::Assume) index = pool_[index].args[0];
        return index;
    }
    bool find_axes();
    bool add_window(size_t number, VarId output, ExprId index, int64_t extent);
    bool are_guards_covered() const;
    bool choose_passes();
    double cost_of(const std::vector<Pass>& passes, double& bytes) const;

    void rewrite();
    Plane new_plane();
    Stage over_plane(const Plane& to, std::vector<ExprId>& index);
    ExprId flat(const Plane& plane, const std::vector<ExprId>& index);
    void surround();
    void one_pass(const Pass& pass);
    void last_pass(const Pass& pass);
    ExprId read(const std::vector<ExprId>& index);
    ExprId position(const Axis& axis, ExprId output, VarId tap);
    ExprId neutral() const;

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    const Layouts& layouts_;
    const Target& target_;
    FusionGroup& group_;
    std::vector<Axis> axes_;         // of the plane, outermost first
    std::vector<StageLoop> rows_;    // planes
    std::vector<ExprId> row_index_;  // of the source, before the axes of the plane
    std::vector<Pass> passes_;
    std::vector<Stage> made_;
    ir::TensorId source_, scratch_;
    int64_t scratch_elements_ = 0;
    std::optional<Plane> from_;  // read by the next pass; missing: the source
};

bool WindowSplitter::is_candidate() const {
    const Stage& s = stage();
    const bool known = s.combine == ir::FormulaOp::Max || s.combine == ir::FormulaOp::Min ||
                       s.combine == ir::FormulaOp::Sum;
    if (!known || !s.initial.valid() || s.writes.size() != 1 || s.empty || s.kept ||
        s.condition.valid() || !s.inverses.empty() || !s.sizes.empty()) {
        return false;
    }
    for (const StageLoop& loop : s.loops) {
        if (pool_.end(loop.var).valid()) return false;
    }
    const Expr& value = pool_[s.writes[0].value];
    if (value.op != Op::Read || value.type.kind != Kind::F32) return false;
    for (const ir::TensorId id : {tensor_of(value), s.writes[0].tensor}) {
        if (graph_.dtypes.at(id) != tensor::DType::F32 || layouts_.innermost.contains(id)) {
            return false;
        }
    }
    return tensor_of(value) != s.writes[0].tensor;
}

// First the axes of planes, whose variable is the index in the source and the result; then windows.
bool WindowSplitter::find_axes() {
    const StageWrite& write = stage().writes[0];
    const Expr source = pool_[write.value];
    const tensor::Shape& shape = graph_.shapes.at(tensor_of(source));
    if (source.args.size() != write.index.size()) return false;
    for (size_t i = 0; i < source.args.size(); ++i) {
        const auto output = as_var(pool_, write.index[i]);
        const bool same = source.args[i] == write.index[i];
        const bool first =
            axes_.empty() && same && (output || pool_[source.args[i]].op == Op::Constant);
        if (first) {
            if (output && pool_.extent(*output) != shape[i]) return false;
            if (output) rows_.push_back({*output, shape[i]});
            row_index_.push_back(source.args[i]);
        } else if (!output || !add_window(i, *output, source.args[i], shape[i])) {
            return false;
        }
    }
    const auto wide = std::ranges::count_if(axes_, [](const Axis& axis) { return axis.taps > 1; });
    size_t vars = rows_.size();
    for (const Axis& axis : axes_) vars += axis.tap.valid() ? 2 : 1;
    return wide >= 2 && !rows_.empty() && vars == stage().loops.size();
}

bool WindowSplitter::add_window(size_t number, VarId output, ExprId index, int64_t extent) {
    index = plain(index);
    const auto affine = pool_.affine(index);
    if (!affine || affine->dynamic.valid() || affine->terms.size() > 2) return false;
    Axis axis{.number = number, .output = output, .offset = affine->offset};
    axis.outputs = pool_.extent(output);
    axis.extent = extent;
    bool found = false;
    for (const AddressTerm& term : affine->terms) {
        if (term.factor < 1 || term.factor > INT32_MAX) return false;
        if (term.var == output) {
            axis.stride = term.factor;
            found = true;
            continue;
        }
        const bool other = std::ranges::any_of(
            stage().writes[0].index, [&](ExprId id) { return pool_.depends(id, term.var); });
        const bool twice =
            std::ranges::any_of(axes_, [&](const Axis& before) { return before.tap == term.var; });
        if (other || twice) return false;
        axis.tap = term.var;
        axis.dilation = term.factor;
        axis.taps = pool_.extent(term.var);
    }
    const StagePool::Range range = pool_.range(index);
    if (!found || axis.outputs > INT32_MAX || range.low < -INT32_MAX || range.high > INT32_MAX) {
        return false;
    }
    axis.below = std::max<int64_t>(0, -range.low);
    axis.above = std::max<int64_t>(0, range.high - (extent - 1));
    axes_.push_back(axis);
    return true;
}

// Steps are skipped where the element is outside the source, and there only.
bool WindowSplitter::are_guards_covered() const {
    const Expr& source = pool_[stage().writes[0].value];
    for (const StageGuard& guard : stage().guards) {
        const bool good = std::ranges::any_of(axes_, [&](const Axis& axis) {
            return plain(guard.index) == plain(source.args[axis.number]) &&
                   guard.extent == axis.extent;
        });
        if (!good || guard.end.valid()) return false;
    }
    return std::ranges::all_of(axes_, [&](const Axis& axis) {
        const bool inside = axis.below == 0 && axis.above == 0;
        return inside || std::ranges::any_of(stage().guards, [&](const StageGuard& guard) {
                   return plain(guard.index) == plain(source.args[axis.number]);
               });
    });
}

// In steps, for one plane; and the memory of the planes.
double WindowSplitter::cost_of(const std::vector<Pass>& passes, double& bytes) const {
    std::vector<double> extents;
    double plane = 1;
    bool border = false;
    for (const Axis& axis : axes_) {
        extents.push_back(static_cast<double>(axis.padded()));
        plane *= extents.back();
        border |= axis.below > 0 || axis.above > 0;
    }
    double cost = border ? kCopyCost * plane : 0;
    double elements = border ? plane : 0;
    for (const Pass& pass : passes) {
        double taps = 1;
        for (const size_t at : pass) {
            plane = plane / extents[at] * static_cast<double>(axes_[at].outputs);
            extents[at] = static_cast<double>(axes_[at].outputs);
            taps *= static_cast<double>(axes_[at].taps);
        }
        cost += plane * (taps + 1);
        elements += plane;
    }
    bytes = 4 * elements;
    return cost;
}

// Each axis by itself, or all but the last at once.
bool WindowSplitter::choose_passes() {
    double best = kLoopCost;
    double planes = 1;
    for (const StageLoop& loop : rows_) planes *= static_cast<double>(loop.extent);
    double taps = 1;
    for (const Axis& axis : axes_) {
        best *= static_cast<double>(axis.outputs) * static_cast<double>(axis.taps);
        taps *= static_cast<double>(axis.taps);
    }
    if (taps > kMostTaps) return false;
    if (planes < kEnoughRows && planes * best > kFewSteps) return false;
    std::vector<Pass> single, two(1);
    for (size_t i = 0; i < axes_.size(); ++i) {
        single.push_back({i});
        if (i + 1 < axes_.size()) two[0].push_back(i);
    }
    two.push_back({axes_.size() - 1});
    for (const std::vector<Pass>& passes : {single, two}) {
        double bytes = 0;
        const double cost = cost_of(passes, bytes);
        if (cost >= best || bytes > static_cast<double>(target_.l2_bytes) / 2) continue;
        best = cost;
        passes_ = passes;
    }
    return !passes_.empty();
}

// ---- Stages -------------------------------------------------------------------------------------

ExprId WindowSplitter::neutral() const {
    const ir::FormulaOp combine = stage().combine;
    if (combine == ir::FormulaOp::Sum) return build_.real(0, Kind::F32);
    return build_.real(combine == ir::FormulaOp::Max ? -HUGE_VAL : HUGE_VAL, Kind::F32);
}

// One element for each output along the axes that are done.
WindowSplitter::Plane WindowSplitter::new_plane() {
    Plane plane{.first = scratch_elements_, .extents = {}};
    int64_t elements = 1;
    for (const Axis& axis : axes_) {
        plane.extents.push_back(axis.done ? axis.outputs : axis.padded());
        elements *= plane.extents.back();
    }
    scratch_elements_ += elements;
    return plane;
}

ExprId WindowSplitter::flat(const Plane& plane, const std::vector<ExprId>& index) {
    ExprId at = build_.integer(plane.first);
    int64_t stride = 1;
    for (size_t i = index.size(); i-- > 0;) {
        const ExprId part = build_.make(Op::Mul, {index[i], build_.integer(stride)});
        at = build_.make(Op::Add, {at, part});
        stride *= plane.extents[i];
    }
    return at;
}

// A stage that assigns each element of the plane; its value is missing.
Stage WindowSplitter::over_plane(const Plane& to, std::vector<ExprId>& index) {
    Stage result;
    result.combine = ir::FormulaOp::Assign;
    result.loops = rows_;
    for (const int64_t extent : to.extents) {
        index.push_back(build_.integer(0));
        if (extent == 1) continue;
        const VarId var = pool_.new_var(extent);
        result.loops.push_back({var, extent});
        index.back() = build_.index(var);
    }
    result.writes.push_back({scratch_, {flat(to, index)}, {}});
    return result;
}

// An element of the source or of the last plane.
ExprId WindowSplitter::read(const std::vector<ExprId>& index) {
    if (from_) return build_.read(scratch_.value, Kind::F32, {flat(*from_, index)});
    std::vector<ExprId> all = row_index_;
    all.insert(all.end(), index.begin(), index.end());
    return build_.read(source_.value, Kind::F32, std::move(all));
}

ExprId WindowSplitter::position(const Axis& axis, ExprId output, VarId tap) {
    ExprId at = build_.make(Op::Mul, {output, build_.integer(axis.stride)});
    if (tap.valid()) {
        const ExprId step =
            build_.make(Op::Mul, {build_.index(tap), build_.integer(axis.dilation)});
        at = build_.make(Op::Add, {at, step});
    }
    return build_.make(Op::Add, {at, build_.integer(axis.offset + axis.below)});
}

// Copies the plane of the source into one with a border of neutral elements.
void WindowSplitter::surround() {
    const auto has_border = [](const Axis& axis) { return axis.below > 0 || axis.above > 0; };
    if (std::ranges::none_of(axes_, has_border)) return;
    const Plane plane = new_plane();
    std::vector<ExprId> index;
    Stage fill = over_plane(plane, index);
    fill.writes[0].value = neutral();
    made_.push_back(std::move(fill));
    Plane inside = plane;
    for (size_t i = 0; i < axes_.size(); ++i) inside.extents[i] = axes_[i].extent;
    index.clear();
    Stage copy = over_plane(inside, index);
    copy.writes[0].value = read(index);
    for (size_t i = 0; i < axes_.size(); ++i) {
        index[i] = build_.make(Op::Add, {index[i], build_.integer(axes_[i].below)});
    }
    copy.writes[0].index = {flat(plane, index)};
    made_.push_back(std::move(copy));
    from_ = plane;
}

void WindowSplitter::one_pass(const Pass& pass) {
    std::vector<std::optional<Axis>> reduced(axes_.size());
    for (const size_t at : pass) {
        reduced[at] = axes_[at];
        axes_[at].done = true;
    }
    const Plane to = new_plane();
    std::vector<ExprId> index;
    Stage made = over_plane(to, index);
    made.combine = stage().combine;
    made.initial = neutral();
    for (size_t i = 0; i < axes_.size(); ++i) {
        if (!reduced[i]) continue;
        VarId tap;
        if (reduced[i]->tap.valid()) {
            tap = pool_.new_var(reduced[i]->taps);
            made.loops.push_back({tap, reduced[i]->taps});
        }
        index[i] = position(*reduced[i], index[i], tap);
    }
    made.writes[0].value = read(index);
    made_.push_back(std::move(made));
    from_ = to;
}

// The stage itself, with the variables of its result.
void WindowSplitter::last_pass(const Pass& pass) {
    std::vector<ExprId> index;
    for (size_t i = 0; i < axes_.size(); ++i) {
        const Axis& axis = axes_[i];
        const ExprId output = build_.index(axis.output);
        const bool here = std::ranges::find(pass, i) != pass.end();
        index.push_back(here ? position(axis, output, axis.tap) : output);
        if (here || !axis.tap.valid()) continue;
        std::erase_if(stage().loops, [&](const StageLoop& loop) { return loop.var == axis.tap; });
    }
    stage().writes[0].value = read(index);
    stage().guards.clear();
}

void WindowSplitter::rewrite() {
    source_ = tensor_of(pool_[stage().writes[0].value]);
    scratch_ = graph_.new_tensor(tensor::DType::F32, {0});
    graph_.scratch.insert(scratch_);
    group_.writes.push_back(scratch_);
    surround();
    for (size_t i = 0; i + 1 < passes_.size(); ++i) one_pass(passes_[i]);
    last_pass(passes_.back());
    made_.push_back(std::move(stage()));
    group_.stages = std::move(made_);
    group_.rows = RowGroup{rows_, {}};
    graph_.shapes[scratch_] = {scratch_elements_};
    find_reads(graph_, group_);
}

}  // namespace

int separate_windows(RegionGraph& region, const Target& target) {
    if (region.graph.pool.strict) return 0;
    int count = 0;
    for (FusionGroup& group : region.graph.groups) {
        if (!is_one_stage(group)) continue;
        if (WindowSplitter(region, target, group).run()) ++count;
    }
    return count;
}

}  // namespace lemma::loop

// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/pipeline.h"

#include <fmt/format.h>

#include "base/check.h"
#include "loop/passes/contraction/contract.h"
#include "loop/passes/contraction/fold.h"
#include "loop/passes/contraction/layouts.h"
#include "loop/passes/contraction/pack.h"
#include "loop/passes/contraction/split.h"
#include "loop/passes/contraction/squares.h"
#include "loop/passes/contraction/terms.h"
#include "loop/passes/contraction/windows.h"
#include "loop/passes/fusion/fuse.h"
#include "loop/passes/fusion/fuse_dynamic.h"
#include "loop/passes/fusion/hoist.h"
#include "loop/passes/fusion/rows.h"
#include "loop/passes/fusion/siblings.h"
#include "loop/passes/fusion/store_along.h"
#include "loop/passes/fusion/window_axes.h"
#include "loop/passes/graph_text.h"
#include "loop/passes/memory/boundary.h"
#include "loop/passes/memory/carry.h"
#include "loop/passes/memory/concat.h"
#include "loop/passes/memory/in_place.h"
#include "loop/passes/memory/views.h"
#include "loop/passes/memory/when.h"
#include "loop/passes/prepare/exact.h"
#include "loop/passes/prepare/lift.h"
#include "loop/passes/prepare/once.h"
#include "loop/passes/prepare/order.h"
#include "loop/passes/prepare/parts.h"
#include "loop/passes/prepare/resample.h"
#include "loop/passes/prepare/reshape.h"
#include "loop/passes/prepare/unused.h"
#include "loop/passes/prepare/zeros.h"
#include "loop/passes/quantised/distribute.h"
#include "loop/passes/quantised/extremes.h"
#include "loop/passes/quantised/identities.h"
#include "loop/passes/quantised/integers.h"
#include "loop/passes/verify.h"

namespace lemma::loop {

namespace {

// Adapters: a pass over the graph alone, and a pass over the region.
template <int (*pass)(StageGraph&)>
int on_graph(RegionGraph& region, const PassOptions&) {
    return pass(region.graph);
}
template <int (*pass)(RegionGraph&)>
int on_region(RegionGraph& region, const PassOptions&) {
    return pass(region);
}

int hoist(RegionGraph& region, const PassOptions&) {
    const int made = hoist_constants(region.graph);
    if (made > 0) fuse(region.graph);
    return made;
}
int siblings(RegionGraph& region, const PassOptions& options) {
    return merge_siblings(region.graph, options.target, options.least_gain);
}
int windows(RegionGraph& region, const PassOptions& options) {
    return find_windows(region.graph, options.target, options.numerics, options.window_share);
}
int terms(RegionGraph& region, const PassOptions& options) {
    return find_terms(region, options.target, options.numerics, options.term_share);
}
int layout(RegionGraph& region, const PassOptions&) {
    region.layouts = choose_layouts(region.graph, region.fixed);
    return static_cast<int>(region.layouts.innermost.size() + region.layouts.halos.size());
}
// Without the copies, other groups may run before the loop or the first run.
int views(RegionGraph& region, const PassOptions&) {
    const int found = find_views(region);
    find_when(region);
    return found;
}
int window_axes(RegionGraph& region, const PassOptions& options) {
    return separate_windows(region, options.target);
}
int rows(RegionGraph& region, const PassOptions& options) {
    return share_rows(region, options.target);
}
int squares(RegionGraph& region, const PassOptions& options) {
    return find_squares(region.graph, options.numerics);
}
int pack(RegionGraph& region, const PassOptions& options) {
    return pack_weights(region, options.target, options.numerics);
}

constexpr auto kPlanner = PassPhase::Planner;
constexpr auto kStages = PassPhase::Stages;
constexpr auto kOptimise = PassPhase::Optimise;
constexpr auto kPlaced = PassPhase::Placed;

}  // namespace

// clang-format off
const std::vector<Pass>& pipeline() {
    static const std::vector<Pass> passes = {
        // The planner makes stages from formulas (stage.h). Each operation passes scatter.h, init.h
        // and widen.h by itself; the interpreter runs operations without stages.
        {"stages", kPlanner, {}, nullptr,
         "each group is one operation"},
        {"zeros", kStages, {"stages"}, on_graph<add_zeros>,
         "kernels write every element that is read"},
        {"once", kStages, {"zeros"}, on_region<mark_once>,
         "what depends on constants alone runs once"},
        {"boundary", kStages, {"once"}, on_region<find_boundary>,
         "it is known what others see"},

        {"order", kOptimise, {"stages"}, on_region<order_groups>,
         "the file decides no order"},
        {"parts", kOptimise, {"zeros"}, on_graph<separate_parts>,
         "a split is a group for each part"},
        {"reshape", kOptimise, {"parts"}, on_graph<compose_reshapes>,
         "flat copies are not read"},
        {"unused", kOptimise, {"reshape"}, on_graph<drop_unused>,
         "every group is needed"},
        {"resample", kOptimise, {"unused"}, on_graph<separate_axes>,
         "interpolations take one axis at a time"},
        {"lift", kOptimise, {"unused", "boundary"}, on_region<lift_sums>,
         "sums over items are before the loop"},
        {"exact", kOptimise, {"unused"}, on_graph<compute_exactly>,
         "what float represents is not a double"},
        {"integers", kOptimise, {"exact", "boundary"}, on_region<find_integer_sums>,
         "sums of quantised products are sums of integers"},
        {"extremes", kOptimise, {"exact"}, on_graph<find_byte_extremes>,
         "maxima of quantised numbers are those of bytes"},
        {"fuse_dynamic", kOptimise, {"unused"}, on_graph<fuse_dynamic>,
         "maps with run-time extents are part of others"},
        {"carry", kOptimise, {"fuse_dynamic"}, on_graph<carry_in_place>,
         "outputs extend the inputs that they become"},
        {"fuse", kOptimise, {"unused"}, on_graph<fuse>,
         "maps are part of others where it pays"},
        {"distribute", kOptimise, {"fuse"}, on_graph<distribute_quantisation>,
         "parts of a concatenation are quantised one by one"},
        {"identities", kOptimise, {"distribute"}, on_graph<find_identities>,
         "no byte is quantised again with the same scale"},
        {"hoist", kOptimise, {"fuse"}, hoist,
         "constants by channel are computed once, and fused"},
        {"split", kOptimise, {"fuse"}, on_graph<split_inverses>,
         "no stage has inverses"},
        {"invariant", kOptimise, {"fuse", "boundary"}, on_region<mark_invariants>,
         "what a loop leaves alone is constant"},
        {"siblings", kOptimise, {"fuse", "split"}, siblings,
         "products of one operand are one", false},
        {"contract", kOptimise, {"split", "siblings"}, on_graph<find_contractions>,
         "sums that pay as tiles are known"},
        {"fold", kOptimise, {"contract"}, on_graph<fold_scales>,
         "scales by channel are part of the weights"},
        {"windows", kOptimise, {"contract"}, windows,
         "sums over windows that pay on transformed tiles are known", false},
        {"terms", kOptimise, {"contract", "fold", "windows", "boundary"}, terms,
         "floats that pay as two bf16 on tile registers have them", false},
        {"layout", kOptimise, {"contract", "windows", "terms", "boundary"}, layout,
         "tensors are laid out for contractions"},
        {"concat", kOptimise, {"layout"}, on_region<find_insertions>,
         "parts along inner axes lie in the whole"},
        {"when", kOptimise, {"layout", "once"}, on_region<find_when>,
         "it is known what runs before the loop"},
        {"join", kOptimise, {"concat", "when"}, on_region<find_parts>,
         "parts one behind the other lie in the whole"},
        {"views", kOptimise, {"join"}, views,
         "copies in order have no kernel"},
        {"along", kOptimise, {"when", "views"}, on_region<store_along>,
         "maps are stored while they are summed"},
        {"window_axes", kOptimise, {"along", "layout"}, window_axes,
         "windows along several axes take them one by one", false},
        {"rows", kOptimise, {"along", "window_axes"}, rows,
         "stages of one row are one kernel"},
        {"in_place", kOptimise, {"rows"}, on_region<find_in_place>,
         "results take the memory of operands"},

        // The planner gives tensors their memory.
        {"squares", kPlaced, {"contract", "rows"}, squares,
         "squared distances are products"},
        {"pack", kPlaced, {"contract", "fold"}, pack,
         "constant operands are packed"},

        // The planner makes kernels, and then places computed tensors in one arena.
        {"schedule", kPlanner, {"stages"}, nullptr,
         "each group has kernels"},
        {"memory", kPlanner, {"schedule"}, nullptr,
         "what lives at the same time lies apart"},
    };
    return passes;
}
// clang-format on

std::vector<std::string> dump_passes() {
    std::vector<std::string> names;
    for (const Pass& pass : pipeline()) names.emplace_back(pass.name);
    return names;
}

void check_pass(std::string_view pass, const std::string& fault) {
    if (fault.empty()) return;
    check_failed(fmt::format("pass `{}`: {}", pass, fault).c_str(), __FILE__, __LINE__);
}

void run_passes(PassPhase phase, RegionGraph& region, const PassOptions& options, PassLog* log) {
    for (const Pass& pass : pipeline()) {
        if (pass.phase != phase || !pass.run) continue;
        if (options.target.device && !pass.for_device) continue;
        pass.run(region, options);
        const bool shown = log && log->wants(pass.name);
        if (shown) log->text += print(region);
        if (options.verify || shown) check_pass(pass.name, verify(region));
    }
}

}  // namespace lemma::loop

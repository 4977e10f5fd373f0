// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/contract.h"

#include <algorithm>
#include <cmath>

#include "loop/passes/contraction/halo.h"
#include "loop/schedule/points.h"
#include "tensor/room.h"

namespace lemma::loop {

namespace {

constexpr int64_t kLeastLanes = 8;
constexpr int64_t kLeastColumns = 3;  // lanes where the others would have to be transposed
constexpr int64_t kLeastPoints = 6;
constexpr size_t kMostReads = 8;
constexpr int64_t kFewApart = 4;        // elements that are picked from whole vectors
constexpr double kGoodFill = 0.7;       // of lanes; other lanes are considered below it
constexpr double kFarResult = 3 << 16;  // elements: with the operands, more than 1 MiB

bool contains(const std::vector<VarId>& vars, VarId var) {
    return std::ranges::find(vars, var) != vars.end();
}

}  // namespace

VarId find_inner(const StagePool& pool, const Expr& a, const std::vector<VarId>& reduced) {
    VarId best;
    for (size_t axis = 0; axis < a.args.size(); ++axis) {
        const Expr& index = pool[a.args[axis]];
        if (index.op != Op::Var) continue;
        const auto var = make_id<VarId>(static_cast<size_t>(index.integer));
        if (!contains(reduced, var)) continue;
        const auto axes =
            std::ranges::count_if(a.args, [&](ExprId other) { return pool.depends(other, var); });
        if (axes != 1) continue;
        if (axis + 1 == a.args.size()) return var;
        if (!best.valid() || pool.extent(var) > pool.extent(best)) best = var;
    }
    return best;
}

namespace {

class Finder {
public:
    Finder(StageGraph& graph, const Stage& stage)
        : graph_(graph), pool_(graph.pool), stage_(stage) {}

    std::optional<Contraction> find(bool packed) {
        const bool reduction = is_sum() || stage_.combine == ir::FormulaOp::Min ||
                               stage_.combine == ir::FormulaOp::Max;
        if (!reduction || stage_.writes.size() != 1 || !stage_.initial.valid() ||
            stage_.condition.valid() || stage_.empty)
            return std::nullopt;
        const StageWrite& write = stage_.writes[0];
        if (products() < graph_.least_steps || !affine(write.index)) return std::nullopt;
        if (pool_[write.value].type.kind == Kind::Int) return find_bytes();
        if (pool_[write.value].type.kind != Kind::F32) return std::nullopt;
        std::vector<ExprId> reads;
        bool good = true;
        pool_.visit_reads(write.value, [&](ExprId id, const Expr& e) {
            reads.push_back(id);
            good &= affine(e.args) && kind_of(graph_.dtypes.at(tensor_of(e))) == Kind::F32;
        });
        if (!good || reads.size() < 2 || reads.size() > kMostReads) return std::nullopt;
        std::ranges::sort(reads, {}, &ExprId::value);
        std::optional<Contraction> best, in_place;
        for (const ExprId a : reads) {
            const auto split = split_at(a, write.value);
            if (!split) continue;
            const bool constant = is_constant(split->b);
            if (split->product && !constant && !packed) {
                auto found = with_in_place(a, split->b);
                if (found && (!in_place || speed_of(*found) > speed_of(*in_place))) {
                    in_place = found;
                }
            }
            if (is_constant(a) && !constant) continue;
            auto found = with(a, split->b, split->product, constant);
            if (found && (!best || better(*found, *best))) best = found;
        }
        if (best && best->product && !best->lane_in_a && are_pairs(best->a, best->b)) {
            best->inner = find_inner(pool_, pool_[best->a], best->reduced);
            if (best->inner.valid()) return best;
        }
        if (!best) return in_place;
        if (!in_place) return best;
        if (graph_.device && !is_constant(best->b)) return in_place;
        const bool weights = is_constant(best->b);
        if (best->lane_in_a) return weights ? best : in_place;
        // Neighbours often have channels innermost. Then the operand is transposed first.
        const bool narrow = pool_.extent(best->lane) < graph_.lanes;
        if (is_narrow(*best) && !weights) return in_place;
        if (weights && (!narrow || speed_of(*best) >= kGoodFill)) return best;
        const double time = 1 / speed_of(*in_place) + (weights ? transposing(*in_place) : 0.0);
        return 1.15 * time < 1 / speed_of(*best) ? in_place : best;
    }

    // See contract.h.
    std::optional<Contraction> find_natural(const Contraction& now) {
        if (now.kind != Kind::F32 || now.inner.valid()) return std::nullopt;
        std::optional<Contraction> best;
        pool_.visit_reads(stage_.writes[0].value, [&](ExprId b, const Expr&) {
            if (b != now.a || !now.product || is_constant(b)) return;
            const Expr& other = pool_[now.b];
            if (other.op == Op::Read) best = with_in_place(now.b, b);
        });
        if (!best) return std::nullopt;
        const auto result =
            static_cast<double>(*tensor::volume(graph_.shapes.at(stage_.writes[0].tensor)));
        // A result that leaves the cache between its kernel and the transposition costs more.
        const double turning = (result > kFarResult ? 24 : 8) * result / products();
        if (now.lane_in_a && extent_of(best->points) == 1) {
            return time_in_place(*best) < time_turned(now, result) ? best : std::nullopt;
        }
        double time = 1 / speed_of(now) + turning;
        if (now.lane_in_a) time = 2 / speed_of(now) + 2 * (turning + transposing(*best));
        const bool copied = best->points.size() == 1 && should_be_copied(*best);
        return (copied ? 1.0 : 1.05) / speed_of(*best) < time ? best : std::nullopt;
    }

private:
    // Whether kernels may multiply pairs of them.
    bool are_pairs(ExprId a, ExprId b) const {
        const Expr &first = pool_[a], &second = pool_[b];
        if (first.op != Op::Read || second.op != Op::Read) return false;
        const tensor::DType dtype = graph_.dtypes.at(tensor_of(first));
        if (graph_.dtypes.at(tensor_of(second)) != dtype) return false;
        if (!graph_.device) return dtype == tensor::DType::BF16 && graph_.bf16_products;
        const bool half = dtype == tensor::DType::BF16 || dtype == tensor::DType::F16;
        return half && is_constant(b);
    }
    // A sum of products of bytes that fits 32 bits.
    std::optional<Contraction> find_bytes() const {
        const Expr& product = pool_[stage_.writes[0].value];
        if (!graph_.byte_products || !is_sum() || product.op != Op::Mul) return std::nullopt;
        double most = 1;
        for (const ExprId id : product.args) {
            const Expr& e = pool_[id];
            if (e.op != Op::Read || !affine(e.args)) return std::nullopt;
            const tensor::DType dtype = graph_.dtypes.at(tensor_of(e));
            if (dtype != tensor::DType::I8 && dtype != tensor::DType::U8) return std::nullopt;
            most *= dtype == tensor::DType::I8 ? 128 : 255;
        }
        std::optional<Contraction> best;
        for (const size_t side : {size_t{0}, size_t{1}}) {
            const ExprId a = product.args[side];
            const ExprId b = product.args[1 - side];
            const bool constant = is_constant(b);
            if (is_constant(a) && !constant) continue;
            auto found = with(a, b, true, constant);
            if (!found) continue;
            double largest = most;
            for (const VarId var : found->reduced) {
                largest *= static_cast<double>(pool_.extent(var));
            }
            if (largest >= 0x1p31) continue;
            found->kind = Kind::I32;
            if (!found->lane_in_a) found->inner = find_inner(pool_, pool_[a], found->reduced);
            if (!best || better(*found, *best)) best = found;
        }
        return best;
    }
    bool is_sum() const { return stage_.combine == ir::FormulaOp::Sum; }
    bool affine(const std::vector<ExprId>& index) const {
        return std::ranges::all_of(index, [&](ExprId i) { return pool_.affine(i).has_value(); });
    }
    bool is_constant(ExprId value) const { return reads_constants(graph_, value); }
    struct Split {
        ExprId b;
        bool product;
    };
    // Splits the value into `a` and one other part: the factors of a product, or any other pair.
    std::optional<Split> split_at(ExprId a, ExprId value) {
        std::vector<ExprId> factors;
        if (is_sum() && find_factors(a, value, factors) && !factors.empty()) {
            ExprId b = factors[0];
            for (size_t i = 1; i < factors.size(); ++i) {
                b = pool_.build.make(Op::Mul, {b, factors[i]});
            }
            return Split{b, true};
        }
        if (!stage_.guards.empty()) return std::nullopt;  // zeros would count
        ExprId b;
        if (!find_other(a, value, b) || !b.valid()) return std::nullopt;
        if (pool_[b].type.kind != Kind::F32) return std::nullopt;
        return Split{b, false};
    }
    // The other factors of a product that has `a` as one factor.
    bool find_factors(ExprId a, ExprId value, std::vector<ExprId>& factors) const {
        int found = 0;
        std::vector<ExprId> work = {value};
        while (!work.empty()) {
            const ExprId at = work.back();
            work.pop_back();
            const Expr& e = pool_[at];
            if (at == a) {
                ++found;
            } else if (e.op == Op::Mul && e.type.kind == Kind::F32) {
                work.insert(work.end(), e.args.rbegin(), e.args.rend());
            } else if (e.type.kind != Kind::F32 || pool_.has_part(at, a)) {
                return false;
            } else {
                factors.push_back(at);
            }
        }
        return found == 1;
    }
    // The one largest part without `a`. Literals do not count, nor elements that use only variables
    // of `a`.
    bool find_other(ExprId a, ExprId value, ExprId& other) const {
        if (value == a || pool_[value].op == Op::Constant) return true;
        if (pool_.has_part(value, a)) {
            return std::ranges::all_of(pool_[value].args,
                                       [&](ExprId arg) { return find_other(a, arg, other); });
        }
        const bool beside = pool_[value].op == Op::Read &&
                            std::ranges::all_of(stage_.loops, [&](const StageLoop& loop) {
                                return !uses(value, loop.var) || uses(a, loop.var);
                            });
        if (beside) return true;
        if (other.valid() && other != value) return false;
        other = value;
        return true;
    }
    bool uses(ExprId read, VarId var) const { return pool_.depends(read, var); }
    bool writes_side_by_side(VarId var) const {
        const StageWrite& write = stage_.writes[0];
        if (write.index.empty()) return false;
        const auto last = pool_.affine(write.index.back());
        return std::ranges::find(last->terms, AddressTerm{var, 1}) != last->terms.end();
    }
    bool is_narrow(const Contraction& c) const { return pool_.extent(c.lane) < kLeastLanes; }
    bool better(const Contraction& a, const Contraction& b) const {
        if (a.lane_in_a != b.lane_in_a) return !a.lane_in_a;
        if (is_narrow(a) != is_narrow(b)) return !is_narrow(a);
        return writes_side_by_side(a.lane) && !writes_side_by_side(b.lane);
    }
    // All guards skip elements outside tensor A, where a halo of zeros can replace them. A guard of
    // a slice of A skips other elements.
    bool guards_are_of(ExprId read) const {
        const Expr& a = pool_[read];
        const tensor::Shape& shape = graph_.shapes.at(tensor_of(a));
        return std::ranges::all_of(stage_.guards, [&](const StageGuard& guard) {
            for (size_t axis = 0; axis < a.args.size(); ++axis) {
                const Expr& e = pool_[a.args[axis]];
                if (e.op == Op::Assume && e.args[0] == guard.index && e.integer == guard.extent &&
                    guard.extent == shape[axis]) {
                    return true;
                }
            }
            return false;
        });
    }

    std::optional<Contraction> with(ExprId a, ExprId b, bool product, bool constant) const {
        if (!guards_are_of(a)) return std::nullopt;
        const std::vector<VarId> outputs = write_shape(stage_, stage_.writes[0], pool_).vars;
        Contraction c;
        c.a = a;
        c.b = b;
        c.product = product;
        const auto consider = [&](VarId var) {
            const int64_t extent = pool_.extent(var);
            const bool better_one = !c.lane.valid() || extent > pool_.extent(c.lane);
            if (extent >= kLeastLanes && better_one) c.lane = var;
        };
        for (const VarId var : outputs) {
            if (uses(b, var) && !uses(a, var)) consider(var);
        }
        if (!c.lane.valid()) {
            c.lane_in_a = true;
            for (const VarId var : outputs) {
                if (uses(b, var) && uses(a, var)) consider(var);
            }
            const VarId few = few_columns(a, b, outputs);
            if (few.valid() && (!c.lane.valid() || few_are_faster(a, few, c.lane))) {
                c.lane = few;
                c.lane_in_a = false;
            }
        }
        if (!c.lane.valid() || !lane_axis_is_plain(c)) return std::nullopt;
        int64_t points = 1;
        for (const StageLoop& loop : stage_.loops) {
            if (loop.var == c.lane) continue;
            const bool in_a = uses(a, loop.var);
            const bool in_b = uses(b, loop.var);
            if (!in_a && !in_b) return std::nullopt;
            if (!contains(outputs, loop.var)) {
                c.reduced.push_back(loop.var);
            } else if (in_b) {
                c.batch.push_back(loop.var);
            } else {
                c.points.push_back(loop.var);
                points = total_elements(points, loop.extent);
            }
        }
        // Packing an operand that changes with every run takes as long as a few rows of products.
        if (!constant && points < kLeastPoints) return std::nullopt;
        if (packed_elements(c) > tensor::kMaxElements) return std::nullopt;
        return c;
    }
    // The columns of many small products: too few for vectors, but side by side in the result.
    VarId few_columns(ExprId a, ExprId b, const std::vector<VarId>& outputs) const {
        VarId found;
        if (graph_.dtypes.at(tensor_of(pool_[a])) != tensor::DType::F32) return found;
        int64_t points = 1;
        for (const StageLoop& loop : stage_.loops) {
            const bool output = contains(outputs, loop.var);
            if (output && !uses(b, loop.var)) points = total_elements(points, loop.extent);
            const bool few = loop.extent >= kLeastColumns && loop.extent < kLeastLanes;
            if (output && few && !uses(a, loop.var) && writes_side_by_side(loop.var)) {
                found = loop.var;
            }
        }
        return points >= kLeastPoints ? found : VarId();
    }
    // Whether they are faster than lanes along a variable of both operands, for which operand and
    // result may have to be transposed.
    bool few_are_faster(ExprId a, VarId few, VarId lane) const {
        const StageWrite& write = stage_.writes[0];
        const auto elements = [&](ir::TensorId id, const std::vector<ExprId>& index) {
            const bool innermost = !index.empty() && uses(index.back(), lane);
            return innermost ? 0.0 : static_cast<double>(*tensor::volume(graph_.shapes.at(id)));
        };
        const double moved =
            elements(tensor_of(pool_[a]), pool_[a].args) + elements(write.tensor, write.index);
        const double filled =
            static_cast<double>(graph_.lanes) / static_cast<double>(pool_.extent(few));
        return std::max(filled, 1.0) < 2 + 8 * moved / products();
    }
    // B is an element of a tensor whose last axis runs along the lanes, and is not packed.
    std::optional<Contraction> with_in_place(ExprId a, ExprId b) const {
        const Expr& read = pool_[b];
        if (read.op != Op::Read || read.args.empty() || !guards_are_of(b)) return std::nullopt;
        const std::vector<VarId> outputs = write_shape(stage_, stage_.writes[0], pool_).vars;
        Contraction c;
        c.a = a;
        c.b = b;
        c.in_place = true;
        const VarId few = few_columns(a, b, outputs);
        const auto last = pool_.affine(read.args.back());
        for (const AddressTerm& term : last->terms) {
            const bool near = term.factor >= 1 && term.factor <= kFewApart;
            const int64_t extent = pool_.extent(term.var);
            const bool longer = !c.lane.valid() || extent > pool_.extent(c.lane);
            const bool enough = extent >= kLeastLanes || term.var == few;
            if (near && longer && enough && contains(outputs, term.var) && !uses(a, term.var)) {
                c.lane = term.var;
            }
        }
        if (!c.lane.valid() || !lane_axis_is_plain(c)) return std::nullopt;
        const auto inner = std::ranges::subrange(read.args.begin(), read.args.end() - 1);
        if (std::ranges::any_of(inner, [&](ExprId i) { return uses(i, c.lane); })) {
            return std::nullopt;
        }
        for (const StageLoop& loop : stage_.loops) {
            if (loop.var == c.lane) continue;
            const bool in_a = uses(a, loop.var);
            const bool in_b = uses(b, loop.var);
            if (!in_a && !in_b) return std::nullopt;
            const bool output = contains(outputs, loop.var);
            (!output ? c.reduced : in_b ? c.batch : c.points).push_back(loop.var);
        }
        return c;
    }
    int64_t extent_of(const std::vector<VarId>& vars) const {
        int64_t extent = 1;
        for (const VarId var : vars) extent = total_elements(extent, pool_.extent(var));
        return extent;
    }
    // The time for a transposition of the operand, relative to the products.
    double transposing(const Contraction& c) const {
        const auto elements =
            static_cast<double>(*tensor::volume(graph_.shapes.at(tensor_of(pool_[c.b]))));
        return 8 * elements / products();
    }
    // Sums of which every product has elements of its own, such as depthwise convolutions, in times
    // of full vectors: in place, where neighbours are loaded apart from lines of the cache and
    // maybe picked; or with lanes that are innermost once operand and result are transposed.
    // Measured (bench/sweep, `depthwise`).
    double time_in_place(const Contraction& c) const {
        const double copy = is_guarded(c) ? transposing(c) : 0;
        return copy + (is_apart(c) ? 4.5 : 2.4) / fill_of(lane_extent(c));
    }
    double time_turned(const Contraction& c, double result) const {
        const auto elements =
            static_cast<double>(*tensor::volume(graph_.shapes.at(tensor_of(pool_[c.a]))));
        const double moved = (elements + result) / products();
        // Copies in blocks of lanes (block_lanes.h).
        if (pool_.extent(c.lane) % graph_.lanes == 0) return 1 + 14 * moved;
        return 1.3 / fill_of(lane_extent(c)) + 20 * moved;
    }
    double products() const {
        double steps = 1;
        for (const StageLoop& loop : stage_.loops) steps *= static_cast<double>(loop.extent);
        return steps;
    }
    // The share of lanes that so many steps use.
    double fill_of(int64_t extent) const {
        const auto lane = static_cast<double>(extent);
        const auto lanes = static_cast<double>(graph_.lanes);
        return lane / (std::ceil(lane / lanes) * lanes);
    }
    // Relative to full vectors of packed constants.
    double speed_of(const Contraction& c) const {
        const double fill = fill_of(lane_extent(c));
        const int64_t points = extent_of(c.points);
        if (!c.in_place) {
            const auto used = static_cast<double>(points);
            return is_constant(c.b) ? fill : fill * used / (used + 3);
        }
        const bool copied = should_be_copied(c);
        if (copied && c.points.size() == 1) {
            const auto used = static_cast<double>(points);
            return fill * used / (used + 4);
        }
        // Loads bound a tile of few points.
        const double loads = points == 1 ? 0.5 : points == 2 ? 0.85 : 0.95;
        return fill * loads * (copied ? 0.6 : 1.0) * (is_apart(c) && points < 4 ? 0.6 : 1.0);
    }
    bool is_apart(const Contraction& c) const {
        const auto last = pool_.affine(pool_[c.b].args.back());
        return std::ranges::find(last->terms, AddressTerm{c.lane, 1}) == last->terms.end();
    }
    // Whether the operand in place is large and shared (points.h).
    bool should_be_copied(const Contraction& c) const {
        return pays_to_copy(
            {extent_of(c.points), extent_of(c.reduced), lane_extent(c), is_apart(c)});
    }
    bool is_guarded(const Contraction& c) const {
        return std::ranges::any_of(pool_[c.b].args,
                                   [&](ExprId index) { return pool_[index].op == Op::Assume; });
    }
    // The steps along the lanes, if all tensors are row-major. Zeros around the operand may keep
    // its rows apart.
    int64_t lane_extent(const Contraction& c) const {
        if (!c.in_place || is_guarded(c)) return pool_.extent(c.lane);
        BufferViews places;
        const auto place = [&](ir::TensorId id) {
            const tensor::Shape& shape = graph_.shapes.at(id);
            places[id] = {{}, graph_.dtypes.at(id), shape, row_major(shape)};
        };
        for_each_value(stage_, [&](ExprId value) {
            pool_.visit_reads(value, [&](ExprId at, const Expr& e) {
                if (at != stage_.total) place(tensor_of(e));
            });
        });
        place(stage_.writes[0].tensor);
        return merge_lanes(stage_, c, pool_, places).extent;
    }
    // Upper bound for any tile.
    int64_t packed_elements(const Contraction& c) const {
        constexpr int64_t kMostWidth = 128;
        int64_t elements = pool_.extent(c.lane) + kMostWidth;
        for (const auto* vars : {&c.batch, &c.reduced}) {
            for (const VarId var : *vars) elements = total_elements(elements, pool_.extent(var));
        }
        return elements;
    }
    // Exactly one axis of the output has the lane variable, with factor 1; likewise of A, if A has
    // it. Results beside an operand that is read in place may lie apart (layouts.cpp).
    bool lane_axis_is_plain(const Contraction& c) const {
        const auto plain = [&](const std::vector<ExprId>& index, bool apart) {
            int axes = 0;
            for (const ExprId i : index) {
                const auto affine_index = pool_.affine(i);
                for (const AddressTerm& term : affine_index->terms) {
                    if (term.var != c.lane) continue;
                    if (term.factor != 1 && !(apart && term.factor > 1)) return false;
                    ++axes;
                }
            }
            return axes == 1;
        };
        return plain(stage_.writes[0].index, c.in_place) &&
               (!c.lane_in_a || plain(pool_[c.a].args, false));
    }

    StageGraph& graph_;
    StagePool& pool_;
    const Stage& stage_;
};

}  // namespace

std::optional<Contraction> find_contraction(StageGraph& graph, const Stage& stage, bool packed) {
    return Finder(graph, stage).find(packed);
}

std::optional<Contraction> find_natural(StageGraph& graph,
                                        const Stage& stage,
                                        const Contraction& now) {
    return Finder(graph, stage).find_natural(now);
}

namespace {

// Whether the memory of the halo is acceptable: small, or not many times the tensor's.
bool is_affordable(const Halo& halo, const tensor::Shape& shape) {
    constexpr int64_t kFew = int64_t{1} << 24;
    constexpr int64_t kManyTimes = 16;
    int64_t elements = 1, with_halo = 1;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        elements = total_elements(elements, shape[axis]);
        const int64_t around = halo.below[axis] + halo.above[axis];
        with_halo = total_elements(with_halo, shape[axis] + around);
    }
    return with_halo <= kFew ||
           (with_halo <= tensor::kMaxElements && with_halo / kManyTimes <= elements);
}

}  // namespace

int find_contractions(StageGraph& graph) {
    int count = 0;
    std::unordered_map<ir::TensorId, Halo, IdHash> halos;  // over all readers of the tensor
    for (FusionGroup& group : graph.groups) {
        if (!group.compiled() || group.once || group.stages.size() != 1) continue;
        auto found = find_contraction(graph, group.stages[0]);
        if (!found) continue;
        if (graph.device && !suits_device(group.stages[0], graph.pool, *found)) continue;
        const Expr& a = graph.pool[found->surrounded()];
        Halo halo = halos[tensor_of(a)];
        widen_halo(graph.pool, a, halo);
        if (!is_affordable(halo, graph.shapes.at(tensor_of(a)))) continue;
        halos[tensor_of(a)] = std::move(halo);
        group.contraction = std::move(found);
        // The halo holds zeros, so the guards are not needed.
        group.stages[0].guards.clear();
        ++count;
    }
    return count;
}

}  // namespace lemma::loop

// SPDX-License-Identifier: Apache-2.0
// Finds kernels that may run at the same time, such as those of the branches of a network.
#include <algorithm>
#include <unordered_map>

#include "loop/plan/plan.h"

namespace lemma::loop {

namespace {

constexpr size_t kLookBack = 8;      // waves that a kernel may pass by
constexpr size_t kMostKernels = 16;  // of a wave
constexpr double kMostWork = 100e6;  // operations of a kernel that shares a wave: all threads are
                                     // busy with a larger one
constexpr double kMostTogether = 300e6;

// The memory of a tensor, in elements of the storage that owns it.
struct Box {
    int64_t offset = 0;
    const BufferView* view = nullptr;

    int64_t begin() const { return offset + reach(false); }
    int64_t end() const { return offset + reach(true) + 1; }

private:
    int64_t reach(bool up) const {
        int64_t sum = 0;
        for (size_t axis = 0; axis < view->shape.size(); ++axis) {
            const int64_t step = view->layout.strides[axis] * (view->shape[axis] - 1);
            if ((step > 0) == up) sum += step;
        }
        return sum;
    }
};

// Whether tensors of the given extents, with the strides of the view, have an element per place.
bool is_injective(const BufferView& view, const std::vector<int64_t>& extents) {
    std::vector<size_t> axes;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
        if (extents[axis] > 1) axes.push_back(axis);
    }
    const auto& strides = view.layout.strides;
    std::ranges::sort(axes, {}, [&](size_t axis) { return strides[axis]; });
    int64_t span = 0;
    for (const size_t axis : axes) {
        if (strides[axis] <= span) return false;
        span += strides[axis] * (extents[axis] - 1);
    }
    return true;
}

// Whether the tensors have no element in common: one lies behind the other, or beside it along an
// axis, as the parts of a concatenation.
bool are_apart(const Box& a, const Box& b) {
    if (a.view->layout.split >= 0 || b.view->layout.split >= 0) return false;
    if (a.end() <= b.begin() || b.end() <= a.begin()) return true;
    const BufferView& one = *a.view;
    const BufferView& other = *b.view;
    if (one.layout.strides != other.layout.strides || one.dtype != other.dtype) return false;
    if (a.offset > b.offset) return are_apart(b, a);
    const int64_t distance = b.offset - a.offset;
    for (size_t axis = 0; axis < one.shape.size(); ++axis) {
        const int64_t stride = one.layout.strides[axis];
        if (stride <= 0 || distance % stride != 0) continue;
        const int64_t steps = distance / stride;
        if (steps < one.shape[axis]) continue;
        std::vector<int64_t> extents;
        for (size_t i = 0; i < one.shape.size(); ++i) {
            extents.push_back(std::max(one.shape[i], other.shape[i]));
        }
        extents[axis] = steps + other.shape[axis];
        if (is_injective(one, extents)) return true;
    }
    return false;
}

// What a kernel does with one storage.
struct Access {
    StorageId root;
    bool written = false;
    bool whole = false;  // or only these tensors:
    std::vector<Box> reads, writes;
};

class WaveFinder {
public:
    explicit WaveFinder(Plan& plan) : plan_(plan) {}

    void run() {
        for (Region& region : plan_.regions) reorder(region);
    }

private:
    struct Member {
        size_t step = 0;
        std::vector<Access> accesses;
    };
    struct Wave {
        std::vector<Member> members;
        double work = 0;
    };

    // Constants and inputs do not change, but a storage that moves may be any other one.
    bool is_fixed(const PlanStep& step) const {
        const auto* const kernel = std::get_if<ScheduledKernel>(&step.kind);
        if (!kernel) return false;
        return std::ranges::none_of(kernel->arguments, [&](StorageId id) {
            return id.valid() && plan_.storages[plan_.root(id)].moves;
        });
    }

    Box box_of(const BufferView& view) const {
        Box box{view.layout.offset, &view};
        for (StorageId id = view.storage; plan_.storages[id].base.valid();
             id = plan_.storages[id].base) {
            box.offset += plan_.storages[id].begin;
        }
        return box;
    }

    std::vector<Access> accesses_of(const PlanStep& step) const {
        const ScheduledKernel& kernel = *step.kernel();
        std::vector<Access> result;
        for (size_t i = 0; i < kernel.arguments.size(); ++i) {
            if (!kernel.arguments[i].valid()) continue;
            const StorageId root = plan_.root(kernel.arguments[i]);
            auto found = std::ranges::find(result, root, &Access::root);
            if (found == result.end()) {
                result.emplace_back().root = root;
                found = result.end() - 1;
            }
            found->written |= kernel.function.buffers[i].written;
        }
        for (Access& access : result) {
            const auto add = [&](const std::vector<ir::TensorId>& tensors, std::vector<Box>& to) {
                for (const ir::TensorId id : tensors) {
                    const auto view = plan_.places.find(id);
                    if (view == plan_.places.end()) continue;
                    if (plan_.root(view->second.storage) != access.root) continue;
                    to.push_back(box_of(view->second));
                }
            };
            add(step.reads, access.reads);
            add(step.writes, access.writes);
            access.whole = access.written ? access.writes.empty() : access.reads.empty();
        }
        return result;
    }

    static bool collide(const std::vector<Box>& a, const std::vector<Box>& b) {
        return std::ranges::any_of(a, [&](const Box& one) {
            return std::ranges::any_of(b, [&](const Box& other) { return !are_apart(one, other); });
        });
    }
    static bool depend(const Access& a, const Access& b) {
        if (a.root != b.root || (!a.written && !b.written)) return false;
        if (a.whole || b.whole) return true;
        return (a.written && (collide(a.writes, b.writes) || collide(a.writes, b.reads))) ||
               (b.written && collide(b.writes, a.reads));
    }
    static bool depend(const Member& a, const Member& b) {
        return std::ranges::any_of(a.accesses, [&](const Access& one) {
            return std::ranges::any_of(b.accesses,
                                       [&](const Access& other) { return depend(one, other); });
        });
    }

    // Puts the kernel into the first wave after all that it depends on, as far as it fits there.
    void add(Member member) {
        const double work = plan_.steps[member.step].operations;
        size_t first = waves_.size();
        const size_t last = waves_.size() - std::min(waves_.size(), kLookBack);
        while (first > last) {
            const bool waits =
                std::ranges::any_of(waves_[first - 1].members,
                                    [&](const Member& other) { return depend(other, member); });
            if (waits) break;
            --first;
        }
        for (size_t i = first; i < waves_.size(); ++i) {
            const bool fits = work <= kMostWork && waves_[i].work + work <= kMostTogether &&
                              waves_[i].members.size() < kMostKernels;
            if (!fits) continue;
            waves_[i].work += work;
            waves_[i].members.push_back(std::move(member));
            return;
        }
        Wave& wave = waves_.emplace_back();
        wave.work = work <= kMostWork ? work : kMostTogether;
        wave.members.push_back(std::move(member));
    }

    void end_waves(Region& to) {
        for (const Wave& wave : waves_) {
            const bool several = wave.members.size() > 1;
            if (several) ++plan_.waves;
            for (const Member& member : wave.members) {
                plan_.steps[member.step].wave = several ? plan_.waves : 0;
                to.push_back(member.step);
            }
        }
        waves_.clear();
    }

    void reorder(Region& region) {
        Region ordered;
        for (const size_t number : region) {
            const PlanStep& step = plan_.steps[number];
            if (is_fixed(step)) {
                add({number, accesses_of(step)});
                continue;
            }
            end_waves(ordered);
            ordered.push_back(number);
        }
        end_waves(ordered);
        region = std::move(ordered);
    }

    Plan& plan_;
    std::vector<Wave> waves_;  // since the last step of another kind
};

}  // namespace

void find_waves(Plan& plan) { WaveFinder(plan).run(); }

}  // namespace lemma::loop

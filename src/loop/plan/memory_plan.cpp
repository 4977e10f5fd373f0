// SPDX-License-Identifier: Apache-2.0
// Places computed tensors in one arena: tensors with disjoint lifetimes share memory.
#include <algorithm>
#include <functional>

#include "base/match.h"
#include "loop/plan/plan.h"

namespace lemma::loop {

namespace {

constexpr int64_t kAlign = 64;

struct Lifetime {
    StorageId storage;
    int64_t bytes = 0;
    size_t first = SIZE_MAX, last = 0;  // steps
};

class MemoryPlanner {
public:
    explicit MemoryPlanner(Plan& plan) : plan_(plan) {}

    void run(const std::vector<ir::TensorId>& results, bool apart) {
        find_lifetimes();
        for (const ir::TensorId id : results) {
            const auto place = plan_.places.find(id);
            if (place != plan_.places.end()) use(place->second.storage, SIZE_MAX);
            const auto dynamic = plan_.dynamic_places.find(id);
            if (dynamic != plan_.dynamic_places.end()) use(dynamic->second.storage, SIZE_MAX);
        }
        std::vector<Lifetime> shared;
        for (uint32_t i = 0; i < plan_.storages.size(); ++i) {
            const Storage& storage = plan_.storages[make_id<StorageId>(i)];
            const bool own = !storage.base.valid() && !storage.moves;
            const bool fits = own && storage.role == StorageRole::Computed &&
                              !storage.needs_zeros && !storage.scratch;
            if (fits && lives_[i].first != SIZE_MAX) shared.push_back(lives_[i]);
        }
        if (!apart) {
            place(std::move(shared));
            place_surrounded();
        }
        find_releases();
    }

private:
    // Calls `visit` with the storages that own the memory.
    template <class Visit>
    void visit_memory(StorageId id, const Visit& visit) const {
        id = plan_.root(id);
        if (!plan_.storages[id].moves) return visit(id);
        for (const StorageId target : plan_.storages[id].targets) visit_memory(target, visit);
    }
    void use(StorageId id, size_t step) {
        visit_memory(id, [&](StorageId at) {
            Lifetime& life = lives_[at.value];
            life.first = std::min(life.first, step);
            life.last = std::max(life.last, step);
            used_.push_back(at);
        });
    }
    void use(StorageId id, std::pair<size_t, size_t> steps) {
        if (!id.valid()) return;
        use(id, steps.first);
        use(id, steps.second);
    }
    void use(const StoragePack& pack, std::pair<size_t, size_t> steps) {
        if (pack.count > 0) use(pack.first, steps);
    }
    void find_lifetimes() {
        lives_.resize(plan_.storages.size());
        for (uint32_t i = 0; i < lives_.size(); ++i) {
            const Storage& storage = plan_.storages[make_id<StorageId>(i)];
            lives_[i].storage = make_id<StorageId>(i);
            lives_[i].bytes = storage.elements * tensor::dtype_size(storage.dtype);
        }
        visit_region(0);
    }
    void visit_region(size_t region) {
        uint32_t wave = 0;
        for (const size_t number : plan_.regions[region]) {
            const PlanStep& step = plan_.steps[number];
            // The steps of a wave run at the same time.
            if (step.wave != 0 && step.wave == wave) --now_;
            wave = step.wave;
            match(
                step.kind,
                [&](const ScheduledKernel& kernel) { visit_kernel(kernel); },
                [&](const DynamicKernel& dynamic) {
                    visit_kernel(dynamic.kernel);
                    use_now(dynamic.cleared);
                },
                [&](const InterpretedStep&) {
                    use_now(step.reads);
                    use_now(step.writes);
                },
                [](const CheckStep&) {},
                [&](const PlanLoop& loop) { visit_loop(loop); },
                [&](const PlanBranch& branch) { visit_branch(branch); });
            ++now_;
        }
    }
    void visit_kernel(const ScheduledKernel& kernel) {
        for (const StorageId id : kernel.arguments) {
            if (id.valid()) use(id, now_);
        }
    }
    void use_now(const std::vector<ir::TensorId>& tensors) {
        for (const ir::TensorId id : tensors) {
            const auto place = plan_.places.find(id);
            if (place != plan_.places.end()) use(place->second.storage, now_);
        }
    }
    // Values pass between iterations, and outside values are needed until the last iteration.
    void visit_loop(const PlanLoop& loop) {
        const size_t before = used_.size();
        const size_t begin = now_++;
        if (loop.pre_condition) visit_region(*loop.pre_condition);
        visit_region(loop.body);
        if (loop.post_condition) visit_region(*loop.post_condition);
        const std::pair<size_t, size_t> whole = {begin, now_};
        for (const StorageId id :
             {loop.dynamic_count, loop.index, loop.pre_value, loop.post_value}) {
            use(id, whole);
        }
        for (const PlanLoop::Item& item : loop.items) use(item.pack, whole);
        for (const PlanLoop::Carried& carried : loop.carried) {
            use(carried.seen, whole);
            if (!carried.copied) continue;
            use(carried.result, whole);
        }
        for (const PlanLoop::Written& written : loop.written) use(written.result, whole);
        for (const PlanLoop::Collected& collected : loop.collected) {
            use(collected.result, whole);
            use(collected.pack, whole);
        }
        for (const auto* copies : {&loop.before, &loop.after}) {
            for (const PlanCopy& copy : *copies) {
                use(copy.from, whole);
                use(copy.to, whole);
            }
        }
        for (size_t i = before; i < used_.size(); ++i) {
            Lifetime& life = lives_[used_[i].value];
            if (life.first < begin && life.last >= begin && life.last < now_) life.last = now_;
        }
    }
    void visit_branch(const PlanBranch& branch) {
        ++now_;
        for (const PlanBranch::Arm& arm : branch.arms) {
            if (arm.condition) visit_region(*arm.condition);
            use(arm.value, {now_, now_});
            visit_region(arm.body);
            for (const StorageId id : arm.results) use(id, now_);
            ++now_;
        }
    }
    // Places the largest first, each at the lowest address that is free during its lifetime.
    void place(std::vector<Lifetime> lives) {
        std::ranges::stable_sort(lives, std::greater(), &Lifetime::bytes);
        std::vector<Lifetime> placed;
        for (const Lifetime& life : lives) {
            std::vector<std::pair<int64_t, int64_t>> taken;
            for (const Lifetime& other : placed) {
                if (other.last < life.first || life.last < other.first) continue;
                const int64_t begin = plan_.storages[other.storage].offset;
                taken.emplace_back(begin, begin + other.bytes);
            }
            std::ranges::sort(taken);
            int64_t at = 0;
            for (const auto& [begin, end] : taken) {
                if (at + life.bytes <= begin) break;
                at = std::max(at, (end + kAlign - 1) / kAlign * kAlign);
            }
            plan_.storages[life.storage].offset = at;
            plan_.arena_bytes = std::max(plan_.arena_bytes, at + life.bytes + kAlign);
            placed.push_back(life);
        }
    }
    // Tensors with a halo share memory only with tensors of the same shape and layout, so that the
    // zeros stay in place.
    void place_surrounded() {
        std::vector<const BufferView*> forms(plan_.storages.size(), nullptr);
        for (const auto& [id, place] : plan_.places) {
            const BufferView*& form = forms[place.storage.value];
            const bool larger = !form || volume(place) > volume(*form);
            if (larger) form = &place;
        }
        std::vector<Lifetime> slots;
        for (uint32_t i = 0; i < plan_.storages.size(); ++i) {
            Storage& storage = plan_.storages[make_id<StorageId>(i)];
            const bool own = !storage.base.valid() && !storage.moves;
            const bool wanted = own && storage.role == StorageRole::Computed &&
                                storage.needs_zeros && lives_[i].first != SIZE_MAX;
            if (!wanted || storage.elements <= volume(*forms[i])) continue;
            const auto slot = std::ranges::find_if(slots, [&](const Lifetime& other) {
                const BufferView& form = *forms[other.storage.value];
                return other.last < lives_[i].first && form.dtype == forms[i]->dtype &&
                       form.shape == forms[i]->shape && form.layout == forms[i]->layout &&
                       plan_.storages[other.storage].elements == storage.elements;
            });
            if (slot != slots.end()) {
                storage.offset = plan_.storages[slot->storage].offset;
                slot->last = lives_[i].last;
                continue;
            }
            storage.offset = (plan_.arena_bytes + kAlign - 1) / kAlign * kAlign;
            plan_.arena_bytes = storage.offset + lives_[i].bytes + kAlign;
            slots.push_back(lives_[i]);
        }
    }
    static int64_t volume(const BufferView& place) {
        return tensor::volume(place.shape).value_or(0);
    }
    // Finds weights that runs use only as packed copies.
    void find_releases() {
        for (const Lifetime& life : lives_) {
            Storage& storage = plan_.storages[life.storage];
            const bool own = !storage.base.valid() && !storage.moves;
            storage.only_once = own && storage.role == StorageRole::Constant &&
                                life.first == SIZE_MAX && life.last != SIZE_MAX;
        }
    }

    Plan& plan_;
    std::vector<Lifetime> lives_;
    std::vector<StorageId> used_;  // in order of use
    size_t now_ = 0;
};

}  // namespace

void plan_memory(Plan& plan, const std::vector<ir::TensorId>& results, bool apart) {
    MemoryPlanner(plan).run(results, apart);
}

}  // namespace lemma::loop

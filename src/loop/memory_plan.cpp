// One piece of memory for all that a run computes: tensors that are not needed at the same time
// share it.
#include <algorithm>
#include <functional>

#include "loop/plan.h"

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

    void run(const std::vector<ir::TensorId>& results) {
        find_lifetimes();
        for (const ir::TensorId id : results) {
            const auto place = plan_.places.find(id);
            if (place != plan_.places.end()) lives_[place->second.storage.value].last = SIZE_MAX;
        }
        std::vector<Lifetime> shared;
        for (uint32_t i = 0; i < plan_.storages.size(); ++i) {
            const Storage& storage = plan_.storages[make_id<StorageId>(i)];
            const bool fits = storage.role == StorageRole::Computed && !storage.needs_zeros;
            if (fits && lives_[i].first != SIZE_MAX) shared.push_back(lives_[i]);
        }
        place(std::move(shared));
        find_releases();
    }

private:
    void use(StorageId id, size_t step) {
        Lifetime& life = lives_[id.value];
        life.first = std::min(life.first, step);
        life.last = std::max(life.last, step);
    }
    void find_lifetimes() {
        lives_.resize(plan_.storages.size());
        for (uint32_t i = 0; i < lives_.size(); ++i) {
            const Storage& storage = plan_.storages[make_id<StorageId>(i)];
            lives_[i].storage = make_id<StorageId>(i);
            lives_[i].bytes = storage.elements * tensor::dtype_size(storage.dtype);
        }
        for (size_t i = 0; i < plan_.steps.size(); ++i) {
            const PlanStep& step = plan_.steps[i];
            for (const StorageId id : step.kernel.arguments) {
                if (id.valid()) use(id, i);
            }
            if (!step.interpreted) continue;
            for (const auto* tensors : {&step.reads, &step.writes}) {
                for (const ir::TensorId id : *tensors) {
                    const auto place = plan_.places.find(id);
                    if (place != plan_.places.end()) use(place->second.storage, i);
                }
            }
        }
    }
    // The largest first, each at the lowest place that is free while it lives.
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
    // Weights whose packed copies are all that runs need.
    void find_releases() {
        std::vector<bool> needed(plan_.storages.size());
        const auto need = [&](ir::TensorId id) {
            const auto place = plan_.places.find(id);
            if (place != plan_.places.end()) needed[place->second.storage.value] = true;
        };
        for (const PlanStep& step : plan_.steps) {
            if (step.once) continue;
            for (const StorageId id : step.kernel.arguments) {
                if (id.valid()) needed[id.value] = true;
            }
            if (!step.interpreted) continue;
            for (const ir::TensorId id : step.reads) need(id);
        }
        for (const Lifetime& life : lives_) {
            Storage& storage = plan_.storages[life.storage];
            const bool constant = storage.role == StorageRole::Constant;
            const bool result = life.last == SIZE_MAX;
            storage.only_once = constant && !result && !needed[life.storage.value];
        }
    }

    Plan& plan_;
    std::vector<Lifetime> lives_;
};

}  // namespace

void plan_memory(Plan& plan, const std::vector<ir::TensorId>& results) {
    MemoryPlanner(plan).run(results);
}

}  // namespace lemma::loop

// What is computed before the first run: weights in the order in which kernels read them, and all
// that depends on them alone.
#include <algorithm>

#include "driver/run/engine.h"
#include "driver/run/engine_impl.h"
#include "tensor/mapped_file.h"

namespace lemma::driver {

// The pages of files are let go as soon as they were read, so that weights are not in memory twice.
Result<void> Engine::run_packing(Loaded& loaded, size_t number, const Lent& lent) {
    constexpr int64_t kAtOnce = int64_t{32} << 20;
    const runtime::Step step = make_step(loaded, number);
    std::vector<const tensor::Tensor*> read;
    int64_t bytes = 0;
    for (const loop::StorageId id : loaded.plan.steps[number].kernel.arguments) {
        if (!id.valid()) continue;
        const auto found = lent.find(loaded.plan.root(id));
        if (found == lent.end() || !found->second.shared_bytes()) continue;
        read.push_back(&found->second);
        bytes += static_cast<int64_t>(found->second.bytes().size());
    }
    const int64_t pieces = std::clamp<int64_t>(bytes / kAtOnce, 1, step.items);
    for (int64_t piece = 0; piece < pieces; ++piece) {
        const int64_t begin = step.items * piece / pieces;
        const int64_t end = step.items * (piece + 1) / pieces;
        if (auto done = loaded.executable.run_items(step, begin, end); !done) return done;
        for (const tensor::Tensor* const tensor : read) tensor::drop_pages(*tensor->shared_bytes());
    }
    return {};
}

// What only these steps need has memory no longer than they need it.
Result<void> Engine::run_once(Loaded& loaded) {
    const loop::Plan& plan = loaded.plan;
    std::vector<size_t> last(plan.storages.size(), SIZE_MAX);
    std::vector<size_t> once;
    for (size_t i = 0; i < plan.steps.size(); ++i) {
        if (!plan.steps[i].once) continue;
        once.push_back(i);
        for (const loop::StorageId id : plan.steps[i].kernel.arguments) {
            if (id.valid()) last[plan.root(id).value] = i;
        }
    }
    Lent lent;
    for (const size_t i : once) {
        for (const loop::StorageId id : plan.steps[i].kernel.arguments) {
            if (!id.valid()) continue;
            const loop::StorageId root = plan.root(id);
            const loop::Storage& storage = plan.storages[root];
            const size_t piece = loaded.pieces[root.value];
            if (!storage.only_once || loaded.executable.memory(piece)) continue;
            if (is_stored(storage, interpreter_.program())) {
                LEMMA_TRY(auto data, stored_data(loaded, storage.tensor));
                if (data) {
                    const tensor::Tensor& kept = lent.emplace(root, std::move(*data)).first->second;
                    loaded.executable.lend_memory(piece, kept.bytes().data());
                    continue;
                }
            }
            const int64_t bytes = storage.elements * tensor::dtype_size(storage.dtype);
            if (auto done = loaded.executable.give_memory(piece, bytes); !done) return done;
            if (!is_stored(storage, interpreter_.program())) continue;
            if (auto done = fill(loaded, storage.tensor); !done) return done;
        }
        if (auto done = run_packing(loaded, i, lent); !done) return done;
        for (const loop::StorageId id : plan.steps[i].kernel.arguments) {
            if (!id.valid()) continue;
            const loop::StorageId root = plan.root(id);
            const bool over = plan.storages[root].only_once && last[root.value] == i;
            if (!over) continue;
            loaded.executable.release(loaded.pieces[root.value]);
            lent.erase(root);
        }
    }
    return {};
}

}  // namespace lemma::driver

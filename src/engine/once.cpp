// SPDX-License-Identifier: Apache-2.0
// Steps that run once, before the first run: they pack weights in the order of kernel accesses, and
// compute everything that depends on weights alone.
#include <algorithm>

#include "base/checked.h"
#include "engine/engine.h"
#include "engine/impl.h"
#include "loop/ir/lowest_read.h"
#include "tensor/files/mapped_file.h"

namespace lemma::engine {

namespace {

constexpr int64_t kAtOnce = int64_t{32} << 20;  // of the pages of a file

int64_t pieces_of(int64_t bytes, int64_t items) {
    return std::clamp<int64_t>(bytes / kAtOnce, 1, std::max<int64_t>(items, 1));
}

}  // namespace

// Kernels are dropped once they have code, so this comes before.
void Engine::find_packers(Code& code) {
    for (size_t i = 0; i < code.plan.steps.size(); ++i) {
        const loop::PlanStep& step = code.plan.steps[i];
        if (!step.once) continue;
        const loop::ScheduledKernel& kernel = *step.kernel();
        for (size_t argument = 0; argument < kernel.arguments.size(); ++argument) {
            const loop::StorageId id = kernel.arguments[argument];
            if (!id.valid() || id != code.plan.root(id)) continue;
            const loop::Storage& storage = code.plan.storages[id];
            const int64_t element = tensor::dtype_size(storage.dtype);
            const int64_t bytes = storage.elements * element;
            if (!storage.only_once || bytes < 2 * kAtOnce) continue;
            const int64_t items = kernel.function.items;
            const int64_t pieces = pieces_of(bytes, items);
            Code::Packer packer{i, argument, {}};
            for (int64_t piece = 1; piece < pieces; ++piece) {
                const auto lowest = loop::lowest_read(
                    kernel.function, make_id<loop::BufferId>(argument), items * piece / pieces);
                const auto begin = checked_mul(lowest.value_or(0), element);
                packer.lowest.push_back(std::clamp<int64_t>(begin.value_or(0), 0, bytes));
            }
            code.packers.push_back(std::move(packer));
        }
    }
}

// Pages of files are held while they are read and released piece by piece, so that weights are not
// in memory twice.
Result<void> Engine::run_packing(Loaded& loaded, size_t number, const Borrowed& borrowed) {
    const runtime::KernelCall step = make_call(loaded, number);
    struct Read {
        std::string_view bytes;
        size_t argument = 0;
    };
    std::vector<Read> read;
    int64_t bytes = 0;
    const auto& arguments = loaded.plan.steps[number].kernel()->arguments;
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (!arguments[i].valid()) continue;
        const auto found = borrowed.find(loaded.plan.root(arguments[i]));
        if (found == borrowed.end() || !found->second.shared_bytes()) continue;
        read.push_back({*found->second.shared_bytes(), i});
        LEMMA_TRY(tensor::hold_bytes(read.back().bytes));
        bytes += std::ssize(read.back().bytes);
    }
    // A device does whole groups, and has copies of the pages.
    const int64_t pieces = step.device ? 1 : pieces_of(bytes, step.items);
    const auto packer = std::ranges::find_if(loaded.code->packers, [&](const Code::Packer& one) {
        return read.size() == 1 && one.step == number && one.argument == read[0].argument &&
               std::ssize(one.lowest) == pieces - 1;
    });
    for (int64_t piece = 0; piece < pieces; ++piece) {
        const int64_t begin = step.items * piece / pieces;
        const int64_t end = step.items * (piece + 1) / pieces;
        LEMMA_TRY(loaded.executable.run_items(step, begin, end));
        if (end == step.items || packer == loaded.code->packers.end()) continue;
        // Releases pages that the remaining items do not read.
        const int64_t lowest = packer->lowest[static_cast<size_t>(piece)];
        const auto unread = std::min(static_cast<size_t>(lowest), read[0].bytes.size());
        tensor::drop_pages(read[0].bytes.substr(0, unread));
    }
    for (const Read& one : read) tensor::drop_pages(one.bytes);
    return {};
}

// Tensors that only these steps need are freed as soon as possible.
Result<void> Engine::run_once(Loaded& loaded) {
    const loop::Plan& plan = loaded.plan;
    std::vector<size_t> last(plan.storages.size(), SIZE_MAX);
    std::vector<size_t> once;
    for (size_t i = 0; i < plan.steps.size(); ++i) {
        if (!plan.steps[i].once) continue;
        once.push_back(i);
        for (const loop::StorageId id : plan.steps[i].kernel()->arguments) {
            if (id.valid()) last[plan.root(id).value] = i;
        }
    }
    Borrowed borrowed;
    for (const size_t i : once) {
        for (const loop::StorageId id : plan.steps[i].kernel()->arguments) {
            if (!id.valid()) continue;
            const loop::StorageId root = plan.root(id);
            const loop::Storage& storage = plan.storages[root];
            const size_t piece = loaded.pieces[root.value];
            if (!storage.only_once || loaded.executable.memory(piece)) continue;
            if (is_stored(storage, state_.program())) {
                LEMMA_TRY(auto data, stored_data(loaded, storage.tensor));
                if (data) {
                    const tensor::Tensor& kept =
                        borrowed.emplace(root, std::move(*data)).first->second;
                    loaded.executable.lend_memory(piece, kept.bytes().data());
                    continue;
                }
            }
            const int64_t bytes = storage.elements * tensor::dtype_size(storage.dtype);
            LEMMA_TRY(loaded.executable.give_memory(piece, bytes));
            if (!is_stored(storage, state_.program())) continue;
            LEMMA_TRY(fill(loaded, storage.tensor));
        }
        LEMMA_TRY(run_packing(loaded, i, borrowed));
        for (const loop::StorageId id : plan.steps[i].kernel()->arguments) {
            if (!id.valid()) continue;
            const loop::StorageId root = plan.root(id);
            const bool over = plan.storages[root].only_once && last[root.value] == i;
            if (!over) continue;
            loaded.executable.release(loaded.pieces[root.value]);
            borrowed.erase(root);
        }
    }
    return {};
}

}  // namespace lemma::engine

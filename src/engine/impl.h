// SPDX-License-Identifier: Apache-2.0
// engine/impl.h — shared parts of the engine; see engine.h.
#pragma once

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/exchange.h"
#include "engine/stored.h"

namespace lemma::engine {

struct Engine::Loaded {
    Loaded(std::shared_ptr<const Code> of, const EngineOptions& options)
        : code(std::move(of)),
          plan(code->plan),
          threads(options.threads),
          executable(options.threads,
                     options.guarded,
                     options.processors > 0 ? options.processors : usable_processors()) {}

    std::shared_ptr<const Code> code;
    const loop::Plan& plan;
    const int threads;
    runtime::Executable executable;
    uint64_t used = 0;                                // time of last use, as a count of runs
    uint64_t version = 0;                             // of the variables in its memory
    std::vector<size_t> pieces;                       // by storage
    runtime::Steps steps;                             // of each run
    std::deque<std::vector<int64_t>> window_numbers;  // of sums over windows
    std::vector<size_t> plan_steps;                   // of each run, in the order of the text
    bool needs_arrays = false;                        // a run from bytes to bytes failed
    // Of all inputs and outputs in the order of the graph, if runs go from bytes to bytes.
    std::vector<DirectTensor> input_places, output_places;
    std::vector<std::vector<std::byte>> passed;  // by output: a copy of an input
    std::vector<Exchange> exchanges;             // by update, if runs go from bytes to bytes
    // The present state of a tensor with run-time extents.
    struct Dynamic {
        tensor::Shape shape;
        int64_t capacity = 0;  // bytes of its memory
        bool given = false;    // to the interpreter
        bool lent = false;     // its memory is that of a carried value
    };
    std::unordered_map<ir::TensorId, Dynamic, IdHash> dynamic;
    // A run-time number, with the symbols that it depends on.
    struct Told {
        std::vector<ir::SymId> symbols;
        std::vector<std::optional<int64_t>> values;
        int64_t value = 0;
        bool valid = false;

        // Whether the number is still valid. Stores the current symbols and clears `valid`, which
        // the caller sets again.
        bool refresh(const interpret::State& state);
    };
    std::unordered_map<ir::SymId, Told, IdHash> told;
    std::unordered_map<ir::OpId, Told, IdHash> checked;  // operations whose assertions held

    size_t piece(loop::StorageId id) const { return id.valid() ? pieces[id.value] : 0; }
    void* data(const loop::BufferView& place) {
        return executable.memory(pieces[place.storage.value]);
    }
    // The same before it is read or written.
    const void* read(const loop::BufferView& place) const {
        return executable.read(pieces[place.storage.value], bytes(place.storage));
    }
    void* write(const loop::BufferView& place) {
        return executable.write(pieces[place.storage.value], bytes(place.storage));
    }
    // From the beginning of the storage to the end of the one that contains it: kernels reach other
    // items of a pack from the first one.
    int64_t bytes(loop::StorageId id) const {
        const int64_t size = tensor::dtype_size(plan.storages[id].dtype);
        int64_t before = 0;
        for (; plan.storages[id].base.valid(); id = plan.storages[id].base) {
            before += plan.storages[id].begin;
        }
        return (plan.storages[id].elements - before) * size;
    }
};

}  // namespace lemma::engine

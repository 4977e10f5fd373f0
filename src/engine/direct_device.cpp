// SPDX-License-Identifier: Apache-2.0
// Runs from the caller's bytes to the caller's bytes on a device.
#include <algorithm>

#include "engine/engine.h"
#include "engine/impl.h"

namespace lemma::engine {

// Inputs go from the caller's memory to the device, and outputs the other way. The device has
// memory of its own for them, so that the addresses of its kernels stay.
Result<std::vector<Engine::Output>> Engine::copy_and_run(Loaded& loaded,
                                                         std::span<const Bytes> inputs,
                                                         std::span<const Room> rooms) {
    runtime::Executable& executable = loaded.executable;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const loop::BufferView& place = *loaded.input_places[i].place;
        const int64_t bytes = *tensor::volume(place.shape) * tensor::dtype_size(place.dtype);
        LEMMA_TRY(executable.give(loaded.piece(place.storage), inputs[i].data, bytes));
    }
    executable.set_control(state_.control());
    LEMMA_TRY(executable.start(loaded.steps));
    std::vector<Output> outputs;
    for (size_t i = 0; i < loaded.output_places.size(); ++i) {
        Output& made = outputs.emplace_back(direct_output(loaded, i));
        const bool fits = i < rooms.size() && rooms[i].data && rooms[i].bytes >= made.bytes;
        if (fits) made.data = rooms[i].data;
        const size_t piece = loaded.piece(loaded.output_places[i].place->storage);
        LEMMA_TRY(executable.take(made.data, piece, static_cast<int64_t>(made.bytes)));
    }
    return outputs;
}

Result<bool> Engine::run_on_device(Loaded& loaded,
                                   std::span<const Bytes> inputs,
                                   const Receiver& receive,
                                   std::span<const Room> rooms) {
    const auto known = [](const DirectTensor& tensor) { return tensor.place != nullptr; };
    if (!std::ranges::all_of(loaded.input_places, known) ||
        !std::ranges::all_of(loaded.output_places, known)) {
        return false;
    }
    const auto outputs = copy_and_run(loaded, inputs, rooms);
    auto ended = loaded.executable.finish_device();
    device_failed_ |= loaded.executable.device_failed();
    if (!outputs || !ended) {
        if (!device_failed_) return false;
        return std::unexpected(outputs ? ended.error() : outputs.error());
    }
    for (const Output& made : *outputs) {
        LEMMA_TRY(receive(made));
    }
    update_directly(loaded);
    return true;
}

}  // namespace lemma::engine

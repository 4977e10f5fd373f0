// SPDX-License-Identifier: Apache-2.0
// Runs from the caller's bytes to the caller's bytes on a device. The device has memory of its own
// for inputs and outputs, so that the addresses of its kernels stay.
#include <algorithm>

#include "engine/engine.h"
#include "engine/impl.h"

namespace lemma::engine {

namespace {

runtime::DeviceAddress address_of(const void* data) {
    return reinterpret_cast<runtime::DeviceAddress>(data);
}

}  // namespace

Result<void> Engine::give_inputs(Loaded& loaded, std::span<const Bytes> inputs, void* stream) {
    runtime::Executable& executable = loaded.executable;
    if (std::ranges::any_of(inputs, &Bytes::on_device)) LEMMA_TRY(executable.follow(stream));
    for (size_t i = 0; i < inputs.size(); ++i) {
        const loop::BufferView& place = *loaded.input_places[i].place;
        const int64_t bytes = *tensor::volume(place.shape) * tensor::dtype_size(place.dtype);
        const size_t piece = loaded.piece(place.storage);
        if (inputs[i].on_device) {
            LEMMA_TRY(executable.give_there(piece, address_of(inputs[i].data), bytes));
        } else {
            LEMMA_TRY(executable.give(piece, inputs[i].data, bytes));
        }
    }
    return {};
}

Result<Engine::Output> Engine::take_output(Loaded& loaded, size_t index, const Room& room) {
    Output made = direct_output(loaded, index);
    const size_t piece = loaded.piece(loaded.output_places[index].place->storage);
    const auto bytes = static_cast<int64_t>(made.bytes);
    const bool fits = room.data && room.bytes >= made.bytes;
    made.on_device = room.on_device;
    if (!room.on_device) {
        if (fits) made.data = room.data;
        LEMMA_TRY(loaded.executable.take(made.data, piece, bytes));
        return made;
    }
    if (fits) {
        made.data = room.data;
        LEMMA_TRY(loaded.executable.take_there(address_of(room.data), piece, bytes));
        return made;
    }
    LEMMA_TRY(const runtime::DeviceAddress own, loaded.executable.address_there(piece, bytes));
    made.data = reinterpret_cast<void*>(own);
    return made;
}

Result<std::vector<Engine::Output>> Engine::copy_and_run(Loaded& loaded,
                                                         std::span<const Bytes> inputs,
                                                         std::span<const Room> rooms,
                                                         void* stream) {
    LEMMA_TRY(give_inputs(loaded, inputs, stream));
    loaded.executable.set_control(state_.control());
    LEMMA_TRY(loaded.executable.start(loaded.steps));
    std::vector<Output> outputs;
    for (size_t i = 0; i < loaded.output_places.size(); ++i) {
        LEMMA_TRY(const Output made, take_output(loaded, i, i < rooms.size() ? rooms[i] : Room{}));
        outputs.push_back(made);
    }
    return outputs;
}

Result<bool> Engine::run_on_device(Loaded& loaded,
                                   std::span<const Bytes> inputs,
                                   const Receiver& receive,
                                   std::span<const Room> rooms,
                                   void* stream) {
    const auto known = [](const DirectTensor& tensor) { return tensor.place != nullptr; };
    if (!std::ranges::all_of(loaded.input_places, known) ||
        !std::ranges::all_of(loaded.output_places, known)) {
        return false;
    }
    const auto outputs = copy_and_run(loaded, inputs, rooms, stream);
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

// ---- Other runs ---------------------------------------------------------------------------------

Result<void> Engine::copy_from_device(void* to, const void* from, size_t bytes, void* stream) {
    LEMMA_TRY(const auto queue, shared_->device()->make_queue());
    LEMMA_TRY(queue->follow(stream));
    LEMMA_TRY(queue->download(to, address_of(from), static_cast<int64_t>(bytes)));
    return queue->wait();
}

Result<void> Engine::copy_to_device(void* to, const void* from, size_t bytes) {
    LEMMA_TRY(const auto queue, shared_->device()->make_queue());
    LEMMA_TRY(queue->upload(address_of(to), from, static_cast<int64_t>(bytes)));
    return queue->wait();
}

}  // namespace lemma::engine

// SPDX-License-Identifier: Apache-2.0
// Runs from the caller's bytes to the engine's, without the interpreter's arrays.
#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/data.h"
#include "engine/engine.h"
#include "engine/growing.h"
#include "engine/impl.h"
#include "tensor/room.h"

namespace lemma::engine {

namespace {

bool is_plain(const loop::BufferView& place) {
    return place.dtype != tensor::DType::Str && place.layout == loop::row_major(place.shape);
}

size_t bytes_of(tensor::DType dtype, const tensor::Shape& shape) {
    return static_cast<size_t>(*tensor::volume(shape) * tensor::dtype_size(dtype));
}

}  // namespace

// The steps read inputs from the caller's memory, and write outputs to it, during the lifetime of
// this object. Inputs at an unaligned address are copied. Inputs without elements use our memory,
// which has room for one.
class Engine::BorrowedMemory {
public:
    explicit BorrowedMemory(Loaded& loaded) : loaded_(loaded) {}
    BorrowedMemory(const BorrowedMemory&) = delete;
    ~BorrowedMemory() {
        for (const Own& own : own_) loaded_.executable.lend_memory(own.piece, own.data);
        for (const ir::TensorId id : lent_) loaded_.dynamic[id].lent = false;
    }

    // Kernels use this memory for a tensor with run-time extents.
    void lend(ir::TensorId id, tensor::Shape shape, void* data) {
        const auto place = loaded_.plan.dynamic_places.find(id);
        if (place == loaded_.plan.dynamic_places.end()) return;  // nobody uses it
        const size_t piece = loaded_.piece(place->second.storage);
        Loaded::Dynamic& dynamic = loaded_.dynamic[id];
        dynamic.shape = std::move(shape);
        dynamic.given = false;
        dynamic.lent = true;
        lent_.push_back(id);
        own_.push_back({piece, loaded_.executable.memory(piece), 0, 0});
        loaded_.executable.lend_memory(piece, data);
    }

    Result<void> add(Engine& engine, const DirectTensor& tensor, const Bytes& input) {
        const auto address = reinterpret_cast<uintptr_t>(input.data);
        const bool odd = address % static_cast<size_t>(tensor::dtype_size(input.dtype)) != 0;
        const tensor::Shape shape(input.shape.begin(), input.shape.end());
        if (!tensor::bounded_volume(shape)) {
            return std::unexpected(Error{"a tensor that is too large"});
        }
        const size_t bytes = bytes_of(input.dtype, shape);
        const bool copied = odd || bytes == 0;
        if (!tensor.place && copied) {
            LEMMA_TRY(engine.make_room(loaded_, tensor.id, shape));
        } else if (!tensor.place) {
            loaded_.dynamic[tensor.id].shape = shape;
            loaded_.dynamic[tensor.id].given = false;
        }
        const size_t piece =
            loaded_.piece(tensor.place ? tensor.place->storage
                                       : loaded_.plan.dynamic_places.at(tensor.id).storage);
        void* const own = loaded_.executable.memory(piece);
        if (copied && bytes > 0) std::memcpy(own, input.data, bytes);
        if (copied) return {};
        own_.push_back({piece, own, address, bytes});
        loaded_.executable.lend_memory(piece, input.data);
        return {};
    }

    // Lets the steps write an output to the caller's memory.
    void add_room(loop::StorageId storage, const Room& room) {
        const size_t piece = loaded_.piece(storage);
        own_.push_back({piece, loaded_.executable.memory(piece), 0, 0});
        loaded_.executable.lend_memory(piece, room.data);
    }

    // Whether the address is in an input of the caller.
    bool has(const void* data) const {
        const auto address = reinterpret_cast<uintptr_t>(data);
        return std::ranges::any_of(own_, [&](const Own& own) {
            return address >= own.address && address - own.address < own.bytes;
        });
    }

    // Whether the memory overlaps an input of the caller.
    bool overlaps(const Room& room) const {
        const auto address = reinterpret_cast<uintptr_t>(room.data);
        return std::ranges::any_of(own_, [&](const Own& own) {
            return address < own.address + own.bytes && own.address < address + room.bytes;
        });
    }

private:
    struct Own {
        size_t piece;
        void* data;         // of the engine
        uintptr_t address;  // of the caller
        size_t bytes;
    };
    Loaded& loaded_;
    std::vector<Own> own_;
    std::vector<ir::TensorId> lent_;
};

bool Engine::is_direct(const loop::Plan& plan) const {
    const ir::Program& program = state_.program();
    const auto all_of = [](const ir::Port& port, auto&& good) {
        if (port.operand.length.valid()) return false;  // the plan depends on it
        return std::ranges::all_of(port.operand.items, good);
    };
    const auto known = [&](ir::TensorId id) {
        const auto place = plan.places.find(id);
        return place != plan.places.end() && is_plain(place->second);
    };
    const auto dynamic = [&](ir::TensorId id, bool computed) {
        const auto place = plan.dynamic_places.find(id);
        return place != plan.dynamic_places.end() && place->second.computed == computed &&
               place->second.dtype != tensor::DType::Str;
    };
    const ir::Graph& graph = program.graphs[program.main];
    // The state has no data of the inputs, which kernels do not need, nor that of variables which
    // runs update.
    const auto is_input = [&](ir::TensorId id) {
        return std::ranges::any_of(graph.inputs, [&](const ir::Port& port) {
            return std::ranges::find(port.operand.items, id) != port.operand.items.end();
        });
    };
    const auto is_updated = [&](ir::TensorId id) {
        return std::ranges::find(program.updates, id, &ir::Update::variable) !=
               program.updates.end();
    };
    const bool compiled = std::ranges::all_of(plan.steps, [&](const loop::PlanStep& step) {
        if (!asks_state(step)) return true;
        const bool interpreted = step.is<loop::InterpretedStep>();
        if (!growing_.empty()) return !interpreted;
        return std::ranges::none_of(step.reads, [&](ir::TensorId id) {
            return is_updated(id) || (interpreted && is_input(id));
        });
    });
    // An unused input has no place; the interpreter checks whether it fits.
    const bool given = std::ranges::all_of(graph.inputs, [&](const ir::Port& port) {
        return all_of(port, [&](ir::TensorId id) {
            const bool carried = std::ranges::find(plan.carried, id, &loop::CarriedPair::input) !=
                                 plan.carried.end();
            if (!known(id)) return carried || dynamic(id, false);
            return plan.storages[plan.places.at(id).storage].role == loop::StorageRole::Given;
        });
    });
    const bool made = std::ranges::all_of(graph.outputs, [&](const ir::Port& port) {
        return all_of(port, [&](ir::TensorId id) { return known(id) || dynamic(id, true); });
    });
    return compiled && given && made && updates_directly(plan);
}

std::vector<Engine::DirectTensor> Engine::places_of(const loop::Plan& plan,
                                                    const std::vector<ir::Port>& ports) const {
    std::vector<DirectTensor> places;
    for (const ir::Port& port : ports) {
        for (const ir::TensorId id : port.operand.items) {
            const auto place = plan.places.find(id);
            places.push_back({id,
                              state_.program().tensors[id].dtype,
                              place != plan.places.end() ? &place->second : nullptr});
        }
    }
    return places;
}

namespace {

// Whether nothing but this tensor is in the storage, and nothing but kernels knows its address.
bool is_movable(const loop::Plan& plan, const loop::BufferView& place) {
    const loop::Storage& storage = plan.storages[place.storage];
    const bool own = !storage.base.valid() && !storage.moves && !storage.only_once &&
                     !storage.scratch && !storage.needs_zeros &&
                     storage.role == loop::StorageRole::Computed;
    return own && storage.dtype == place.dtype && is_plain(place) && storage.elements > 0 &&
           storage.elements == tensor::volume(place.shape);
}

bool has_control_flow(const loop::Plan& plan) {
    return std::ranges::any_of(plan.steps, [](const loop::PlanStep& step) {
        return step.is<loop::PlanLoop>() || step.is<loop::PlanBranch>();
    });
}

}  // namespace

void Engine::find_places(Loaded& loaded) const {
    if (!loaded.code->direct) return;
    const ir::Graph& graph = state_.program().graphs[state_.program().main];
    loaded.input_places = places_of(loaded.plan, graph.inputs);
    loaded.output_places = places_of(loaded.plan, graph.outputs);
    if (has_control_flow(loaded.plan)) return;
    for (DirectTensor& output : loaded.output_places) {
        const auto shares = [&](const DirectTensor& other) {
            return other.place && loaded.plan.root(other.place->storage) == output.place->storage;
        };
        output.movable =
            output.place && is_movable(loaded.plan, *output.place) &&
            std::ranges::count_if(loaded.output_places, shares) == 1 &&
            // The value becomes that of a variable, which stays in our memory.
            std::ranges::find(loaded.exchanges, output.place->storage, &Exchange::value) ==
                loaded.exchanges.end();
    }
}

// An output stays in our memory if the caller's is too small, unaligned, or in use by an input or
// by another output.
void Engine::use_rooms(BorrowedMemory& borrowed, std::span<const Room> rooms) {
    const Loaded& loaded = *current_;
    const auto meet = [](const Room& a, const Room& b) {
        const auto at_a = reinterpret_cast<uintptr_t>(a.data);
        const auto at_b = reinterpret_cast<uintptr_t>(b.data);
        return a.data && b.data && at_a < at_b + b.bytes && at_b < at_a + a.bytes;
    };
    for (size_t i = 0; i < std::min(rooms.size(), loaded.output_places.size()); ++i) {
        const DirectTensor& output = loaded.output_places[i];
        const Room& room = rooms[i];
        if (!room.data || !output.movable) continue;
        const bool odd = reinterpret_cast<uintptr_t>(room.data) %
                             static_cast<size_t>(tensor::dtype_size(output.dtype)) !=
                         0;
        const bool fits = bytes_of(output.place->dtype, output.place->shape) <= room.bytes;
        const bool shared =
            std::ranges::count_if(rooms, [&](const Room& other) { return meet(room, other); }) > 1;
        if (odd || !fits || shared || borrowed.overlaps(room)) continue;
        borrowed.add_room(output.place->storage, room);
    }
}

// The shape of a tensor with run-time extents was checked when the run began.
bool Engine::takes(std::span<const DirectTensor> places, std::span<const Bytes> inputs) {
    return std::ranges::equal(places, inputs, [](const DirectTensor& tensor, const Bytes& input) {
        return input.dtype == tensor.dtype &&
               (!tensor.place || std::ranges::equal(input.shape, tensor.place->shape));
    });
}

// The code for these inputs, also if another engine of the program has made it. With growing
// extents, the run begins, and the code is made if there is none.
Result<Engine::Loaded*> Engine::find_direct(std::span<const Bytes> inputs) {
    const auto fits = [&](const Loaded& loaded) {
        return loaded.code->direct && !loaded.needs_arrays && takes(loaded.input_places, inputs);
    };
    if (!growing_.empty()) {
        if (!begin_by_shapes(inputs)) return nullptr;  // `run` explains it
        carrying_ = true;
        const auto loaded = load();
        carrying_ = false;
        return loaded && fits(**loaded) ? *loaded : nullptr;
    }
    if (current_ && fits(*current_)) return current_;
    for (const auto& [key, loaded] : loaded_) {
        if (fits(*loaded)) return loaded.get();
    }
    if (has_own_weights()) return nullptr;
    const ir::Graph& graph = state_.program().graphs[state_.program().main];
    auto shared = shared_->find([&](const Code& code) {
        return code.direct && takes(places_of(code.plan, graph.inputs), inputs);
    });
    if (!shared) return nullptr;
    return add(std::move(shared->first), std::move(shared->second));
}

Result<std::unique_lock<std::recursive_mutex>> Engine::first_turn() {
    if (!loaded_.empty()) return std::unique_lock<std::recursive_mutex>();
    return shared_->wait(state_.control());
}

Result<bool> Engine::load_directly(std::span<const Bytes> inputs) {
    LEMMA_TRY(Loaded* const found, find_direct(inputs));
    if (found) current_ = found;
    return found != nullptr;
}

bool Engine::make_directly(std::span<const Bytes> inputs) {
    const ir::Program& program = state_.program();
    std::vector<tensor::DType> dtypes;
    for (const ir::Port& port : program.graphs[program.main].inputs) {
        if (port.operand.length.valid()) return false;
        for (const ir::TensorId id : port.operand.items) {
            dtypes.push_back(program.tensors[id].dtype);
        }
    }
    const bool suits = growing_.empty() && carried_.empty() &&
                       std::ranges::equal(inputs, dtypes, {}, &Bytes::dtype);
    if (!suits || !store_variables()) return false;
    without_code_ = false;
    const auto begun = begin_by_shapes(inputs);
    const auto loaded = begun ? load() : std::unexpected(begun.error());
    state_.end_run(false);
    if (loaded) current_ = *loaded;
    return loaded.has_value();
}

// The output where the steps left it.
Engine::Output Engine::direct_output(Loaded& loaded, size_t index) {
    const DirectTensor& tensor = loaded.output_places[index];
    if (tensor.place) {
        const loop::BufferView& place = *tensor.place;
        return {place.dtype, &place.shape, loaded.data(place), bytes_of(place.dtype, place.shape)};
    }
    const loop::DynamicView& place = loaded.plan.dynamic_places.at(tensor.id);
    const tensor::Shape& shape = loaded.dynamic[tensor.id].shape;
    void* const data = loaded.executable.memory(loaded.piece(place.storage));
    return {place.dtype, &shape, data, bytes_of(place.dtype, shape)};
}

Result<void> Engine::begin_by_shapes(std::span<const Bytes> inputs) {
    std::vector<interpret::State::InputShape> shapes;
    for (const Bytes& input : inputs) shapes.push_back(input.shape);
    return state_.begin_run(shapes);
}

Result<bool> Engine::run_directly(std::span<const Bytes> inputs,
                                  const Receiver& receive,
                                  std::span<const Room> rooms,
                                  void* stream) {
    failed_directly_ = false;
    if (shared_->device() && !carried_.empty()) return false;  // they are on the processor
    const std::vector<Bytes> given = with_carried(inputs);
    LEMMA_TRY(const bool ready, load_directly(given));
    if (!ready) return false;
    // With growing extents, the run has begun already.
    const bool begins = current_->code->stateful && growing_.empty();
    if (begins && !begin_by_shapes(given)) return false;
    LEMMA_TRY(const bool done, run_steps_directly(inputs, given, receive, rooms, stream));
    failed_directly_ = !done;
    return done;
}

void Engine::end_directly(const Loaded& loaded) {
    if (loaded.code->stateful || !growing_.empty()) state_.end_run(true);
}

bool Engine::needs_arrays() const {
    return current_ && (!current_->code->direct || current_->needs_arrays || failed_directly_);
}

Result<bool> Engine::run_steps_directly(std::span<const Bytes> inputs,
                                        std::span<const Bytes> given,
                                        const Receiver& receive,
                                        std::span<const Room> rooms,
                                        void* stream) {
    Loaded& loaded = *current_;
    loaded.used = ++uses_;
    if (loaded.version != version_) {
        LEMMA_TRY(store_variables());
        LEMMA_TRY(fill_kept(loaded));
    }
    if (shared_->device()) {
        LEMMA_TRY(const bool done, run_on_device(loaded, inputs, receive, rooms, stream));
        if (done) end_directly(loaded);
        return done;
    }
    BorrowedMemory borrowed(loaded);
    std::vector<tensor::Tensor> copies;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const DirectTensor& tensor = loaded.input_places[i];
        CarriedValue* const value = find_carried(&loop::CarriedPair::input, tensor.id);
        const auto done = value ? add_carried(borrowed, *value, i, given[i], copies)
                                : borrowed.add(*this, tensor, given[i]);
        if (!done) return false;
    }
    use_rooms(borrowed, rooms);
    loaded.executable.set_control(state_.control());
    if (auto done = loaded.executable.run(loaded.steps); !done) return false;
    end_directly(loaded);
    for (size_t i = 0; i < loaded.output_places.size(); ++i) {
        Output made = direct_output(loaded, i);
        if (find_carried(&loop::CarriedPair::output, loaded.output_places[i].id)) {
            made = {.dtype = made.dtype, .shape = made.shape, .carried = true};
        } else if (borrowed.has(made.data)) {
            // An output may be an input, whose memory is the caller's.
            const auto* const from = static_cast<const std::byte*>(made.data);
            loaded.passed.resize(loaded.output_places.size());
            loaded.passed[i].assign(from, from + made.bytes);
            made.data = loaded.passed[i].data();
        }
        LEMMA_TRY(receive(made));
    }
    LEMMA_TRY(keep_carried(loaded));
    update_directly(loaded);
    return true;
}

// ---- Variables ----------------------------------------------------------------------------------

bool Engine::updates_directly(const loop::Plan& plan) const {
    return std::ranges::all_of(state_.program().updates, [&](const ir::Update& update) {
        const auto to = plan.places.find(update.variable);
        const auto from = plan.places.find(update.value);
        return to != plan.places.end() && from != plan.places.end() && is_plain(to->second) &&
               is_plain(from->second) && to->second.dtype == from->second.dtype &&
               to->second.shape == from->second.shape &&
               plan.storages[plan.root(to->second.storage)].role == loop::StorageRole::Kept;
    });
}

// All updates are read before any variable changes.
void Engine::update_directly(Loaded& loaded) {
    const std::vector<ir::Update>& updates = state_.program().updates;
    if (updates.empty()) return;
    const auto place = [&](ir::TensorId id) -> const loop::BufferView& {
        return loaded.plan.places.at(id);
    };
    const bool apart = std::ranges::none_of(updates, [&](const ir::Update& update) {
        const loop::StorageId root = loaded.plan.root(place(update.value).storage);
        return loaded.plan.storages[root].role == loop::StorageRole::Kept;
    });
    std::vector<std::vector<std::byte>> copies(apart ? 0 : updates.size());
    const auto bytes = [&](const ir::Update& update) {
        return bytes_of(place(update.variable).dtype, place(update.variable).shape);
    };
    const auto exchanged = [&](size_t i) { return loaded.exchanges[i].value.valid(); };
    for (size_t i = 0; i < copies.size(); ++i) {
        if (exchanged(i)) continue;
        const auto* const from =
            static_cast<const std::byte*>(loaded.read(place(updates[i].value)));
        copies[i].assign(from, from + bytes(updates[i]));
    }
    for (size_t i = 0; i < updates.size(); ++i) {
        if (bytes(updates[i]) == 0 || exchanged(i)) continue;
        const loop::BufferView& to = place(updates[i].variable);
        if (apart) {
            loaded.executable.copy(loaded.piece(to.storage),
                                   loaded.piece(place(updates[i].value).storage),
                                   static_cast<int64_t>(bytes(updates[i])));
        } else {
            std::memcpy(loaded.write(to), copies[i].data(), bytes(updates[i]));
        }
    }
    for (const Exchange& exchange : loaded.exchanges) {
        if (!exchange.value.valid()) continue;
        const size_t variable = loaded.piece(exchange.variable);
        const size_t value = loaded.piece(exchange.value);
        const void* const old = loaded.executable.memory(variable);
        loaded.executable.lend_memory(variable, loaded.executable.memory(value));
        loaded.executable.lend_memory(value, old);
    }
    loaded.version = ++version_;
    changed_ = &loaded;
}

Result<void> Engine::store_variables() {
    if (!changed_) return {};
    for (const ir::Update& update : state_.program().updates) {
        const loop::BufferView& place = changed_->plan.places.at(update.variable);
        LEMMA_TRY(interpret::Array value, from_memory(place, changed_->read(place)));
        state_.keep_variable(update.variable, std::make_shared<interpret::Array>(std::move(value)));
    }
    Loaded& stored = *std::exchange(changed_, nullptr);
    return stored.executable.finish_device();
}

// ---- Carried values -----------------------------------------------------------------------------

Result<void> Engine::carry(ir::TensorId output, ir::TensorId input) {
    const ir::Program& program = state_.program();
    const ir::Tensor& from = program.tensors[output];
    const ir::Tensor& to = program.tensors[input];
    if (from.dtype != to.dtype || from.shape.size() != to.shape.size()) {
        return std::unexpected(Error{"the output and the input have different types or ranks"});
    }
    const bool twice = find_carried(&loop::CarriedPair::output, output) ||
                       find_carried(&loop::CarriedPair::input, input);
    if (twice) return std::unexpected(Error{"the output or the input is carried already"});
    const auto axis = growing_axis(program, input, output);
    carried_.emplace_back(
        loop::CarriedPair{input, output, axis.value_or(0)}, axis.has_value(), to.dtype);
    return {};
}

CarriedValue* Engine::find_carried(ir::TensorId loop::CarriedPair::* side, ir::TensorId id) {
    const auto found = std::ranges::find_if(
        carried_, [&](const CarriedValue& value) { return value.pair().*side == id; });
    return found != carried_.end() ? &*found : nullptr;
}

const CarriedValue* Engine::carried(ir::TensorId input) const {
    const auto found = std::ranges::find_if(carried_, [&](const CarriedValue& value) {
        return value.pair().input == input && value.has_value();
    });
    return found != carried_.end() ? &*found : nullptr;
}

Result<void> Engine::set_carried(ir::TensorId input, const tensor::Tensor& value) {
    CarriedValue* const to = find_carried(&loop::CarriedPair::input, input);
    if (!to) return std::unexpected(Error{"the input is not carried"});
    if (value.dtype() != to->dtype()) return std::unexpected(Error{"a value of another type"});
    return to->assign(value.shape(), value.bytes().data());
}

void Engine::drop_carried() {
    for (CarriedValue& value : carried_) value.drop();
}

// The inputs of the run: carried values in place of the caller's.
std::vector<Engine::Bytes> Engine::with_carried(std::span<const Bytes> inputs) {
    std::vector<Bytes> given(inputs.begin(), inputs.end());
    if (carried_.empty()) return given;
    size_t next = 0;
    for (const ir::Port& port : state_.program().graphs[state_.program().main].inputs) {
        for (const ir::TensorId id : port.operand.items) {
            if (next == given.size()) return given;
            Bytes& input = given[next++];
            const CarriedValue* const value = carried(id);
            if (value) input = {value->dtype(), value->shape(), nullptr};
        }
    }
    return given;
}

bool Engine::in_place(const Loaded& loaded, const CarriedValue& value) {
    return std::ranges::any_of(loaded.plan.carried, [&](const loop::CarriedPair& pair) {
        return pair.output == value.pair().output;
    });
}

Result<void> Engine::add_carried(BorrowedMemory& borrowed,
                                 CarriedValue& value,
                                 size_t index,
                                 const Bytes& given,
                                 std::vector<tensor::Tensor>& copies) {
    Loaded& loaded = *current_;
    const DirectTensor& tensor = loaded.input_places[index];
    if (!in_place(loaded, value)) {
        if (!value.has_value()) return borrowed.add(*this, tensor, given);
        LEMMA_TRY(tensor::Tensor copy, value.value());
        copies.push_back(std::move(copy));
        return borrowed.add(
            *this, tensor, {given.dtype, value.shape(), copies.back().bytes().data()});
    }
    LEMMA_TRY(const tensor::Shape result, told_shape(loaded, value.pair().output));
    const size_t axis = value.pair().axis;
    if (!value.has_value()) {
        LEMMA_TRY(value.assign({given.shape.begin(), given.shape.end()}, given.data));
        value.set_tried();
    }
    LEMMA_TRY(value.reserve(result[axis]));
    value.clear_to(result[axis]);
    borrowed.lend(value.pair().input, value.shape(), value.data());
    borrowed.lend(value.pair().output, result, value.data());
    return {};
}

Result<void> Engine::keep_carried(Loaded& loaded) {
    for (size_t i = 0; i < loaded.output_places.size(); ++i) {
        CarriedValue* const value =
            find_carried(&loop::CarriedPair::output, loaded.output_places[i].id);
        if (!value) continue;
        const Output made = direct_output(loaded, i);
        if (in_place(loaded, *value)) {
            value->set_shape(*made.shape);
        } else {
            LEMMA_TRY(value->assign(*made.shape, made.data));
        }
    }
    return {};
}

}  // namespace lemma::engine

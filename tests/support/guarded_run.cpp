// SPDX-License-Identifier: Apache-2.0
#include "support/guarded_run.h"

#include <sys/mman.h>

#include <cstring>
#include <memory>

namespace lemma::testing {

namespace {

constexpr size_t kPage = 4096;

// A copy of some bytes that ends at a page boundary, followed by an inaccessible page.
class GuardedCopy {
public:
    explicit GuardedCopy(std::span<const std::byte> bytes)
        : size_((bytes.size() + kPage - 1) / kPage * kPage + kPage),
          pages_(static_cast<std::byte*>(
              ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
          data_(pages_ + (size_ - kPage - bytes.size())) {
        std::memcpy(data_, bytes.data(), bytes.size());
        ::mprotect(pages_ + size_ - kPage, kPage, PROT_NONE);
    }
    GuardedCopy(const GuardedCopy&) = delete;
    ~GuardedCopy() { ::munmap(pages_, size_); }

    void* data() const { return data_; }

private:
    size_t size_;
    std::byte* pages_;
    std::byte* data_;
};

}  // namespace

namespace {

// Memory for the outputs whose extents are known, directly before inaccessible pages.
std::vector<std::unique_ptr<GuardedCopy>> rooms_for(const ir::Program& program,
                                                    std::vector<engine::Engine::Room>& rooms) {
    std::vector<std::unique_ptr<GuardedCopy>> memory;
    for (const ir::Port& port : program.graphs[program.main].outputs) {
        for (const ir::TensorId id : port.operand.items) {
            const ir::Tensor& tensor = program.tensors[id];
            int64_t bytes = tensor::dtype_size(tensor.dtype);
            for (const ir::SymId extent : tensor.shape) {
                bytes *= program.symbols.as_int(extent).value_or(0);
            }
            rooms.emplace_back();
            if (bytes == 0 || tensor.dtype == tensor::DType::Str) continue;
            const std::vector<std::byte> junk(static_cast<size_t>(bytes), std::byte{0xa5});
            memory.push_back(std::make_unique<GuardedCopy>(junk));
            rooms.back() = {memory.back()->data(), junk.size()};
        }
    }
    return memory;
}

}  // namespace

std::optional<interpret::NamedArrays> run_guarded(const interpret::State& state,
                                                  const interpret::NamedArrays& inputs,
                                                  engine::Engine& engine) {
    const ir::Program& program = state.program();
    const ir::Graph& graph = program.graphs[program.main];
    std::vector<engine::Engine::Bytes> given;
    std::vector<std::unique_ptr<GuardedCopy>> copies;
    for (const ir::Port& port : graph.inputs) {
        const auto values = inputs.find(port.name);
        if (values == inputs.end() || values->second.size() != port.operand.items.size()) return {};
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            const ir::TensorId id = port.operand.items[i];
            interpret::Array value = values->second[i];
            value.dtype = program.tensors[id].dtype;
            const auto tensor = interpret::to_tensor(value);
            if (!tensor || tensor->dtype() == tensor::DType::Str) return {};
            copies.push_back(std::make_unique<GuardedCopy>(tensor->bytes()));
            given.push_back({value.dtype, values->second[i].shape, copies.back()->data()});
        }
    }
    std::vector<tensor::Tensor> received;
    const auto receive = [&](const engine::Engine::Output& output) -> Result<void> {
        LEMMA_TRY(tensor::Tensor made, tensor::Tensor::zeros(output.dtype, *output.shape));
        if (output.bytes > 0) std::memcpy(made.bytes().data(), output.data, output.bytes);
        received.push_back(std::move(made));
        return {};
    };
    std::vector<engine::Engine::Room> rooms;
    const auto memory = rooms_for(program, rooms);
    const auto done = engine.run_directly(given, receive, rooms);
    if (!done || !*done) return std::nullopt;
    interpret::NamedArrays outputs;
    size_t next = 0;
    for (const ir::Port& port : graph.outputs) {
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            outputs[port.name].push_back(interpret::to_array(received.at(next++)).value());
        }
    }
    return outputs;
}

}  // namespace lemma::testing

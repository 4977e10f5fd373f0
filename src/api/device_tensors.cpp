// SPDX-License-Identifier: Apache-2.0
// Tensors in the memory of a model's device.
#include <fmt/format.h>

#include "api/model.h"
#include "api/report.h"
#include "api/session.h"

struct lemma_device_memory {
    explicit lemma_device_memory(lemma_model* of) : model(lemma_model_share(of)) {}
    lemma_device_memory(const lemma_device_memory&) = delete;
    ~lemma_device_memory() {
        if (address != 0) model->loaded->device()->free(address);
        lemma_model_free(model);
    }

    lemma_model* model;
    lemma::runtime::DeviceAddress address = 0;
    size_t size = 0;
};

namespace lemma::api {

namespace {

// Copies of the inputs on the device.
Result<std::vector<std::vector<std::byte>>> fetch_inputs(lemma_session& session,
                                                         std::span<lemma_tensor> inputs,
                                                         const DeviceTensors& there) {
    std::vector<std::vector<std::byte>> copies(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
        lemma_tensor& input = inputs[i];
        if (!there.has_input(i) || !input.data || input.size == 0) continue;
        copies[i].resize(input.size);
        LEMMA_TRY(session.session->engine()->copy_from_device(
            copies[i].data(), input.data, input.size, there.stream));
        input.data = copies[i].data();
    }
    return copies;
}

// Copies an output to the memory that the caller has for it on the device.
Result<void> put_output(lemma_session& session,
                        const std::string& name,
                        const lemma_tensor& made,
                        lemma_tensor& to) {
    if (made.type == LEMMA_NO_TYPE) {
        to = made;
        return {};
    }
    if (!to.data)
        return std::unexpected(Error{fmt::format(
            "the output `{}` cannot stay on the device, because some steps run on the processor: "
            "give memory for it",
            name)});
    if (made.type == LEMMA_STR || to.size < made.size)
        return std::unexpected(Error{fmt::format(
            "the output `{}` takes {} bytes, and there is room for {}", name, made.size, to.size)});
    LEMMA_TRY(session.session->engine()->copy_to_device(to.data, made.data, made.size));
    void* const data = to.data;
    to = made;
    to.data = data;
    return {};
}

}  // namespace

void run_in_main_memory(lemma_session& session,
                        std::span<const lemma_tensor> inputs,
                        std::span<lemma_tensor> outputs,
                        const DeviceTensors& there,
                        model::Finding& finding) {
    if (!session.session->engine()) return finding.fail({"the interpreter takes no device"});
    std::vector<lemma_tensor> given(inputs.begin(), inputs.end());
    const auto copies = fetch_inputs(session, given, there);
    if (!copies) return finding.fail(copies.error());
    std::vector<lemma_tensor> made(outputs.begin(), outputs.end());
    for (size_t i = 0; i < made.size(); ++i) {
        if (there.has_output(i)) made[i] = {};
    }
    run(session, given, made, {}, finding);
    if (finding.status != model::kGood) return;
    for (size_t i = 0; i < made.size(); ++i) {
        if (!there.has_output(i)) {
            outputs[i] = made[i];
            continue;
        }
        const std::string& name = session.model->about.outputs[i].name;
        if (auto done = put_output(session, name, made[i], outputs[i]); !done) {
            return finding.fail(done.error());
        }
    }
}

}  // namespace lemma::api

namespace api = lemma::api;
using lemma::model::Finding;

const char* lemma_model_device(const lemma_model* model) {
    return model ? model->device.c_str() : "";
}

int lemma_model_device_number(const lemma_model* model) {
    const bool there = model && model->loaded->device();
    return there ? model->loaded->device()->number() : -1;
}

int lemma_device_memory_create(lemma_model* model,
                               size_t size,
                               lemma_device_memory** memory,
                               lemma_report** report) {
    if (memory) *memory = nullptr;
    return api::call(report, [&](Finding& finding) {
        if (!model) return finding.fail({"the model is NULL"});
        if (!memory) return finding.fail({"no place for the memory is given"});
        if (!model->loaded->device()) return finding.fail({"the model has no device"});
        if (size > static_cast<size_t>(INT64_MAX))
            return finding.fail({"no memory has such a size"});
        auto made = std::make_unique<lemma_device_memory>(model);
        const auto address = model->loaded->device()->allocate(static_cast<int64_t>(size));
        if (!address) return finding.fail(address.error());
        made->address = *address;
        made->size = size;
        *memory = made.release();
    });
}

void* lemma_device_memory_data(const lemma_device_memory* memory) {
    return memory ? reinterpret_cast<void*>(memory->address) : nullptr;
}

namespace {

// Copies the first bytes of the memory, with a queue of its own.
template <class Copy>
int copy_bytes(const lemma_device_memory* memory, size_t size, lemma_report** report, Copy copy) {
    return api::call(report, [&](Finding& finding) {
        if (!memory) return finding.fail({"the memory is NULL"});
        if (size > memory->size)
            return finding.fail(
                {fmt::format("{} bytes are asked for, and the memory has {}", size, memory->size)});
        const auto go = [&]() -> lemma::Result<void> {
            LEMMA_TRY(const auto queue, memory->model->loaded->device()->make_queue());
            LEMMA_TRY(copy(*queue));
            return queue->wait();
        };
        if (auto done = go(); !done) finding.fail(done.error());
    });
}

}  // namespace

int lemma_device_memory_read(const lemma_device_memory* memory,
                             void* to,
                             size_t size,
                             lemma_report** report) {
    return copy_bytes(memory, size, report, [&](lemma::runtime::DeviceQueue& queue) {
        return queue.download(to, memory->address, static_cast<int64_t>(size));
    });
}

int lemma_device_memory_write(lemma_device_memory* memory,
                              const void* from,
                              size_t size,
                              lemma_report** report) {
    return copy_bytes(memory, size, report, [&](lemma::runtime::DeviceQueue& queue) {
        return queue.upload(memory->address, from, static_cast<int64_t>(size));
    });
}

void lemma_device_memory_free(lemma_device_memory* memory) { delete memory; }

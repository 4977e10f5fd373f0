// SPDX-License-Identifier: Apache-2.0
// api/session.h — the session of the C interface.
#pragma once

#include <lemma/lemma.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/convert.h"
#include "engine/engine.h"
#include "model/finding.h"
#include "session/session.h"

struct lemma_session {
    explicit lemma_session(lemma_model* of) : model(lemma_model_share(of)) {}
    lemma_session(const lemma_session&) = delete;
    ~lemma_session() {
        session.reset();
        lemma_model_free(model);
    }

    lemma_model* model;
    std::unique_ptr<lemma::session::Session> session;
    // An output that is carried over to an input; by index.
    struct Carry {
        size_t output, input;
        std::optional<lemma::tensor::Tensor> value;  // unless the engine has it
    };
    std::vector<Carry> carries;
    std::vector<lemma::engine::Engine::Bytes> given;  // of the run, to reuse the memory
    std::vector<lemma::engine::Engine::Room> rooms;   // likewise
    std::vector<lemma::api::LentTensor> outputs;      // of the last run
    std::map<std::string, lemma::api::LentTensor> variables;
};

namespace lemma::api {

// The tensors of a run that are in the memory of the device.
struct DeviceTensors {
    std::span<const unsigned char> inputs, outputs;  // not 0: there
    void* stream = nullptr;                          // whose work so far makes the inputs

    bool has_input(size_t i) const { return i < inputs.size() && inputs[i] != 0; }
    bool has_output(size_t i) const { return i < outputs.size() && outputs[i] != 0; }
    bool any() const {
        const auto there = [](unsigned char is) { return is != 0; };
        return std::ranges::any_of(inputs, there) || std::ranges::any_of(outputs, there);
    }
};

void run(lemma_session& session,
         std::span<const lemma_tensor> inputs,
         std::span<lemma_tensor> outputs,
         const DeviceTensors& there,
         model::Finding& finding);

// A run of a model whose steps are not all on the device, with copies of the tensors there.
void run_in_main_memory(lemma_session& session,
                        std::span<const lemma_tensor> inputs,
                        std::span<lemma_tensor> outputs,
                        const DeviceTensors& there,
                        model::Finding& finding);

}  // namespace lemma::api

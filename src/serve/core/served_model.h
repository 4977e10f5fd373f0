// SPDX-License-Identifier: Apache-2.0
// serve/core/served_model.h — one version of a model: what clients see of it, and how requests for
// it may run together.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "serve/core/types.h"
#include "serve/options.h"

namespace lemma::serve {

struct FreeModel {
    void operator()(lemma_model* model) const { lemma_model_free(model); }
};
struct FreeSession {
    void operator()(lemma_session* session) const { lemma_session_free(session); }
};
struct FreeReport {
    void operator()(lemma_report* report) const { lemma_report_free(report); }
};
using ModelHandle = std::unique_ptr<lemma_model, FreeModel>;
using SessionHandle = std::unique_ptr<lemma_session, FreeSession>;
struct FreeStop {
    void operator()(lemma_stop* stop) const { lemma_stop_free(stop); }
};
using StopHandle = std::unique_ptr<lemma_stop, FreeStop>;
using ReportHandle = std::unique_ptr<lemma_report, FreeReport>;

// How requests run together. Sizes are numbers of items, the extents of the first axis.
struct Joining {
    bool possible = false;       // every input and output has the same first runtime extent
    std::vector<int64_t> sizes;  // batches that are joined, ascending; empty: none
    int64_t best() const { return sizes.empty() ? 1 : sizes.back(); }
};

class ServedModel {
public:
    // `status` of a failure is the exit status of the program.
    struct LoadFailure {
        int status = LEMMA_FAULT;
        std::string text;
    };
    static std::expected<std::unique_ptr<ServedModel>, LoadFailure> load(
        const std::string& path, const ModelOptions& options, lemma_stop* stop);

    lemma_model* handle() const { return model_.get(); }
    const std::vector<TensorMetadata>& inputs() const { return inputs_; }
    const std::vector<TensorMetadata>& outputs() const { return outputs_; }
    std::string platform() const;
    // Whether runs change variables. Each request then begins with the variables as loaded.
    bool changes() const { return changes_; }
    bool interpreted() const { return lemma_model_engine(model_.get()) == LEMMA_INTERPRET; }

    // The inputs in the order of the model, each with the type and a shape that fit.
    Answer<std::vector<const TensorValue*>> order_inputs(const InferRequest& request) const;
    // The places of the wanted outputs in the model's order, and whether they are binary.
    Answer<std::vector<std::pair<size_t, bool>>> order_outputs(const InferRequest& request) const;

    const Joining& joining() const { return joining_; }
    // Finds the batches up to `most` items that give the same bits as single runs and are faster.
    // Also runs the model once, so that its code is ready.
    void prepare(int64_t most, lemma_stop* stop);
    // What `prepare` found, for the log; empty if there is nothing to say.
    const std::string& remark() const { return remark_; }

private:
    explicit ServedModel(ModelHandle model);
    Answer<void> check_input(const TensorMetadata& declared, const TensorValue& given) const;

    ModelHandle model_;
    std::vector<TensorMetadata> inputs_;
    std::vector<TensorMetadata> outputs_;
    bool changes_ = false;
    Joining joining_;
    std::string remark_;
};

// Random inputs of the model for a number of items; empty if it has strings. Unknown extents
// besides the first are small.
std::vector<TensorValue> random_inputs(const ServedModel& model, int64_t items, uint64_t seed);

// A session, or the reason why there is none.
Answer<SessionHandle> open_session(const ServedModel& model, int threads);

}  // namespace lemma::serve

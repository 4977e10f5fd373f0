// SPDX-License-Identifier: Apache-2.0
// view/workbench.h — runs and measures the model that a page shows. One call at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "session/session.h"
#include "view/document.h"
#include "view/statistics.h"

namespace lemma::view {

struct WorkbenchOptions {
    std::string model;
    session::SessionOptions session;  // without threads, engine and outputs
    // Operations per second with so many threads; may be missing.
    std::function<Result<double>(int threads)> peak;
    double seconds = 1;  // of measuring
};

class Workbench {
public:
    // `viewed` outlives it.
    Workbench(const ViewedModel& viewed, WorkbenchOptions options);
    ~Workbench();

    // Inputs from files or random; statistics of all tensors by name, also of inputs.
    Result<Json> run(uint64_t seed, const RunControl& control);
    Result<Json> profile(int threads, const RunControl& control);
    // The compiled engine against the interpreter.
    Result<Json> compare(const RunControl& control);
    Result<Json> memory(const RunControl& control);
    Result<Json> kernels(std::optional<uint32_t> operation, const RunControl& control);
    // A weight, or a tensor of the last run.
    Result<Json> tensor(const std::string& name, const SliceWish& slice) const;
    // Statistics of all weights with data.
    Result<Json> weights(const RunControl& control) const;

private:
    using Arrays = std::map<std::string, interpret::Array>;
    Result<std::unique_ptr<session::Session>> open(session::EngineKind engine,
                                                   int threads,
                                                   bool all_tensors,
                                                   const RunControl& control) const;
    Result<interpret::NamedArrays> inputs(const ir::Program& program, uint64_t seed) const;
    Result<Arrays> run_all(session::EngineKind engine,
                           uint64_t seed,
                           const RunControl& control) const;
    // With the code for one thread count and the inputs in place.
    Result<session::Session*> prepared(int threads, const RunControl& control);

    const ViewedModel& viewed_;
    WorkbenchOptions options_;
    Arrays results_;  // of the last run
    std::unique_ptr<session::Session> engine_;
    int threads_ = 0;  // of the engine
};

}  // namespace lemma::view

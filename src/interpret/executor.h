// SPDX-License-Identifier: Apache-2.0
// interpret/executor.h — whatever runs a model, one step at a time. The interpreter is one, and the
// engine is another; both work on the same State.
#pragma once

#include "base/result.h"
#include "interpret/array.h"

namespace lemma::interpret {

class Executor {
public:
    Executor() = default;
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;
    virtual ~Executor() = default;

    // One step: inputs in, outputs out. Variables take their updated values afterwards. A step that
    // fails leaves them as they were.
    virtual Result<NamedArrays> run(const NamedArrays& inputs) = 0;
    // Somebody else gave a variable a value.
    virtual void variables_changed() {}
};

}  // namespace lemma::interpret

// SPDX-License-Identifier: Apache-2.0
// api/control.h — cancellation, time limits and progress of one call.
#pragma once

#include <lemma/lemma.h>

#include <atomic>
#include <memory>

#include "base/control.h"
#include "base/result.h"

struct lemma_stop {
    std::atomic<bool> requested{false};
};

namespace lemma::api {

// The control of one call; `given` may be null.
class CallControl {
public:
    static Result<CallControl> make(const lemma_control* given);
    // Null if the caller gave none.
    const RunControl* get() const { return control_.get(); }
    bool stopped() const { return control_ && control_->stopped(); }

private:
    std::unique_ptr<const RunControl> control_;
};

}  // namespace lemma::api

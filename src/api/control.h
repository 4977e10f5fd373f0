// api/control.h — cancellation, time limits and progress of one call.
#pragma once

#include <lemma/lemma.h>

#include <atomic>

#include "base/result.h"

struct lemma_stop {
    std::atomic<bool> requested{false};
};

namespace lemma::api {

// The control of a caller with a possibly older header; the rest of the fields is zero.
Result<lemma_control> control_of(const lemma_control* given);

}  // namespace lemma::api

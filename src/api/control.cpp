// SPDX-License-Identifier: Apache-2.0
#include "api/control.h"

#include <new>

#include "api/options.h"

namespace lemma::api {

Result<CallControl> CallControl::make(const lemma_control* given) {
    CallControl made;
    if (!given) return made;
    LEMMA_TRY(const lemma_control control, options_of(given, "lemma_control"));
    if (!(control.seconds >= 0)) {
        return std::unexpected(Error{
            fmt::format("a time limit of {} seconds: it must not be negative", control.seconds)});
    }
    RunControl::Progress progress;
    if (control.progress) {
        progress = [call = control.progress, user = control.user](
                       const char* stage, uint64_t done, uint64_t total) {
            return call(user, stage, done, total) == 0;
        };
    }
    const std::atomic<bool>* const requested = control.stop ? &control.stop->requested : nullptr;
    made.control_ =
        std::make_unique<const RunControl>(requested, control.seconds, std::move(progress));
    return made;
}

}  // namespace lemma::api

lemma_stop* lemma_stop_create(void) { return new (std::nothrow) lemma_stop; }

void lemma_stop_now(lemma_stop* stop) {
    if (stop) stop->requested.store(true, std::memory_order_relaxed);
}

int lemma_stop_requested(const lemma_stop* stop) {
    return stop && stop->requested.load(std::memory_order_relaxed) ? 1 : 0;
}

void lemma_stop_reset(lemma_stop* stop) {
    if (stop) stop->requested.store(false, std::memory_order_relaxed);
}

void lemma_stop_free(lemma_stop* stop) { delete stop; }

// SPDX-License-Identifier: Apache-2.0
// certify/events.h — troubles that the evaluation of an operation meets.
#pragma once

#include <array>
#include <string>

#include "certify/certificate.h"

namespace lemma::certify {

struct Event {
    bool met = false;  // the bounds do not exclude it
    bool own = false;  // also with finite operands: the cause is this operation
    Range witness;     // of the values that are the trouble
    const char* reason = "";
};

// The first of each kind is kept; one with finite operands replaces one without.
class Events {
public:
    void meet(Hazard hazard, bool own, Range witness, const char* reason) {
        Event& event = events_[static_cast<size_t>(hazard)];
        if (event.met && (event.own || !own)) return;
        event = {true, own, witness, reason};
    }
    const Event& operator[](Hazard hazard) const { return events_[static_cast<size_t>(hazard)]; }

private:
    std::array<Event, kHazards> events_;
};

}  // namespace lemma::certify

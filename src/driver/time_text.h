// SPDX-License-Identifier: Apache-2.0
// driver/time_text.h — durations as readable text.
#pragma once

#include <string>

namespace lemma::driver {

// Four digits in a suitable unit: `81.2 µs`, `742.1 ms`, `17.42 s`, `1742 s`.
std::string time_text(double seconds);

}  // namespace lemma::driver

// SPDX-License-Identifier: Apache-2.0
#include "driver/time_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lemma::driver {

std::string time_text(double seconds) {
    double value = seconds;
    const char* unit = "s";
    if (seconds < 1e-3) {
        value = seconds * 1e6;
        unit = "µs";
    } else if (seconds < 1) {
        value = seconds * 1e3;
        unit = "ms";
    }
    constexpr int kDigits = 4;
    const int whole = value >= 1 ? static_cast<int>(std::floor(std::log10(value))) + 1 : 1;
    return fmt::format("{:.{}f} {}", value, std::clamp(kDigits - whole, 0, kDigits - 1), unit);
}

}  // namespace lemma::driver

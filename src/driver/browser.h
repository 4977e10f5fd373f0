// SPDX-License-Identifier: Apache-2.0
// driver/browser.h — opens an address in the user's web browser.
#pragma once

#include <string>

namespace lemma::driver {

// By xdg-open, which this does not wait for. False if there is no display, or no such program.
bool open_in_browser(const std::string& address);

}  // namespace lemma::driver

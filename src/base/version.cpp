// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

namespace lemma {

constinit const std::string_view kVersion = LEMMA_VERSION;  // a definition of this file alone

}  // namespace lemma

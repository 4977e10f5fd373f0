// SPDX-License-Identifier: Apache-2.0
// sknd/export/identifiers.h — turns names of any format into unique identifiers of SkriptND.
#pragma once

#include <string>
#include <string_view>

#include "base/unique_names.h"

namespace lemma::sknd {

class Identifiers {
public:
    // A new identifier similar to the name: `first.w#2` becomes `first_w_2`.
    std::string make(std::string_view name);
    // Reserves the name.
    void reserve(std::string_view name) { used_.take(std::string(name)); }

private:
    UniqueNames used_;
};

}  // namespace lemma::sknd

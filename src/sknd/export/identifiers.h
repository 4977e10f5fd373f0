// sknd/export/identifiers.h — names of any format as identifiers of SkriptND, each used once.
#pragma once

#include <string>
#include <string_view>

#include "base/unique_names.h"

namespace lemma::sknd {

class Identifiers {
public:
    // A new identifier that reads like the name: `first.w#2` becomes `first_w_2`.
    std::string make(std::string_view name);
    // Nothing else gets this name.
    void reserve(std::string_view name) { used_.take(std::string(name)); }

private:
    UniqueNames used_;
};

}  // namespace lemma::sknd

// SPDX-License-Identifier: Apache-2.0
// base/unique_names.h — makes names unique. Each request takes constant time, however often a name
// repeats.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace lemma {

class UniqueNames {
public:
    // False if the name is taken.
    bool take(const std::string& name) { return used_.insert(name).second; }
    // The name itself, or the first free one of `name_2`, `name_3`, …
    std::string make(const std::string& name) {
        if (take(name)) return name;
        size_t& next = next_.try_emplace(name, 2).first->second;
        std::string unique;
        do {
            unique = name + "_" + std::to_string(next++);
            ++tries_;
        } while (!take(unique));
        return unique;
    }
    // The number of candidates tried, for tests.
    size_t tries() const { return tries_; }

private:
    std::unordered_set<std::string> used_;
    std::unordered_map<std::string, size_t> next_;
    size_t tries_ = 0;
};

}  // namespace lemma

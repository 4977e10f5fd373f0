// SPDX-License-Identifier: Apache-2.0
// codegen/code_memory.h — loads object files as code of this process. They are our own kernels:
// code and constants that refer to each other and to the C library.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace lemma::codegen {

// The code keeps its address until this object is destroyed.
class CodeMemory {
public:
    CodeMemory() = default;
    ~CodeMemory();
    CodeMemory(const CodeMemory&) = delete;
    CodeMemory& operator=(const CodeMemory&) = delete;

    // Adds all objects or none; the error says which one is wrong.
    Result<void> add(std::span<const std::string_view> objects);
    // The function of that name, or null.
    void* find(const std::string& name) const;

private:
    struct Mapping {
        void* begin = nullptr;
        size_t bytes = 0;
    };
    std::vector<Mapping> mappings_;
    std::unordered_map<std::string, void*> functions_;
};

}  // namespace lemma::codegen

// codegen/code_memory.h — object files as code in this process. They are kernels of our own making:
// code and constants, which refer to each other and to functions of the C library.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace lemma::codegen {

// Code stays where it is until this goes.
class CodeMemory {
public:
    CodeMemory() = default;
    ~CodeMemory();
    CodeMemory(const CodeMemory&) = delete;
    CodeMemory& operator=(const CodeMemory&) = delete;

    // Takes all objects or none: an error says what is wrong with one.
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

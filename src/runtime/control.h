// runtime/control.h — steps of a run: calls of kernels, loops and branches. What a body sees of the
// outside changes by moving pointers to pieces of memory, which are named by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/kernel.h"
#include "tensor/dtype.h"

namespace lemma::runtime {

// In place of a piece of memory: an i64 that a kernel sets to 1 where an index leaves its tensor.
inline constexpr size_t kFlag = SIZE_MAX;

struct Loop;
struct Branch;

struct Step {
    std::string label;
    size_t number = 0;  // whose time it is
    KernelFunction kernel = nullptr;
    std::vector<size_t> buffers;  // pieces of memory, or kFlag
    int64_t items = 1;
    // One of these in place of a kernel.
    std::function<Result<void>()> call;
    std::unique_ptr<Loop> loop;
    std::unique_ptr<Branch> branch;

    Step();
    ~Step();
    Step(Step&&) noexcept;
    Step& operator=(Step&&) noexcept;
};
using Steps = std::vector<Step>;

// A number in memory, of any type of integers or bools.
struct Number {
    size_t piece = 0;
    tensor::DType dtype = tensor::DType::I64;
};
// Evenly spaced pieces, the first of which is one of its own.
struct Pack {
    size_t first = 0;
    int64_t stride = 0;  // bytes
    int64_t count = 0;
};
struct Copy {
    size_t from = 0, to = 0;
    int64_t to_begin = 0, bytes = 0;
};
struct Condition {
    Steps steps;
    size_t value = 0;  // a bool
};

struct Loop {
    struct Item {
        size_t seen = 0;
        Pack pack;
    };
    // The value of one step is what the next one sees: where the result lies, or a copy in one of
    // two slots, or what it was.
    enum class Passing : uint8_t { Stays, Moves, Copied };
    struct Carried {
        Passing passing = Passing::Stays;
        size_t seen = 0, initial = 0, result = 0, outcome = 0;
        size_t slots[2] = {};
        int64_t bytes = 0;
    };
    // A result that the body writes where it is told to.
    struct Written {
        size_t result = 0;
        std::optional<Pack> pack;
        size_t slots[2] = {};
    };
    struct Collected {
        size_t result = 0;
        Pack pack;
        int64_t bytes = 0;
    };
    int64_t count = 0;      // at most
    bool must_end = false;  // by a condition, before the count
    std::optional<Number> dynamic_count, index;
    std::vector<Item> items;
    std::vector<Carried> carried;
    std::vector<Written> written;
    std::vector<Collected> collected;
    std::vector<Copy> before, after;
    int64_t most_results = INT64_MAX;
    std::optional<Condition> pre, post;
    Steps body;
    std::function<void(int64_t)> ended;  // behind so many steps
};

struct Branch {
    struct Arm {
        std::optional<Condition> condition;  // none: the alternative
        Steps body;
        std::vector<size_t> results;
    };
    std::vector<Arm> arms;
    std::vector<size_t> outputs;
    std::function<Result<void>(size_t)> taken;  // behind the arm of that number; may be missing
};

}  // namespace lemma::runtime

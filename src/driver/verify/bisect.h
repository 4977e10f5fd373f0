// SPDX-License-Identifier: Apache-2.0
// driver/verify/bisect.h — the first operation of a run whose result leaves the tolerance: compiled
// code against the interpreter, or a run against recorded tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/driver.h"
#include "driver/verify/case.h"

namespace lemma::driver {

// A folder with recorded intermediate tensors inside a case; NAME.npy, or STEP/NAME.npy.
inline constexpr const char* kRecorded = "intermediates";
inline constexpr const char* kAgainstInterpreter = "interpret";

struct BisectOptions {
    // A folder of NAME.npy, or `interpret`; empty: the recorded tensors of the case, if it has any,
    // else the interpreter.
    std::string against;
    // Whether the user chose the absolute tolerance. If not, it is at least a few roundings of the
    // largest value of each tensor.
    bool absolute_given = false;
};

// An input of the operation, and how far it is from the expected one.
struct InputGap {
    std::string name;    // in the definition
    std::string tensor;  // in the model
    // Given: the same on both sides, as weights and inputs of the graph.
    enum class Kind { Given, Compared, Unknown } kind = Kind::Given;
    double difference = 0;
};

// An operation with its place, as a report names it.
struct NamedOperation {
    std::string op, title, label;
    std::string place;  // `net.sknd:7:9`, or a path in a binary file
};

struct Culprit {
    NamedOperation operation;            // the innermost call in the model's own text
    std::optional<NamedOperation> part;  // of a standard operator, where the difference begins
    size_t number = 0, total = 0;        // of the main graph, in execution order
    int64_t step = 0;
    std::string tensor, type;
    Difference difference;
    std::vector<int64_t> at;  // the element; empty for scalars and different shapes
    std::vector<InputGap> inputs;
    // Of control flow: the construct and the number of operations inside, which are not compared.
    std::string construct;
    size_t inside = 0;
    // The difference exists only if the operations before it are compiled together with it.
    bool only_fused = false;

    double largest_input() const;
    bool inputs_known() const;
};

struct BisectResult {
    std::string name;     // of the case or the model
    std::string against;  // `interpret`, or the folder
    Tolerance tolerance;
    size_t compared = 0, made = 0;  // tensors
    std::optional<Culprit> culprit;
    std::optional<Error> unusable;      // why there is no answer
    std::vector<std::string> problems;  // of the model
    std::vector<std::string> failures;  // without a culprit: differences to the recorded outputs
};

BisectResult bisect(const std::string& name,
                    const PreparedCase& prepared,
                    const BisectOptions& options,
                    const Terminal& terminal);

std::string bisect_text(const BisectResult& result);
// All cases in one document.
std::string bisect_json(const std::vector<BisectResult>& results);

}  // namespace lemma::driver

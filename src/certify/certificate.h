// SPDX-License-Identifier: Apache-2.0
// certify/certificate.h — what is established about a model for given ranges of its inputs: a range
// and an error bound for every tensor, and for every operation whether it can overflow, give NaN or
// divide by zero. docs/certificate.md explains how to read it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program/program.h"

namespace lemma::certify {

struct Range {
    double low = 0;
    double high = 0;
};

// What can go wrong in an operation at run time.
enum class Hazard : uint8_t {
    Overflow,        // a finite result exceeds the largest number of its type
    Invalid,         // NaN from operands that are not NaN: inf - inf, 0 * inf, 0 / 0, …
    DivisionByZero,  // of reals or integers
    Domain,          // log, sqrt, asin, … or a power outside of its domain
    Wrap,            // an integer result beyond its type, or a real beyond that of a cast
    Decision,        // rounding can change the outcome of a comparison or of a rounding to int
};
inline constexpr size_t kHazards = 6;

enum class Verdict : uint8_t {
    NotApplicable,   // the operation has no step of this kind
    Proved,          // cannot occur for any input within the ranges
    NotEstablished,  // the bounds do not exclude it
    Refuted,         // an input within the ranges shows it
};

struct Disposition {
    Verdict verdict = Verdict::NotApplicable;
    // Why it is not established, or where it was seen; empty if proved.
    std::string reason;
    // The computed values that are the trouble: a sum that overflows, a divisor around 0.
    std::optional<Range> witness;
    // An operand was already infinite or NaN: the cause is an earlier operation.
    bool inherited = false;
};

// An operation of the graph; a compound has the worst of its parts.
struct NodeRecord {
    ir::OpId id;  // in the program that was certified
    std::string op;
    std::string label;
    std::vector<std::string> outputs;  // names of tensors
    std::array<Disposition, kHazards> dispositions;
    // Largest bounds over the elements of its outputs: the error that the operation makes on the
    // values that it gets, and the error that it passes on from its inputs.
    double introduced = 0;
    double propagated = 0;
    std::string remark;  // why nothing is known, e.g. an operation without a formula

    const Disposition& operator[](Hazard hazard) const {
        return dispositions[static_cast<size_t>(hazard)];
    }
    Disposition& operator[](Hazard hazard) { return dispositions[static_cast<size_t>(hazard)]; }
};

// Bounds of one element.
struct ElementBound {
    Range ideal;       // in exact arithmetic
    Range computed;    // as the program computes it
    double error = 0;  // of |computed - ideal|; infinite if there is no bound
};

// The same over all elements of a tensor.
struct TensorBound {
    std::string name;
    tensor::DType dtype{};
    std::vector<int64_t> shape;
    Range ideal;
    Range computed;
    double error = 0;     // the largest
    double relative = 0;  // largest |computed - ideal| / |ideal|; infinite near 0
    bool inner = false;   // inside the definition of an operation
    // Of each element in row-major order: inputs and outputs of the graph only.
    std::vector<ElementBound> elements;
};

// The claimed error of a function of the C library, in units of the last place of double.
struct LibraryClaim {
    std::string function;
    double ulp = 0;
};

struct Certificate {
    std::string model;       // file name
    std::string sha256;      // of the model file
    std::string arithmetic;  // `f32` or `f64`: --accumulate
    std::vector<TensorBound> inputs;
    std::vector<TensorBound> tensors;  // results of operations, in execution order
    std::vector<TensorBound> outputs;  // of the graph
    std::vector<NodeRecord> nodes;     // of the main graph, in execution order
    std::vector<std::string> hypotheses;
    std::vector<LibraryClaim> library;  // the functions that the model uses
    int64_t steps = 0;                  // evaluated formula steps

    // Whether every operation is free of overflow, NaN, division by zero and domain errors.
    bool established() const;
};

// Hazards whose absence `established` demands.
bool is_severe(Hazard hazard);
std::string_view hazard_name(Hazard hazard);     // `division by zero`
std::string_view hazard_key(Hazard hazard);      // `division_by_zero`, for JSON
std::string_view verdict_name(Verdict verdict);  // `proved absent`

}  // namespace lemma::certify

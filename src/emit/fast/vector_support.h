// SPDX-License-Identifier: Apache-2.0
// emit/fast/vector_support.h — C types and small functions for the vectors of a kernel. Only those
// that kernels ask for are printed. They are written in vector extensions that GCC and Clang share;
// targets with better instructions use their intrinsics.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "loop/ir/node.h"
#include "tensor/dtype.h"

namespace lemma::emit {

enum class FastTarget : uint8_t { Generic, Avx2, Avx512, Neon };
// By the name of codegen::MachineTarget.
FastTarget fast_target(std::string_view name);

// In registers, the lanes of a bool vector are 0 or -1 in 32-bit integers; with AVX-512 they are
// the bits of an integer.
class VectorSupport {
public:
    VectorSupport(FastTarget target, bool has_fma) : target_(target), has_fma_(has_fma) {}

    // Names of types; the definitions follow from them.
    std::string type(loop::Type type);
    std::string memory_type(tensor::DType dtype);

    // Names of functions. The comment beside each is its C signature; `V` is the vector or scalar.
    std::string load(tensor::DType dtype, int lanes);         // V (const M*)
    std::string load_masked(tensor::DType dtype, int lanes);  // V (const M*, B)
    std::string load_strided(tensor::DType dtype, int lanes, int64_t stride, bool masked);
    std::string gather(tensor::DType dtype, int lanes, bool masked);  // V (const M*, I[, B])
    std::string store(tensor::DType dtype, int lanes);                // void (M*, V)
    std::string store_masked(tensor::DType dtype, int lanes);         // void (M*, V, B)
    std::string store_strided(tensor::DType dtype, int lanes, int64_t stride, bool masked);
    std::string scatter(tensor::DType dtype, int lanes, bool masked);  // void (M*, V, I[, B])
    std::string set(loop::Type type);                                  // V (scalar)
    std::string ramp(int lanes);                                       // I (void)
    std::string first_lanes(int lanes);                                // B (int64_t): lane < n
    std::string arithmetic(loop::Op op, loop::Type type);              // V (V[, V[, V]])
    // Min and Max; the second operand is a constant that is a number.
    std::string extreme_with_number(loop::Op op, loop::Type type);  // V (V, V)
    std::string compare(loop::Op op, loop::Type from);              // B (V, V)
    std::string logic(loop::Op op, int lanes);                      // B (B[, B])
    std::string select(loop::Type type);                            // V (B, V, V)
    std::string convert(loop::Type from, loop::Kind to);            // V (V)
    std::string library(std::string_view name, loop::Type type, size_t arguments);
    std::string halves(loop::Op op, loop::Type type, int64_t size);  // V (V, V)
    std::string over_lanes(loop::Op op, loop::Type type);            // scalar (V)

    bool has_fma() const { return has_fma_; }
    // All definitions so far, in order.
    const std::string& definitions() const { return text_; }

private:
    struct Signature {
        std::string result, name, parameters;
    };
    template <class Make>
    std::string function(const Signature& signature, const Make& make);
    bool begin(const std::string& name) { return known_.insert(name).second; }

    bool masks_are_bits() const { return target_ == FastTarget::Avx512; }
    std::string mask_type(int lanes);
    std::string vector_type(std::string_view element, int lanes);
    std::string lane_of(const std::string& name, loop::Type type, int lane) const;
    // A value from the expressions of its lanes.
    std::string collect(loop::Type type, const std::vector<std::string>& lanes);
    std::string by_lanes(loop::Type type, const std::function<std::string(int)>& lane);
    std::string from_memory(tensor::DType dtype, const std::string& element);
    std::string to_memory(tensor::DType dtype, const std::string& value);
    std::string scalar_arithmetic(loop::Op op, loop::Kind kind);
    std::string intrinsic(loop::Op op, loop::Type type) const;
    std::string vector_arithmetic(loop::Op op, loop::Type type);
    std::string float_parts(loop::Op op, loop::Type type);
    std::string shuffle(loop::Type type, const std::vector<int>& from, bool two);

    FastTarget target_;
    bool has_fma_;
    std::string text_;
    std::unordered_set<std::string> known_;
};

// `f32x16`, `i64`, `b32x8`.
std::string type_suffix(loop::Type type);

}  // namespace lemma::emit

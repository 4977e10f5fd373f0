// SPDX-License-Identifier: Apache-2.0
// fuzz/model_text.h — small models as SkriptND text, controlled by bytes: empty and absurd extents,
// windows that reach far outside, indices from data, loops, runtime extents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lemma::fuzz {

// Numbers from bytes; zeros after the end.
class Bytes {
public:
    Bytes(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}

    bool empty() const { return at_ == end_; }
    uint8_t byte() { return empty() ? uint8_t{0} : *at_++; }
    // A number below `count`.
    size_t pick(size_t count) { return byte() % count; }
    // An extent, an offset or a factor: mostly small, rarely huge.
    int64_t number();

private:
    const uint8_t* at_;
    const uint8_t* end_;
};

// A main module with one graph. Its inputs are `x`, `y` (real), `k` (int) and possibly `d`, with a
// runtime extent.
std::string model_text(Bytes& bytes);

}  // namespace lemma::fuzz

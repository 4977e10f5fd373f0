// SPDX-License-Identifier: Apache-2.0
// runtime/newer_bytes.h — which of two copies of some memory has the newer bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace lemma::runtime {

// The side whose bytes are newer, in order of their offsets.
class NewerBytes {
public:
    enum class Side : uint8_t { Both, Host, Device };

    explicit NewerBytes(int64_t bytes, Side side = Side::Host) : bytes_(bytes), from_{{0, side}} {}

    void set(int64_t begin, int64_t end, Side side);
    struct Range {
        int64_t begin, end;
    };
    // The first range of the side that begins at or behind `begin`, cut at `end`. Empty: there is
    // none.
    Range next(int64_t begin, int64_t end, Side side) const;
    bool has(int64_t begin, int64_t end, Side side) const {
        const Range found = next(begin, end, side);
        return found.begin < found.end;
    }
    // All of them, in order.
    std::vector<Range> find(int64_t begin, int64_t end, Side side) const;

private:
    struct From {
        int64_t offset;
        Side side;  // up to the next one, which has another side
    };
    size_t index_of(int64_t offset) const;

    int64_t bytes_;
    std::vector<From> from_;
};

}  // namespace lemma::runtime

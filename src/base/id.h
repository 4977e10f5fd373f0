// SPDX-License-Identifier: Apache-2.0
// base/id.h — typed index into a Store. `struct ExprId : Id<ExprId> {};` makes an id that can
// only name an expression. A default-constructed id names nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace lemma {

template <class Self>
struct Id {
    static constexpr uint32_t kNone = UINT32_MAX;
    uint32_t value = kNone;

    bool valid() const { return value != kNone; }
    explicit operator bool() const { return valid(); }
    friend bool operator==(Id a, Id b) { return a.value == b.value; }
    friend auto operator<=>(Id a, Id b) { return a.value <=> b.value; }
};

// Makes the id of the item at `index`.
template <class IdT>
IdT make_id(size_t index) {
    IdT id;
    id.value = static_cast<uint32_t>(index);
    return id;
}

struct IdHash {
    template <class IdT>
    size_t operator()(IdT id) const {
        return std::hash<uint32_t>()(id.value);
    }
};

}  // namespace lemma

// SPDX-License-Identifier: Apache-2.0
// text/keywords.h — distinguishes keywords from identifiers by one table lookup.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/check.h"

namespace lemma::text {

template <class Kind>
struct Keyword {
    std::string_view text;
    Kind kind = Kind::Identifier;
};

// All words have at least two letters. Each has its own slot; the constructor proves that at
// compile time.
template <class Kind>
class KeywordTable {
public:
    template <size_t kCount>
    consteval explicit KeywordTable(const Keyword<Kind> (&keywords)[kCount]) {
        while (!fill(keywords)) {
            if (++second_factor_ < slots_.size()) continue;
            second_factor_ = 1;
            ++last_factor_;
            LEMMA_CHECK(last_factor_ < slots_.size());  // otherwise the table is not a constant
        }
    }

    // A keyword, or an identifier.
    constexpr Kind kind_of(std::string_view word) const {
        if (word.size() < 2 || word.size() > longest_) return Kind::Identifier;
        const Keyword<Kind>& keyword = slots_[slot_of(word)];
        return keyword.text == word ? keyword.kind : Kind::Identifier;
    }

private:
    constexpr size_t slot_of(std::string_view word) const {
        const auto at = [&](size_t i) { return static_cast<uint8_t>(word[i]); };
        const size_t last = word.size() - 1;
        return (at(0) + second_factor_ * at(1) + last_factor_ * at(last)) % slots_.size();
    }
    template <size_t kCount>
    constexpr bool fill(const Keyword<Kind> (&keywords)[kCount]) {
        slots_ = {};
        for (const Keyword<Kind>& keyword : keywords) {
            Keyword<Kind>& slot = slots_[slot_of(keyword.text)];
            if (!slot.text.empty()) return false;
            slot = keyword;
            longest_ = std::max(longest_, keyword.text.size());
        }
        return true;
    }

    std::array<Keyword<Kind>, 64> slots_{};
    size_t second_factor_ = 1;
    size_t last_factor_ = 1;
    size_t longest_ = 0;
};

}  // namespace lemma::text

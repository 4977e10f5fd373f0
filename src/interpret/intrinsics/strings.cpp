// SPDX-License-Identifier: Apache-2.0
// Removes words from a list of texts.
#include <algorithm>

#include "interpret/intrinsic.h"

namespace lemma::interpret {

namespace {

enum class Case : uint8_t { Keep, Lower, Upper };

// ASCII letters only: the case of others depends on the language.
std::string in_case(std::string text, Case wanted) {
    if (wanted == Case::Keep) return text;
    for (char& c : text) {
        const bool letter = wanted == Case::Lower ? c >= 'A' && c <= 'Z' : c >= 'a' && c <= 'z';
        if (letter) c = static_cast<char>(c ^ 0x20);
    }
    return text;
}

}  // namespace

Result<void> string_normalizer(IntrinsicCall& call) {
    const std::string action = call.text("case_change_action");
    const Case wanted = action == "LOWER"   ? Case::Lower
                        : action == "UPPER" ? Case::Upper
                                            : Case::Keep;
    const Case compared = call.integer("is_case_sensitive") != 0 ? Case::Keep : Case::Lower;
    std::vector<std::string> left_out = call.texts("stopwords");
    for (std::string& word : left_out) word = in_case(std::move(word), compared);
    const Array& input = call.input(0);
    Array& output = call.outputs[0].array;
    output.dtype = input.dtype;
    for (const std::string& word : input.strings) {
        if (std::ranges::count(left_out, in_case(word, compared)) > 0) continue;
        output.strings.push_back(in_case(word, wanted));
    }
    if (output.strings.empty()) output.strings.emplace_back();
    output.shape = input.shape;
    output.shape.back() = static_cast<int64_t>(output.strings.size());
    output.size = output.shape.back();
    return {};
}

}  // namespace lemma::interpret

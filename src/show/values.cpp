// SPDX-License-Identifier: Apache-2.0
#include "show/values.h"

#include <fmt/format.h>

#include "base/match.h"
#include "diag/utf8.h"
#include "ir/text/text_words.h"

namespace lemma::show {

namespace {

constexpr size_t kMostItems = 8;   // of a pack
constexpr size_t kMostBytes = 64;  // of a string or an expression

std::string scalar_text(const ir::Program& program, const ir::Scalar& scalar) {
    return match(
        scalar,
        [](int64_t value) { return std::to_string(value); },
        [](double value) { return ir::number_text(value); },
        [](bool value) { return std::string(value ? "true" : "false"); },
        [](const std::string& value) {
            const std::string text = diag::shortened(value, kMostBytes);
            return ir::is_word(text) ? text : ir::quoted(text);
        },
        [&](ir::SymId id) { return diag::shortened(program.symbols.text(id), kMostBytes); });
}

}  // namespace

std::string value_text(const ir::Program& program, const ir::Value& value) {
    return match(
        value,
        [](ir::Null) { return std::string("~"); },
        [&](const ir::Scalar& scalar) { return scalar_text(program, scalar); },
        [&](const ir::Pack& pack) {
            std::string text;
            for (size_t i = 0; i < pack.items.size(); ++i) {
                if (i > 0) text += ",";
                if (i == kMostItems) {
                    text += "…";
                    break;
                }
                text += scalar_text(program, pack.items[i]);
            }
            return "[" + text + "]";
        });
}

std::vector<std::string> attribute_texts(const ir::Program& program, const ir::Operation& op) {
    std::vector<std::string> texts;
    for (const ir::Attribute& attribute : op.attributes) {
        if (std::holds_alternative<ir::Null>(attribute.value)) continue;
        texts.push_back(fmt::format("{}={}", attribute.name, value_text(program, attribute.value)));
    }
    return texts;
}

}  // namespace lemma::show

// SPDX-License-Identifier: Apache-2.0
// model/format_text.h — a SkriptND or NNEF 1.0 text in the canonical layout: the work of `lemma
// fmt`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/finding.h"
#include "sknd/syntax/parser.h"

namespace lemma::model {

enum class TextLanguage { SkriptND, Nnef1 };
// Tract is a dialect of NNEF 1.0 only.
enum class TextDialect { Spec, Khronos, Tract };

struct FormatOptions {
    TextLanguage language = TextLanguage::SkriptND;
    TextDialect dialect = TextDialect::Spec;  // to write; for NNEF 1.0 also to read
    int max_depth = sknd::ParseLimits{}.max_depth;
};

// The language of a text without a file name, by its first word.
TextLanguage language_of(std::string_view text);

// The formatted text; `name` is for diagnostics. It reads back as the same tree. Empty if the text
// has errors, which `finding` then reports. Added `;` are remarks.
std::optional<std::string> format_text(const std::string& name,
                                       const std::string& text,
                                       const FormatOptions& options,
                                       Finding& finding);

}  // namespace lemma::model

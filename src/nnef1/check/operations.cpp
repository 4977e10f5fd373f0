// SPDX-License-Identifier: Apache-2.0
#include "nnef1/check/operations.h"

#include <fmt/format.h>

#include <array>

#include <algorithm>
#include <optional>
#include <set>

namespace lemma::nnef1 {

Document parse_library(diag::SourceMap& sources,
                       const std::string& name,
                       std::string_view text,
                       Diagnostics& diag) {
    const diag::FileId file = sources.add("stdlib/nnef1/" + name, std::string(text));
    return parse_document(sources, file, {.kind = DocumentKind::Library}, diag);
}

Document parse_standard(diag::SourceMap& sources, std::string_view text, Diagnostics& diag) {
    return parse_library(sources, "standard.nnef", text, diag);
}

namespace {

using Names = std::set<std::string_view>;

// The names that the document and its quantisation file invoke or declare. Empty if the document is
// too large for this to pay, or uses operators, which stand for further operations.
std::optional<Names> names_in(const Document& document, const QuantFile& quant) {
    constexpr size_t kMaxInvocations = 1000;
    if (document.invocations.size() > kMaxInvocations) return std::nullopt;
    for (const Expr& expr : document.exprs) {
        const bool is_operator =
            std::holds_alternative<Unary>(expr.node) || std::holds_alternative<Binary>(expr.node);
        if (is_operator) return std::nullopt;
    }
    Names names;
    for (const Invocation& call : document.invocations) names.insert(call.name);
    for (const Invocation& call : quant.invocations) names.insert(call.name);
    for (const Fragment& fragment : document.fragments) names.insert(fragment.name.text);
    return names;
}

// Replaces the text by blanks, except line ends and the declarations of these names. Removes the
// names it finds from `names`. A declaration begins a line with `fragment` and has no body.
std::string only_these(std::string_view text, Names& names) {
    constexpr std::string_view kKeyword = "fragment ";
    std::string result(text.size(), ' ');
    size_t kept_end = 0;  // end of the last kept declaration
    for (size_t line = 0; line < text.size();) {
        const size_t end = std::min(text.find('\n', line), text.size() - 1);
        result[end] = text[end];
        if (line >= kept_end && text.substr(line).starts_with(kKeyword)) {
            const size_t name = line + kKeyword.size();
            const size_t name_end = text.find_first_of("<(", name);
            if (names.erase(text.substr(name, name_end - name)) > 0) {
                kept_end = std::min(text.find(';', name), text.size() - 1) + 1;
                result.replace(line, kept_end - line, text, line, kept_end - line);
            }
        }
        line = end + 1;
    }
    return result;
}

}  // namespace

// Parses the whole text if a name is unknown, for suggestions.
Document parse_used_standard(diag::SourceMap& sources,
                             std::string_view text,
                             const Document& document,
                             const QuantFile& quant,
                             Diagnostics& diag) {
    std::optional<Names> names = names_in(document, quant);
    if (!names) return parse_standard(sources, text, diag);
    const std::string used = only_these(text, *names);
    for (const Fragment& fragment : document.fragments) names->erase(fragment.name.text);
    return parse_standard(sources, names->empty() ? std::string_view(used) : text, diag);
}

namespace {

Signature signature(const Document& document, const Fragment& fragment, bool standard) {
    Signature result{.nodes = &document, .fragment = &fragment, .standard = standard};
    for (const Param& param : fragment.params) {
        result.params.push_back(value_type(document, param.type));
    }
    for (const auto& item : fragment.results) {
        result.results.push_back(value_type(document, item.type));
    }
    return result;
}

}  // namespace

std::optional<size_t> Signature::find_param(std::string_view param) const {
    for (size_t i = 0; i < fragment->params.size(); ++i) {
        if (fragment->params[i].name.text == param) return i;
    }
    return std::nullopt;
}

diag::Report report_no_param(const Signature& signature,
                             const Argument& argument,
                             Diagnostics& diag) {
    std::vector<std::string_view> names;
    for (const Param& param : signature.fragment->params) names.push_back(param.name.text);
    auto report =
        diag.error(argument.name_span,
                   DiagKind::NoAttribute,
                   fmt::format("`{}` has no parameter `{}`", signature.name(), argument.name));
    report.did_you_mean(argument.name_span, diag::nearest_name(argument.name, names))
        .note(signature.fragment->name.span, "declared here");
    return report;
}

Operations::Operations(const Document& standard,
                       const Document& document,
                       Dialect dialect,
                       Diagnostics& diag,
                       const Document* more) {
    for (const Document* const library : {&standard, more}) {
        if (!library) continue;
        for (const Fragment& fragment : library->fragments) {
            by_name_.emplace(fragment.name.text, signature(*library, fragment, true));
        }
    }
    for (const Fragment& fragment : document.fragments) {
        if (fragment.name.text.empty()) continue;  // it was reported
        const auto [place, added] =
            by_name_.emplace(fragment.name.text, signature(document, fragment, false));
        if (added) continue;
        if (place->second.standard && dialect == Dialect::Tract) {
            place->second = signature(document, fragment, false);
            continue;
        }
        const std::string_view name = fragment.name.text;
        diag.error(fragment.name.span,
                   DiagKind::DuplicateDefinition,
                   place->second.standard
                       ? fmt::format("`{}` is an operation of the specification", name)
                       : fmt::format("there are two fragments `{}`", name))
            .note(place->second.fragment->name.span, "declared here")
            .note("NNEF 1.0.4, 3.3.2: each fragment declaration must have a unique name");
    }
}

const Signature* Operations::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &found->second;
}

namespace {

// Names of operations in other formats and frameworks.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kForeignNames = {
    {{"convolution", "conv"},
     {"conv2d", "conv"},
     {"conv_transpose", "deconv"},
     {"depthwise_conv", "conv"},
     {"maxpool", "max_pool"},
     {"avgpool", "avg_pool"},
     {"average_pool", "avg_pool"},
     {"dense", "linear"},
     {"fully_connected", "linear"},
     {"gemm", "linear"},
     {"dot", "matmul"},
     {"batch_norm", "batch_normalization"},
     {"lrn", "local_response_normalization"},
     {"identity", "copy"},
     {"placeholder", "external"},
     {"concatenate", "concat"},
     {"permute", "transpose"},
     {"where", "select"},
     {"clip", "clamp"},
     {"subtract", "sub"}}};

}  // namespace

std::string_view Operations::nearest(std::string_view name) const {
    for (const auto& [foreign, own] : kForeignNames) {
        if (name == foreign && find(own)) return own;
    }
    std::vector<std::string_view> names;
    for (const auto& [known, signature] : by_name_) names.push_back(known);
    return diag::nearest_name(name, names);
}

}  // namespace lemma::nnef1

// SPDX-License-Identifier: Apache-2.0
#include "show/types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lemma::show {

namespace {

constexpr size_t kLongExtent = 16;    // longer expressions get a short name
constexpr const char* kNoName = "~";  // the name of anonymous extents in composed programs

}  // namespace

bool in_model(const diag::SourceMap* sources, Span span) {
    if (!sources) return true;
    return span.valid() && !sources->name(span.file).starts_with("stdlib/");
}

bool TypeNames::is_symbol(ir::SymId id) const {
    return program_.symbols.node(id).kind == ir::SymKind::Symbol;
}

std::string TypeNames::named(ir::SymId id, const std::string& prefix) {
    const auto [found, added] = alias_index_.try_emplace(id, aliases_.size());
    if (added) aliases_.push_back({fmt::format("{}{}", prefix, ++counters_[prefix]), id});
    return aliases_[found->second].name;
}

bool TypeNames::is_nameless(ir::SymId symbol) const {
    return program_.symbols.node(symbol).name == kNoName;
}

std::string TypeNames::extent(ir::SymId id) {
    const ir::SymbolPool& symbols = program_.symbols;
    if (const auto number = symbols.as_int(id)) return std::to_string(*number);
    bool nameless = false;
    for (const ir::SymId symbol : symbols.symbols_of(id)) {
        const bool own_name = !is_nameless(symbol);
        if (own_name) used_.insert(symbol);
        nameless = nameless || !own_name;
    }
    if (is_symbol(id)) return nameless ? named(id, kNoName) : symbols.text(id);
    std::string text = symbols.text(id);
    return nameless || text.size() > kLongExtent ? named(id, "e") : text;
}

std::string TypeNames::tensor(ir::TensorId id) {
    const ir::Tensor& tensor = program_.tensors[id];
    std::vector<std::string> extents;
    for (const ir::SymId one : tensor.shape) extents.push_back(extent(one));
    return fmt::format("{}[{}]", tensor::dtype_name(tensor.dtype), fmt::join(extents, ","));
}

bool TypeNames::equal_items(const ir::Operand& operand) const {
    const ir::Tensor& first = program_.tensors[operand.items.front()];
    return std::ranges::all_of(operand.items, [&](ir::TensorId id) {
        const ir::Tensor& tensor = program_.tensors[id];
        return tensor.dtype == first.dtype && tensor.shape == first.shape;
    });
}

std::vector<std::string> TypeNames::operand(const ir::Operand& operand) {
    if (operand.null()) return {"null"};
    if (!operand.packed) return {tensor(operand.items.front())};
    if (operand.items.empty()) return {"[]"};
    if (equal_items(operand)) {
        const std::string length =
            operand.length.valid() ? extent(operand.length) : std::to_string(operand.items.size());
        return {fmt::format("{}..({})", tensor(operand.items.front()), length)};
    }
    std::vector<std::string> items;
    for (const ir::TensorId id : operand.items) items.push_back(tensor(id));
    return items;
}

std::vector<std::string> TypeNames::legend() const {
    const ir::SymbolPool& symbols = program_.symbols;
    const auto bound = [&](ir::SymId id) {
        const int64_t high = symbols.range(id).high;
        return high == INT64_MAX ? std::string() : fmt::format(" ≤ {}", high);
    };
    std::vector<std::string> lines;
    for (const ir::SymId id : used_) {
        const std::string limit = bound(id);
        lines.push_back(symbols.text(id) + (limit.empty() ? " is not bounded" : limit));
    }
    for (const Alias& alias : aliases_) {
        const std::string meaning =
            is_symbol(alias.id) ? "" : fmt::format(" = {}", symbols.text(alias.id));
        lines.push_back(alias.name + meaning + bound(alias.id));
    }
    return lines;
}

}  // namespace lemma::show

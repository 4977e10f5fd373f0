// SPDX-License-Identifier: Apache-2.0
#include "sknd/types/broken.h"

#include <algorithm>

namespace lemma::sknd {

namespace {

bool contains(Span outer, Span inner) {
    return outer.file == inner.file && outer.begin <= inner.begin && inner.begin < outer.end;
}

// The block around a place; null outside of all blocks.
const BlockSpan* block_at(const Definition& definition, Span span) {
    const auto it = std::find_if(
        definition.blocks.begin(), definition.blocks.end(), [&](const BlockSpan& block) {
            return contains(block.span, span);
        });
    return it == definition.blocks.end() ? nullptr : &*it;
}

// Blocks from @assert on declare nothing for other blocks, except @compose for @update.
bool is_leaf(int step) { return step >= static_cast<int>(BlockKind::Assert); }

}  // namespace

BrokenParts::BrokenParts(const Module& module, const std::vector<diag::Diagnostic>& errors)
    : blocks_(module.definitions.size()) {
    for (const diag::Diagnostic& error : errors) {
        // Errors about modules and definitions do not damage the text.
        const bool syntax =
            error.severity == diag::Severity::Error && error.kind < DiagKind::NoModule;
        if (!syntax || error.span.file != module.file) continue;
        bool inside = false;
        for (size_t d = 0; d < module.definitions.size(); ++d) {
            const Definition& definition = module.definitions[d];
            if (!contains(definition.span, error.span)) continue;
            const BlockSpan* block = block_at(definition, error.span);
            blocks_[d].push_back(block ? static_cast<int>(block->kind) : -1);
            inside = block != nullptr;  // otherwise the name itself may be wrong
        }
        names_lost_ = names_lost_ || !inside;
    }
    for (const Definition& definition : module.definitions) {
        names_lost_ = names_lost_ || definition.name.text.empty();
    }
}

bool BrokenParts::independent(const Definition& definition,
                              size_t index,
                              const diag::Diagnostic& error) const {
    const BlockSpan* block = block_at(definition, error.span);
    if (!block) return false;
    const int step = static_cast<int>(block->kind);
    return std::all_of(blocks_[index].begin(), blocks_[index].end(), [&](int broken) {
        if (broken == -1) return false;
        if (!is_leaf(broken)) return step < broken;
        const bool body = broken == static_cast<int>(BlockKind::Lower) ||
                          broken == static_cast<int>(BlockKind::Compose);
        if (body && error.kind == DiagKind::MissingOutput) return false;
        return step != broken && !(body && step > broken);
    });
}

}  // namespace lemma::sknd

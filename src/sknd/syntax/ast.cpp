// SPDX-License-Identifier: Apache-2.0
#include "sknd/syntax/ast.h"

namespace lemma::sknd {

std::string QualifiedName::text() const {
    std::string result;
    for (const Name& part : parts) {
        if (!result.empty()) result += '.';
        result += part.text;
    }
    return result;
}

std::string_view block_name(BlockKind kind) {
    switch (kind) {
        case BlockKind::Dtype:
            return "@dtype";
        case BlockKind::Attrib:
            return "@attrib";
        case BlockKind::Input:
            return "@input";
        case BlockKind::Using:
            return "@using";
        case BlockKind::Constant:
            return "@constant";
        case BlockKind::Variable:
            return "@variable";
        case BlockKind::Output:
            return "@output";
        case BlockKind::Assert:
            return "@assert";
        case BlockKind::Lower:
            return "@lower";
        case BlockKind::Compose:
            return "@compose";
        case BlockKind::Update:
            return "@update";
        case BlockKind::Quantize:
            return "@quantize";
    }
    return "";
}

const BlockSpan* Definition::block(BlockKind kind) const {
    for (const BlockSpan& candidate : blocks) {
        if (candidate.kind == kind) return &candidate;
    }
    return nullptr;
}

}  // namespace lemma::sknd

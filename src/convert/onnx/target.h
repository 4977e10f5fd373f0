// SPDX-License-Identifier: Apache-2.0
// convert/onnx/target.h — ONNX as the target of a rewriting. The operators of stdlib/to_onnx are
// its translations: `to_onnx.math_add` stands for `math.add`.
#pragma once

#include "convert/rewrite.h"
#include "sknd/modules/modules.h"

namespace lemma::convert {

class OnnxTarget final : public Target {
public:
    std::string_view format() const override { return "ONNX"; }
    bool has_control_flow() const override { return true; }
    bool has(const ir::Operation& op) const override;
    std::optional<Translation> translation(const ir::Operation& op) const override;
    std::string why_not(const ir::Operation& op) const override;
    std::unique_ptr<ir::CallBuilder> builder(Diagnostics& trouble) const override;

private:
    const sknd::Package& library() const;
    const sknd::Definition* find_definition(const ir::Operation& op) const;

    mutable diag::SourceMap sources_;
    mutable std::optional<sknd::Package> library_;  // loaded on first use
};

}  // namespace lemma::convert

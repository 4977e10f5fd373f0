// SPDX-License-Identifier: Apache-2.0
// MatMul and Gemm: matrices of rank 2, and no scales or transpositions in Gemm.
#include <fmt/format.h>

#include <array>

#include "diag/utf8.h"
#include "sonnx/inspection.h"
#include "sonnx/matmul.h"

namespace lemma::sonnx {

namespace {

using diag::printable;

void check_matmul_rank(Inspection& inspection) {
    inspection.each_node("MatMul", [&](const onnx::Node& node) {
        inspection.examined();
        for (const size_t i : {size_t{0}, size_t{1}}) {
            const auto shape = inspection.view().input_shape(node, i);
            if (!shape) {
                inspection.undecided();
            } else if (shape->size() != 2) {
                inspection.fail_maybe_fixable(
                    plan_matmul_2d(node, inspection.view()).has_value(),
                    node.place,
                    fmt::format(
                        "`{}` has rank {}, expected 2", printable(node.inputs[i]), shape->size()),
                    "puts a `Reshape` before and after it");
            }
        }
    });
}

// The shapes of a product of matrices; empty if one of them is unknown or of another rank.
struct Product {
    Extents a, b, y;
};
std::optional<Product> product_of(const onnx::Node& node, const View& view) {
    const auto a = view.input_shape(node, 0);
    const auto b = view.input_shape(node, 1);
    const auto y = view.output_shape(node, 0);
    if (!a || !b || !y) return std::nullopt;
    return Product{*a, *b, *y};
}

void check_product(Inspection& inspection, const onnx::Node& node, const Product& product) {
    const auto& [a, b, y] = product;
    if (a[1] != b[0]) {
        inspection.fail(
            node.place,
            fmt::format("`A` has {} columns, expected {} (the rows of `B`)", a[1], b[0]));
    } else if (y != Extents{a[0], b[1]}) {
        inspection.fail(node.place,
                        fmt::format("the result has the shape {}, expected {}",
                                    shape_text(y),
                                    shape_text({a[0], b[1]})));
    }
}

void check_matmul_shapes(Inspection& inspection) {
    inspection.each_node("MatMul", [&](const onnx::Node& node) {
        inspection.examined();
        const auto product = product_of(node, inspection.view());
        if (!product) return inspection.undecided();
        if (product->a.size() != 2 || product->b.size() != 2) return;  // reported by MATMUL-1
        check_product(inspection, node, *product);
    });
}

Extents turned(Extents shape) {
    std::swap(shape[0], shape[1]);
    return shape;
}

void check_gemm_shapes(Inspection& inspection) {
    inspection.each_node("Gemm", [&](const onnx::Node& node) {
        inspection.examined();
        auto product = product_of(node, inspection.view());
        if (!product) return inspection.undecided();
        for (const Extents* shape : {&product->a, &product->b}) {
            if (shape->size() == 2) continue;
            return inspection.fail(node.place,
                                   fmt::format("`{}` has rank {}, expected 2",
                                               shape == &product->a ? "A" : "B",
                                               shape->size()));
        }
        if (int_attribute(node, "transA").value_or(0) != 0) product->a = turned(product->a);
        if (int_attribute(node, "transB").value_or(0) != 0) product->b = turned(product->b);
        check_product(inspection, node, *product);
    });
}

void check_gemm_attributes(Inspection& inspection) {
    inspection.each_node("Gemm", [&](const onnx::Node& node) {
        inspection.examined();
        for (const std::string_view name : {"alpha", "beta"}) {
            const auto value = float_attribute(node, name);
            if (!value || *value == 1.0F) continue;
            inspection.fail(
                place_of(node, name),
                fmt::format("`{}` is {}, expected 1 and a `Mul` of its own", name, *value));
        }
        for (const std::string_view name : {"transA", "transB"}) {
            const auto value = int_attribute(node, name);
            if (!value || *value == 0) continue;
            inspection.fail_fixable(
                place_of(node, name),
                fmt::format("`{}` is {}, expected 0 and the matrix in its own order", name, *value),
                "transposes a constant, and puts a `Transpose` before other matrices");
        }
    });
}

}  // namespace

std::vector<Rule> matrix_rules() {
    using enum Severity;
    return {
        {"MATMUL-1",
         "",
         Restriction,
         "the operands of MatMul have rank 2",
         "only products of matrices are specified",
         "MatMul, R1 (transient)",
         check_matmul_rank,
         "MatMul",
         k2026_08},
        {"MATMUL-2",
         "",
         Violation,
         "A of MatMul has as many columns as B has rows; Y has the rows of A and the columns of B",
         "each sum runs over the columns of A and the rows of B",
         "MatMul, constraints of A, B and Y",
         check_matmul_shapes,
         "MatMul",
         k2026_08},
        {"GEMM-1",
         "",
         Violation,
         "A and B of Gemm are matrices that fit, and Y has the rows of A and the columns of B",
         "each sum runs over the columns of A and the rows of B",
         "Gemm, R1 and shapes",
         check_gemm_shapes,
         "Gemm",
         k2026_08},
        {"GEMM-2",
         "",
         Restriction,
         "`alpha` and `beta` of Gemm are 1, `transA` and `transB` are 0",
         "scales and transpositions are nodes of their own",
         "Gemm, R2",
         check_gemm_attributes,
         "Gemm",
         k2026_08},
    };
}

}  // namespace lemma::sonnx

// SPDX-License-Identifier: Apache-2.0
#include "sknd/syntax/fold_op.h"

#include "base/check.h"

namespace lemma::sknd {

BinaryOp binary_op(FoldOp op) {
    switch (op) {
        case FoldOp::Sum:
            return BinaryOp::Add;
        case FoldOp::Product:
            return BinaryOp::Mul;
        case FoldOp::All:
            return BinaryOp::And;
        case FoldOp::Any:
            return BinaryOp::Or;
        case FoldOp::Min:
            return BinaryOp::Min;
        case FoldOp::Max:
            return BinaryOp::Max;
        case FoldOp::Less:
            return BinaryOp::Less;
        case FoldOp::LessEqual:
            return BinaryOp::LessEqual;
        case FoldOp::Greater:
            return BinaryOp::Greater;
        case FoldOp::GreaterEqual:
            return BinaryOp::GreaterEqual;
        case FoldOp::Equal:
        case FoldOp::Uniform:
            return BinaryOp::Equal;
        case FoldOp::NotEqual:
            return BinaryOp::NotEqual;
    }
    check_failed("a known fold", __FILE__, __LINE__);
}

}  // namespace lemma::sknd

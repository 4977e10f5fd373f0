// SPDX-License-Identifier: Apache-2.0
#include "nnef1/syntax/ast.h"

#include <algorithm>

namespace lemma::nnef1 {

bool Document::has_extension(std::string_view name) const {
    return std::ranges::any_of(extensions, [&](const Extension& extension) {
        return std::ranges::any_of(extension.names, [&](const Name& n) { return n.text == name; });
    });
}

std::string_view spelling(TypeName name) {
    switch (name) {
        case TypeName::Integer:
            return "integer";
        case TypeName::Scalar:
            return "scalar";
        case TypeName::Logical:
            return "logical";
        case TypeName::String:
            return "string";
        case TypeName::Generic:
            return "?";
    }
    return "";
}

std::string_view spelling(UnaryOp op) {
    switch (op) {
        case UnaryOp::Plus:
            return "+";
        case UnaryOp::Minus:
            return "-";
        case UnaryOp::Not:
            return "!";
    }
    return "";
}

std::string_view spelling(BinaryOp op) {
    switch (op) {
        case BinaryOp::Add:
            return "+";
        case BinaryOp::Sub:
            return "-";
        case BinaryOp::Mul:
            return "*";
        case BinaryOp::Div:
            return "/";
        case BinaryOp::Pow:
            return "^";
        case BinaryOp::Less:
            return "<";
        case BinaryOp::LessEqual:
            return "<=";
        case BinaryOp::Greater:
            return ">";
        case BinaryOp::GreaterEqual:
            return ">=";
        case BinaryOp::Equal:
            return "==";
        case BinaryOp::NotEqual:
            return "!=";
        case BinaryOp::And:
            return "&&";
        case BinaryOp::Or:
            return "||";
        case BinaryOp::In:
            return "in";
    }
    return "";
}

std::string_view spelling(Builtin function) {
    switch (function) {
        case Builtin::ShapeOf:
            return "shape_of";
        case Builtin::LengthOf:
            return "length_of";
        case Builtin::RangeOf:
            return "range_of";
        case Builtin::Integer:
            return "integer";
        case Builtin::Scalar:
            return "scalar";
        case Builtin::Logical:
            return "logical";
        case Builtin::String:
            return "string";
    }
    return "";
}

}  // namespace lemma::nnef1

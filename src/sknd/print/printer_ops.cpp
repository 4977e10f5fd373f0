// SPDX-License-Identifier: Apache-2.0
#include "sknd/print/printer_ops.h"

#include "base/check.h"
#include "sknd/syntax/fold_op.h"

namespace lemma::sknd {

namespace {

[[noreturn]] void no_such_op() { check_failed("a known operator", __FILE__, __LINE__); }

bool khronos(Spelling spelling) { return spelling == Spelling::Khronos; }

}  // namespace

Level level(BinaryOp op) {
    switch (op) {
        case BinaryOp::Pow:
            return Level::Power;
        case BinaryOp::Mul:
        case BinaryOp::Div:
        case BinaryOp::CeilDiv:
        case BinaryOp::Mod:
            return Level::Multiply;
        case BinaryOp::Add:
        case BinaryOp::Sub:
            return Level::Add;
        case BinaryOp::Min:
        case BinaryOp::Max:
            return Level::MinMax;
        case BinaryOp::Less:
        case BinaryOp::LessEqual:
        case BinaryOp::Greater:
        case BinaryOp::GreaterEqual:
        case BinaryOp::Equal:
        case BinaryOp::NotEqual:
        case BinaryOp::Is:
        case BinaryOp::In:
            return Level::Compare;
        case BinaryOp::And:
        case BinaryOp::Or:
        case BinaryOp::Xor:
            return Level::Logical;
        case BinaryOp::Implies:
            return Level::Implies;
    }
    no_such_op();
}

Level level(FoldOp op) { return op == FoldOp::Uniform ? Level::Compare : level(binary_op(op)); }

std::string_view symbol(UnaryOp op) {
    switch (op) {
        case UnaryOp::Plus:
            return "+";
        case UnaryOp::Minus:
            return "-";
        case UnaryOp::Not:
            return "!";
    }
    no_such_op();
}

std::string_view symbol(BinaryOp op, Spelling spelling) {
    switch (op) {
        case BinaryOp::Add:
            return "+";
        case BinaryOp::Sub:
            return "-";
        case BinaryOp::Mul:
            return "*";
        case BinaryOp::Div:
            return "/";
        case BinaryOp::CeilDiv:
            return "\\";
        case BinaryOp::Mod:
            return "%";
        case BinaryOp::Pow:
            return "**";
        case BinaryOp::Min:
            return khronos(spelling) ? "<?" : "<<";
        case BinaryOp::Max:
            return khronos(spelling) ? ">?" : ">>";
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
        case BinaryOp::Xor:
            return "^";
        case BinaryOp::Implies:
            return "=>";
        case BinaryOp::Is:
            return "is";
        case BinaryOp::In:
            return "in";
    }
    no_such_op();
}

std::string_view symbol(FoldOp op, Spelling spelling) {
    return op == FoldOp::Uniform ? ":=" : symbol(binary_op(op), spelling);
}

std::string_view symbol(LowerOp op, Spelling spelling) {
    switch (op) {
        case LowerOp::Assign:
            return "=";
        case LowerOp::Sum:
            return "+=";
        case LowerOp::Product:
            return "*=";
        case LowerOp::All:
            return "&=";
        case LowerOp::Any:
            return "|=";
        case LowerOp::Min:
            return khronos(spelling) ? "<?=" : "<=";
        case LowerOp::Max:
            return khronos(spelling) ? ">?=" : ">=";
        case LowerOp::Update:
            return ":=";
    }
    no_such_op();
}

std::string_view symbol(MemberKind member) {
    switch (member) {
        case MemberKind::Shape:
            return "shape";
        case MemberKind::Rank:
            return "rank";
        case MemberKind::Size:
            return "size";
    }
    no_such_op();
}

std::string_view symbol(Qualifier qualifier) {
    switch (qualifier) {
        case Qualifier::None:
            return "";
        case Qualifier::Static:
            return "static";
        case Qualifier::Dynamic:
            return "dynamic";
    }
    no_such_op();
}

}  // namespace lemma::sknd

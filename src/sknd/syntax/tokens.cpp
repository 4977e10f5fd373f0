// SPDX-License-Identifier: Apache-2.0
#include "sknd/syntax/tokens.h"

namespace lemma::sknd {

bool is_keyword(TokenKind kind) {
    return kind >= TokenKind::KwImport && kind <= TokenKind::KwDynamic;
}

std::string_view describe(TokenKind kind) {
    switch (kind) {
        case TokenKind::EndOfFile:
            return "the end of the file";
        case TokenKind::Bad:
            return "an unreadable token";
        case TokenKind::Identifier:
            return "an identifier";
        case TokenKind::Integer:
            return "an integer";
        case TokenKind::Real:
            return "a real number";
        case TokenKind::String:
            return "a string";
        case TokenKind::Block:
            return "a block";
        case TokenKind::Builtin:
            return "a built-in function";
        case TokenKind::KwImport:
            return "`import`";
        case TokenKind::KwGraph:
            return "`graph`";
        case TokenKind::KwPublic:
            return "`public`";
        case TokenKind::KwOperator:
            return "`operator`";
        case TokenKind::KwOptional:
            return "`optional`";
        case TokenKind::KwType:
            return "`type`";
        case TokenKind::KwArith:
            return "`arith`";
        case TokenKind::KwNum:
            return "`num`";
        case TokenKind::KwInt:
            return "`int`";
        case TokenKind::KwReal:
            return "`real`";
        case TokenKind::KwBool:
            return "`bool`";
        case TokenKind::KwStr:
            return "`str`";
        case TokenKind::KwInf:
            return "`inf`";
        case TokenKind::KwPi:
            return "`pi`";
        case TokenKind::KwTrue:
            return "`true`";
        case TokenKind::KwFalse:
            return "`false`";
        case TokenKind::KwAs:
            return "`as`";
        case TokenKind::KwIf:
            return "`if`";
        case TokenKind::KwThen:
            return "`then`";
        case TokenKind::KwElse:
            return "`else`";
        case TokenKind::KwElif:
            return "`elif`";
        case TokenKind::KwDo:
            return "`do`";
        case TokenKind::KwFor:
            return "`for`";
        case TokenKind::KwWhile:
            return "`while`";
        case TokenKind::KwWith:
            return "`with`";
        case TokenKind::KwYield:
            return "`yield`";
        case TokenKind::KwUnroll:
            return "`unroll`";
        case TokenKind::KwStatic:
            return "`static`";
        case TokenKind::KwDynamic:
            return "`dynamic`";
        case TokenKind::LParen:
            return "`(`";
        case TokenKind::RParen:
            return "`)`";
        case TokenKind::LBracket:
            return "`[`";
        case TokenKind::RBracket:
            return "`]`";
        case TokenKind::LBrace:
            return "`{`";
        case TokenKind::RBrace:
            return "`}`";
        case TokenKind::Comma:
            return "`,`";
        case TokenKind::Semicolon:
            return "`;`";
        case TokenKind::Colon:
            return "`:`";
        case TokenKind::Dot:
            return "`.`";
        case TokenKind::DotDot:
            return "`..`";
        case TokenKind::Ellipsis:
            return "`...`";
        case TokenKind::Tilde:
            return "`~`";
        case TokenKind::Question:
            return "`?`";
        case TokenKind::QuestionQuestion:
            return "`??`";
        case TokenKind::Bar:
            return "`|`";
        case TokenKind::Plus:
            return "`+`";
        case TokenKind::Minus:
            return "`-`";
        case TokenKind::Star:
            return "`*`";
        case TokenKind::StarStar:
            return "`**`";
        case TokenKind::Slash:
            return "`/`";
        case TokenKind::Backslash:
            return "`\\`";
        case TokenKind::Percent:
            return "`%`";
        case TokenKind::Less:
            return "`<`";
        case TokenKind::LessEqual:
            return "`<=`";
        case TokenKind::Greater:
            return "`>`";
        case TokenKind::GreaterEqual:
            return "`>=`";
        case TokenKind::EqualEqual:
            return "`==`";
        case TokenKind::NotEqual:
            return "`!=`";
        case TokenKind::AndAnd:
            return "`&&`";
        case TokenKind::OrOr:
            return "`||`";
        case TokenKind::Caret:
            return "`^`";
        case TokenKind::Bang:
            return "`!`";
        case TokenKind::Implies:
            return "`=>`";
        case TokenKind::Arrow:
            return "`->`";
        case TokenKind::Substitute:
            return "`<-`";
        case TokenKind::Remap:
            return "`<>`";
        case TokenKind::Min:
            return "`<<`";
        case TokenKind::Max:
            return "`>>`";
        case TokenKind::Assign:
            return "`=`";
        case TokenKind::PlusAssign:
            return "`+=`";
        case TokenKind::StarAssign:
            return "`*=`";
        case TokenKind::AndAssign:
            return "`&=`";
        case TokenKind::OrAssign:
            return "`|=`";
        case TokenKind::ColonAssign:
            return "`:=`";
        case TokenKind::MinAssign:
            return "`<?=`";
        case TokenKind::MaxAssign:
            return "`>?=`";
    }
    return "a token";
}

}  // namespace lemma::sknd

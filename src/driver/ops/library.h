// driver/ops/library.h — the standard operators as data for people: what their definitions and the
// comments above them say, as texts.
#pragma once

#include <string>
#include <vector>

namespace lemma::driver {

// A declaration: `padding: optional int..(2 * d)`, or a type with what it may stand for.
struct ParamText {
    std::string name;
    std::string type;
    std::string value;  // the default, or the value of a constant; may be empty
    bool optional = false;
    bool packed = false;
};

struct AssertText {
    std::string condition;
    std::string message;  // may be empty
};

enum class BodyKind { Formula, Composition, Intrinsic };

struct OperatorText {
    std::string module;
    std::string name;     // `conv`
    std::string summary;  // the comment above it, as one paragraph without full stop
    bool is_private = false;
    std::vector<ParamText> types, attributes, inputs, outputs, constants, variables;
    std::vector<AssertText> asserts;
    BodyKind body = BodyKind::Intrinsic;
    std::string helpers;     // the statements of `@using`
    std::string statements;  // of `@lower` or `@compose`
    std::string updates;     // of `@update`
    std::string definition;  // all of it
    std::string file;        // `stdlib/nn.sknd`
    unsigned line = 0;

    std::string qualified() const { return module + "." + name; }
};

struct ModuleText {
    std::string name;
    std::string file;
    std::string summary;                  // the comment on top of the file
    std::vector<OperatorText> operators;  // in the order of the file
};

// All standard modules in the order of their names.
std::vector<ModuleText> standard_library();

// The operator as it is called, the outputs on the left, `?` behind what is optional:
// `output = nn.linear(input, filter, bias?)`. Longer than `columns`, it is broken into lines.
std::string call_text(const OperatorText& op, size_t columns);

const char* body_title(BodyKind body);

}  // namespace lemma::driver

// SPDX-License-Identifier: Apache-2.0
// ops/library.h — the standard operators as texts for people: their definitions and the
// comments above them.
#pragma once

#include <string>
#include <vector>

#include "diag/diagnostic.h"
#include "diag/source.h"

namespace lemma::ops {

// A declaration: `padding: optional int..(2 * d)`, or a type with its possible values.
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
    bool graph = false;   // a graph of a model
    std::string module;   // empty: a text without a name
    std::string name;     // `conv`
    std::string summary;  // the comment above it, as one paragraph without the full stop
    bool is_private = false;
    std::vector<ParamText> types, attributes, inputs, outputs, constants, variables;
    std::vector<AssertText> asserts;
    BodyKind body = BodyKind::Intrinsic;
    std::string helpers;     // the statements of `@using`
    std::string statements;  // body of `@lower` or `@compose`
    std::string updates;     // body of `@update`
    std::string definition;  // the whole definition
    std::string file;        // `stdlib/nn.sknd`
    unsigned line = 0;

    std::string qualified() const { return module.empty() ? name : module + "." + name; }
};

struct ModuleText {
    std::string name;
    std::string file;
    std::string summary;                  // the comment at the top of the file
    std::vector<OperatorText> operators;  // in the order of the file
};

// All standard modules, sorted by name.
std::vector<ModuleText> standard_library();

// The modules that `lemma ops` lists for these names. Operators of other formats, in modules such
// as `onnx.conv`, are listed only if a name asks for them. `all`: private operators, too.
std::vector<ModuleText> listed_library(const std::vector<std::string>& names, bool all);

// The graphs and operators of one text. Its imports are not read. Nothing if the text has syntax
// errors, which are reported.
ModuleText describe_text(diag::SourceMap& sources, diag::FileId file, Diagnostics& diag);

// A call of the operator with outputs on the left and `?` after optional arguments: `output =
// nn.linear(input, filter, bias?)`. A text longer than `columns` is split into lines.
std::string call_text(const OperatorText& op, size_t columns);

const char* body_title(BodyKind body);

}  // namespace lemma::ops

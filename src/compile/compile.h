// SPDX-License-Identifier: Apache-2.0
// compile/compile.h — a model as C code or machine code, in files: the work of `lemma compile`.
#pragma once

#include <string>
#include <vector>

#include "compile/certified.h"
#include "model/finding.h"
#include "session/session.h"

namespace lemma::compile {

enum class Form { Certified, Fast };

struct Request {
    std::string model;
    std::string out;             // a folder; FILE.o or FILE.so: machine code. Empty: this folder
    bool folder = false;         // `out` is a folder, whatever its name
    std::string name = "model";  // prefix of files and functions
    Form form = Form::Certified;
    // Inputs with runtime extents, in the fast form: `NAME=1x3x224x224`. `NAME=1..8x3x224x224`
    // leaves an extent to each run, within bounds.
    std::vector<std::string> shapes;
    CertifiedOptions certified;
    session::SessionOptions session;  // its `compile` has the target and the numerics
};

// Writes the files. `finding` has the status and the problems.
void compile_model(const Request& request, model::Finding& finding);

}  // namespace lemma::compile

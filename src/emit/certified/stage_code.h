// SPDX-License-Identifier: Apache-2.0
// emit/certified/stage_code.h — a stage as C functions with contracts. A map fills a tensor element
// by element; a reduction has a function for one element, and a logic function for each axis that
// it sums over. Any other stage is a loop nest without a statement about its result.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "emit/certified/expression.h"

namespace lemma::emit {

// The first and the last index, by axis.
using CBox = std::vector<std::pair<int64_t, int64_t>>;

// A C function and what a proof of it needs.
struct CFunction {
    std::string name;
    std::string logic;                       // definitions and predicates, in ACSL
    std::string contract;                    // without the end of the comment
    std::string signature;                   // `static void n3_relu(void)`
    std::string body;                        // with its braces
    std::vector<ir::TensorId> tensors = {};  // that it reads and writes
    std::vector<std::string> calls = {};     // names of functions
    // What holds after a call; empty if the contract says nothing of the result.
    std::string holds = {};
    std::string assigns = {};
    std::vector<ir::TensorId> written = {};
    CBox box = {};  // of a function that writes one tensor and does not read it: what it writes
    bool faults = false;       // it may set the fault flag
    bool composition = false;  // it only calls other functions

    std::string prototype() const {
        return contract + "  @ exits \\false;\n  @*/\n" + signature + ";\n";
    }
    std::string definition() const {
        return contract + "  @ exits \\false;\n  @*/\n" + signature + "\n" + body;
    }
};

struct StageNames {
    std::string id;        // the prefix of predicates: `n3`, `n3_2`
    std::string function;  // `n3_relu`
    std::string fault;     // the flag that is set if an index leaves its tensor
};

// In the order of their definition; the last one does the whole stage. Empty if the text would be
// absurdly long.
std::vector<CFunction> write_stage(const loop::StageGraph& graph,
                                   const loop::Stage& stage,
                                   const TensorNames& tensors,
                                   const StageNames& names);

}  // namespace lemma::emit

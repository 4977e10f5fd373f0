// SPDX-License-Identifier: Apache-2.0
// sonnx/report/evidence.h — evidence from other commands that a report cites: the proofs of
// `lemma prove --json` and the tests of `lemma verify --json`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lemma::sonnx {

// A file that was read as evidence.
struct EvidenceFile {
    std::string name;  // without folders
    std::string hash;  // SHA-256
};

struct FunctionProof {
    std::string name;   // of the C function
    std::string place;  // of its node; may be empty
    int64_t goals = 0;
    int64_t proved = 0;
    std::vector<std::string> unproved;  // names of goals
    bool frame_only = false;            // the contract does not say what is computed
    std::string trouble;                // why there is no result

    bool good() const { return trouble.empty() && goals > 0 && proved == goals; }
};
struct Proofs {
    EvidenceFile file;
    std::string model_hash;  // of the model that was proved; may be empty
    std::vector<std::string> tools;
    std::string accumulate;  // "f32", "f64"; may be empty
    bool weights = false;    // the values of weights are part of the proof
    std::vector<FunctionProof> functions;

    bool good() const;

    int64_t goals() const;
    int64_t proved() const;
};
// `text` is a JSON document. The error says what is wrong with it.
Result<Proofs> read_proofs(EvidenceFile file, std::string_view text);

struct TestCase {
    std::string name;
    bool passed = false;
    std::string failure;  // the first one
};
struct Tests {
    EvidenceFile file;
    std::vector<TestCase> cases;

    int64_t passed() const;
};
Result<Tests> read_tests(EvidenceFile file, std::string_view text);

}  // namespace lemma::sonnx

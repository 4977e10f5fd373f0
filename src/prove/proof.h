// SPDX-License-Identifier: Apache-2.0
// prove/proof.h — what was proved of each function of a model, as a table and as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::prove {

struct FunctionProof {
    std::string name;         // `n3_relu`
    std::string place;        // of its operation in the model; may be empty
    bool frame_only = false;  // the contract does not say what the function computes
    int64_t goals = 0;
    int64_t proved = 0;
    std::map<std::string, int64_t> by;  // goals by prover
    std::vector<std::string> unproved;  // names of goals, as WP has them
    double seconds = 0;                 // of the run that proved it
    double slowest = 0;                 // of one goal
    bool cached = false;
    std::string same_as;  // the function of this run with the same text; may be empty
    std::string digest;   // of text, options and tools
    std::vector<std::string> warnings;
    std::string trouble;  // why there is no result

    bool good() const {
        return trouble.empty() && goals > 0 && proved == goals && unproved.empty();
    }
};

struct ModelProof {
    std::string file;
    std::string sha256;  // of the model
    std::string accumulate;
    std::vector<std::string> tools;
    std::vector<std::string> command;  // of Frama-C, without the file
    std::vector<FunctionProof> functions;
    double seconds = 0;

    bool good() const;
};

// A result in the cache. Only complete proofs are kept: decoding refuses others.
std::string encode_proof(const FunctionProof& proof);
std::optional<FunctionProof> decode_proof(std::string_view text);

std::string proof_table(const ModelProof& proof);
nlohmann::ordered_json proof_json(const ModelProof& proof);

}  // namespace lemma::prove

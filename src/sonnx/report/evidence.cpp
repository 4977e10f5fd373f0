// SPDX-License-Identifier: Apache-2.0
#include "sonnx/report/evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonnx/report/evidence_json.h"

namespace lemma::sonnx {

namespace {

using nlohmann::json;

// Files are read from the command line, so their size has a limit.
constexpr size_t kMaxItems = 1'000'000;

}  // namespace

std::unexpected<Error> bad_evidence(const EvidenceFile& file, std::string_view why) {
    return std::unexpected(Error{fmt::format("`{}`: {}", file.name, why)});
}

std::string text_field(const json& object, const char* key) {
    if (!object.is_object()) return "";
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> text_fields(const json& object, const char* key) {
    std::vector<std::string> texts;
    if (!object.is_object()) return texts;
    const auto found = object.find(key);
    if (found == object.end() || !found->is_array()) return texts;
    for (const json& item : *found) {
        if (item.is_string()) texts.push_back(item.get<std::string>());
    }
    return texts;
}

Result<const json*> list_field(const EvidenceFile& file, const json& document, const char* key) {
    if (document.is_discarded()) return bad_evidence(file, "it is no JSON document");
    const auto found = document.is_object() ? document.find(key) : document.end();
    if (found == document.end() || !found->is_array())
        return bad_evidence(file, fmt::format("it has no list `{}`", key));
    if (found->size() > kMaxItems) return bad_evidence(file, "it has too many items");
    return &*found;
}

namespace {

Result<int64_t> count_of(const EvidenceFile& file, const json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer() || *found < 0 ||
        *found > int64_t{1} << 40)
        return bad_evidence(file, fmt::format("`{}` of a function is not a number of goals", key));
    return found->get<int64_t>();
}

Result<FunctionProof> proof_of(const EvidenceFile& file, const json& item) {
    if (!item.is_object()) return bad_evidence(file, "an item of `functions` is no object");
    FunctionProof proof{.name = text_field(item, "name"), .place = text_field(item, "place")};
    if (proof.name.empty()) return bad_evidence(file, "a function has no `name`");
    LEMMA_TRY(proof.goals, count_of(file, item, "goals"));
    LEMMA_TRY(proof.proved, count_of(file, item, "proved"));
    proof.unproved = text_fields(item, "unproved");
    proof.frame_only = text_field(item, "says") == "frame";
    proof.trouble = text_field(item, "trouble");
    if (proof.proved > proof.goals)
        return bad_evidence(file, fmt::format("`{}` has more proved goals than goals", proof.name));
    return proof;
}

}  // namespace

int64_t Proofs::goals() const {
    int64_t sum = 0;
    for (const FunctionProof& each : functions) sum += each.goals;
    return sum;
}
int64_t Proofs::proved() const {
    int64_t sum = 0;
    for (const FunctionProof& each : functions) sum += each.proved;
    return sum;
}
bool Proofs::good() const {
    return !functions.empty() && std::ranges::all_of(functions, &FunctionProof::good);
}
int64_t Tests::passed() const { return std::ranges::count(cases, true, &TestCase::passed); }

Result<Proofs> read_proofs(EvidenceFile file, std::string_view text) {
    const json document = json::parse(text, nullptr, false);
    LEMMA_TRY(const json* list, list_field(file, document, "functions"));
    Proofs proofs;
    for (const json& item : *list) {
        LEMMA_TRY(FunctionProof proof, proof_of(file, item));
        proofs.functions.push_back(std::move(proof));
    }
    const auto model = document.find("model");
    if (model != document.end() && model->is_object())
        proofs.model_hash = text_field(*model, "sha256");
    proofs.tools = text_fields(document, "tools");
    proofs.accumulate = text_field(document, "accumulate");
    const auto weights = document.find("weights_in_proof");
    proofs.weights = weights != document.end() && weights->is_boolean() && weights->get<bool>();
    proofs.file = std::move(file);
    return proofs;
}

Result<Tests> read_tests(EvidenceFile file, std::string_view text) {
    const json document = json::parse(text, nullptr, false);
    LEMMA_TRY(const json* list, list_field(file, document, "cases"));
    Tests tests;
    for (const json& item : *list) {
        const auto passed = item.is_object() ? item.find("passed") : item.end();
        if (passed == item.end() || !passed->is_boolean())
            return bad_evidence(file, "an item of `cases` does not say whether it passed");
        const auto failures = text_fields(item, "failures");
        tests.cases.push_back({.name = text_field(item, "case"),
                               .passed = passed->get<bool>(),
                               .failure = failures.empty() ? "" : failures.front()});
    }
    tests.file = std::move(file);
    return tests;
}

}  // namespace lemma::sonnx

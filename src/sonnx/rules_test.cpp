// SPDX-License-Identifier: Apache-2.0
// Tests every rule with a model that satisfies it and one that violates it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "diag/source.h"
#include "onnx/operators.h"
#include "onnx/validate.h"
#include "onnx/write.h"
#include "sonnx/catalogue.h"
#include "sonnx/check.h"
#include "sonnx/clauses.h"
#include "sonnx/documents.h"
#include "sonnx/test_models.h"
#include "sonnx/test_operators.h"
#include "tensor/files/file_io.h"

namespace lemma::sonnx {

namespace {

using namespace test;
using onnx::Model;

struct Checked {
    std::vector<RuleResult> results;
    Diagnostics diag{0};

    const RuleResult& of(std::string_view id) const {
        for (const RuleResult& result : results) {
            if (result.rule->id == id) return result;
        }
        LEMMA_CHECK(false);
        return results[0];
    }
};

Checked check_model(const Model& model, InferredTypes inferred = {}) {
    diag::SourceMap sources;
    const diag::FileId file = sources.add_paths("test.onnx", model.paths);
    Diagnostics base;
    onnx::validate(model, file, base);
    const Subject subject{.model = model, .base = base, .inferred = std::move(inferred)};
    Checked checked;
    checked.results = check(subject);
    report(subject, checked.results, file, checked.diag);
    return checked;
}

using Break = std::function<void(Model&)>;

void add_external(Model& model) {
    main_graph(model).initializers[0].proto.external.emplace().location = "weights.bin";
}
void add_random(Model& model) {
    main_graph(model).nodes.push_back(make_node("RandomNormalLike", {"x"}, {"noise"}));
}
void add_subgraph(Model& model) {
    onnx::Attribute attribute;
    attribute.name = "body";
    attribute.type = onnx::AttributeType::Graph;
    attribute.graphs = {model.graphs.add({})};
    node_of(model, "y").attributes.push_back(attribute);
}
void swap_nodes(Model& model) {
    auto& nodes = main_graph(model).nodes;
    std::swap(nodes[0], nodes[1]);
}
void set_ints(Model& model, const char* node, const char* name, std::vector<int64_t> values) {
    set_attribute(node_of(model, node), make_ints(name, std::move(values)));
}

// The change that violates a rule in the conforming model. Other rules may be violated, too.
const std::map<std::string_view, Break>& breakers() {
    static const std::map<std::string_view, Break> kBreakers = {
        {"S001",
         [](Model& m) {
             m.faults.push_back({main_graph(m).place, DiagKind::BadData, "it is damaged"});
         }},
        {"S002", [](Model& m) { m.opsets.push_back({"com.example", 1}); }},
        {"S003", add_subgraph},
        {"S008", add_external},
        {"S018", add_random},
        {"S019", [](Model& m) { m.metadata.clear(); }},
        {"META-1", [](Model& m) { value_of(m, "x").doc = "TODO"; }},
        {"META-2", [](Model& m) { m.producer_version = "newest"; }},
        {"META-3", [](Model& m) { m.metadata[2].value = "2026-02-30"; }},
        {"META-4", [](Model& m) { m.metadata[3].value.back() ^= 1; }},
        {"META-5", [](Model& m) { m.metadata[0].value = "close enough"; }},
        {"S004", [](Model& m) { node_of(m, "s").outputs = {"r"}; }},
        {"S021", [](Model& m) { node_of(m, "y").inputs[1] = "nothing"; }},
        {"S022", swap_nodes},
        {"S023", [](Model& m) { node_of(m, "c1").inputs[0] = "c2"; }},
        {"S025", [](Model& m) { main_graph(m).inputs.push_back(declaration("b1", {4})); }},
        {"S005", [](Model& m) { main_graph(m).inputs.push_back(declaration("unused", {1})); }},
        {"GR1", [](Model& m) { value_of(m, "c1").kind = onnx::TypeKind::SparseTensor; }},
        {"GR2", [](Model& m) { value_of(m, "c1").elem_type = 0; }},
        {"S006", [](Model& m) { (*value_of(m, "c1").shape)[0] = {.value = {}, .param = "n"}; }},
        {"S007", [](Model& m) { set_shape(m, "c1", {1, 4, 0, 8}); }},
        {"S009", [](Model& m) { value_of(m, "c1").elem_type = 16; }},
        {"S010", [](Model& m) { node_of(m, "s").op = "LpNormalization"; }},
        {"S024", [](Model& m) { node_of(m, "s").op = "Sin"; }},
        {"GR4", [](Model& m) { drop_attribute(node_of(m, "c1"), "group"); }},
        {"S014", [](Model& m) { value_of(m, "s").elem_type = 11; }},
        {"S015", [](Model& m) { set_attribute(node_of(m, "s"), make_int("axis", -1)); }},
        {"S016",
         [](Model& m) {
             onnx::Node node = make_node("Constant", {}, {"k"});
             node.attributes = {make_float("value_float", 1.0F)};
             main_graph(m).nodes.insert(main_graph(m).nodes.begin(), node);
         }},
        {"S017", [](Model& m) { node_of(m, "r").inputs[1] = "x"; }},
        {"BC-66", [](Model& m) { set_shape(m, "s", {1, 127}); }},
        {"S013", [](Model& m) { set_shape(m, "s", {1, 1}); }},
        {"CONV-R1", [](Model& m) { value_of(m, "x").elem_type = 6; }},
        {"CONV-21", [](Model& m) { set_ints(m, "c1", "pads", {1, 1, 1}); }},
        {"CONV-7", [](Model& m) { set_weights(m, "w1", {4, 2, 3, 3}); }},
        {"CONV-8", [](Model& m) { set_shape(m, "c1", {1, 4, 9, 8}); }},
        {"CONV-11", [](Model& m) { set_ints(m, "c1", "dilations", {5, 1}); }},
        {"CONV-12", [](Model& m) { set_ints(m, "c1", "kernel_shape", {3, 2}); }},
        {"CONV-14", [](Model& m) { set_ints(m, "c1", "strides", {0, 1}); }},
        {"CONV-15", [](Model& m) { set_ints(m, "c1", "pads", {1, -1, 1, 1}); }},
        {"CONV-16", [](Model& m) { set_ints(m, "c1", "dilations", {1, 0}); }},
        {"CONV-17", [](Model& m) { set_attribute(node_of(m, "c2"), make_int("group", 2)); }},
        {"CONV-18", [](Model& m) { set_weights(m, "w2", {8, 1, 3, 3}); }},
        {"CONV-19", [](Model& m) { set_weights(m, "b1", {3}); }},
        {"CONV-20", [](Model& m) { set_shape(m, "c1", {2, 4, 8, 8}); }},
        {"CONV-23",
         [](Model& m) { set_attribute(node_of(m, "c1"), make_text("auto_pad", "SAME_UPPER")); }},
        {"CONV-C4", [](Model& m) { (*value_of(m, "x").shape)[0].denotation = "DATA_FEATURE"; }},
        {"CAT-59", [](Model& m) { node_of(m, "j").inputs.clear(); }},
        {"CAT-57", [](Model& m) { set_attribute(node_of(m, "j"), make_int("axis", 4)); }},
        {"CAT-60", [](Model& m) { node_of(m, "j").inputs[1] = "b1"; }},
        {"CAT-50", [](Model& m) { node_of(m, "j").inputs[1] = "c2"; }},
        {"CAT-52", [](Model& m) { set_shape(m, "j", {1, 4, 4, 4}); }},
        {"POOL-1",
         [](Model& m) { set_attribute(node_of(m, "p"), make_text("auto_pad", "VALID")); }},
        {"POOL-2", [](Model& m) { set_ints(m, "p", "kernel_shape", {9, 2}); }},
        {"POOL-3", [](Model& m) { set_ints(m, "p", "pads", {2, 0, 0, 0}); }},
        {"POOL-4", [](Model& m) { set_ints(m, "p", "strides", {2, 2, 2}); }},
        {"POOL-5", [](Model& m) { set_attribute(node_of(m, "p"), make_int("ceil_mode", 1)); }},
        {"POOL-6", [](Model& m) { set_attribute(node_of(m, "p"), make_int("storage_order", 1)); }},
        {"POOL-7", [](Model& m) { set_ints(m, "p", "pads", {0, 0, 0, 2}); }},
        {"POOL-8", [](Model& m) { node_of(m, "p").outputs.emplace_back("indices"); }},
        {"POOL-9", [](Model& m) { set_shape(m, "p", {1, 4, 4, 5}); }},
        {"GRAPH-R2",
         [](Model& m) { main_graph(m).nodes.push_back(make_node("Relu", {"x"}, {"unused"})); }},
    };
    return kBreakers;
}

void expect_kept(const Checked& checked) {
    for (const RuleResult& result : checked.results) {
        if (result.severity == Severity::Advisory) continue;
        EXPECT_NE(verdict_text(result.verdict), "not checked") << result.rule->id;
        for (const Finding& finding : result.findings)
            ADD_FAILURE() << result.rule->id << ": " << finding.message;
    }
    EXPECT_TRUE(conforms(checked.results));
}

TEST(Rules, ConformingModelKeepsEachOfThem) {
    const Checked plain = check_model(conforming_model());
    const Checked operators = check_model(operator_model());
    expect_kept(plain);
    expect_kept(operators);
    EXPECT_TRUE(plain.diag.items().empty());
    for (const Rule& rule : all_rules()) {
        const bool passed = plain.of(rule.id).verdict == Verdict::Pass ||
                            operators.of(rule.id).verdict == Verdict::Pass;
        EXPECT_TRUE(passed) << rule.id << " has no model that keeps it";
    }
}

TEST(Rules, EachOfThemCanBeBroken) {
    for (const Rule& rule : all_rules()) {
        const auto plain = breakers().find(rule.id);
        const auto with_operators = operator_breakers().find(rule.id);
        const bool is_plain = plain != breakers().end();
        ASSERT_TRUE(is_plain || with_operators != operator_breakers().end())
            << rule.id << " has no failing model";
        Model model = is_plain ? conforming_model() : operator_model();
        is_plain ? plain->second(model) : with_operators->second(model);
        const Checked checked = check_model(model);
        const RuleResult& result = checked.of(rule.id);
        EXPECT_EQ(verdict_text(result.verdict), "fail") << rule.id;
        EXPECT_FALSE(result.findings.empty()) << rule.id;
        if (rule.severity != Severity::Advisory) {
            EXPECT_FALSE(conforms(checked.results)) << rule.id;
        }
    }
}

TEST(Rules, BreakersAreThoseOfRules) {
    for (const auto& [id, change] : breakers()) EXPECT_TRUE(find_rule(id)) << id;
    for (const auto& [id, change] : operator_breakers()) {
        EXPECT_TRUE(find_rule(id)) << id;
        EXPECT_FALSE(breakers().contains(id)) << id;
    }
}

TEST(Rules, IdsAreUnique) {
    std::map<std::string_view, int> seen;
    for (const Rule& rule : all_rules()) EXPECT_EQ(seen[rule.id]++, 0) << rule.id;
}

// Breaks S013, and no other rule but advisories.
Model broadcasting_model() {
    Model model = conforming_model();
    node_of(model, "y").inputs = {"s", floats(model, "one", {1, 1})};
    return model;
}

// With UPDATE_DOCS=1 in the environment, the page is written instead.
TEST(Rules, DocumentationListsEachOfThem) {
    const std::string path = LEMMA_SOURCE_DIR "/docs/profile/sonnx-rules.md";
    if (std::getenv("UPDATE_DOCS")) {
        ASSERT_TRUE(tensor::write_file(path, catalogue_markdown()).has_value());
    }
    const auto text = diag::read_source(path);
    ASSERT_TRUE(text.has_value());
    EXPECT_TRUE(*text == catalogue_markdown())
        << "run `UPDATE_DOCS=1 sonnx_test --gtest_filter='Rules.Documentation*'`";
}

TEST(Clauses, AreAnsweredByARuleOrAReason) {
    std::set<std::tuple<std::string_view, std::string, std::string_view>> seen;
    for (const Clause& clause : all_clauses()) {
        const std::string name = fmt::format("{} {}", clause.op, clause_text(clause));
        EXPECT_TRUE(seen.emplace(clause.op, clause.id, clause.generation).second) << name;
        EXPECT_EQ(clause.rule.empty(), !clause.instead.empty()) << name;
        if (!clause.rule.empty()) {
            const Rule* rule = find_rule(clause.rule);
            ASSERT_TRUE(rule) << name;
            EXPECT_TRUE(rule->op.empty() || rule->op == clause.op) << name;
        }
        EXPECT_EQ(clause.id.find("{}"), std::string::npos) << name;
    }
}

// Rules about one operator come from its document, except for those of our own reading.
TEST(Clauses, OfEachOperatorAreThere) {
    for (const Rule& rule : all_rules()) {
        if (rule.op.empty() || rule.generation == kOwn || rule.generation == k2025) continue;
        EXPECT_FALSE(clauses_of(rule.id, rule.op).empty()) << rule.id;
    }
    for (const onnx::Operator& op : onnx::onnx_operators()) {
        if (op.name == "Asin" || op.name == "Atan" || !find_document(op.name)) continue;
        EXPECT_TRUE(std::ranges::any_of(all_clauses(), [&](const Clause& clause) {
            return clause.op == op.name;
        })) << op.name;
    }
}

TEST(Clauses, AreNamedWithTheFindingsOfTheirOperator) {
    const Checked checked = check_model(broadcasting_model());
    const auto& items = checked.diag.items();
    const auto item = std::ranges::find(items, "sonnx-S013", diag::shown_id);
    ASSERT_NE(item, items.end());
    const std::string& note = item->notes[0].message;
    EXPECT_NE(note.find("E_ADD_FLOAT_CONSTR_A_0010 (2026-08)"), std::string::npos) << note;
    EXPECT_EQ(note.find("E_SUB"), std::string::npos) << note;
}

// The parts of `a, b`.
std::vector<std::string> listed(std::string_view list) {
    std::vector<std::string> parts;
    while (!list.empty()) {
        const size_t end = std::min(list.find(", "), list.size());
        parts.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 2, list.size()));
    }
    return parts;
}

TEST(Rules, ClausesOfTheDocumentsAreTracedToThem) {
    const auto text = diag::read_source(LEMMA_SOURCE_DIR "/docs/assurance.md");
    ASSERT_TRUE(text.has_value());
    for (const Rule& rule : all_rules()) {
        for (const std::string& alias : listed(rule.aliases)) {
            const bool is_clause = alias.starts_with("conv ") || alias.starts_with("concat ") ||
                                   alias.starts_with("broadcast ");
            if (!is_clause) continue;
            const size_t row = text->find(fmt::format("\n| {} |", alias));
            ASSERT_NE(row, std::string::npos) << alias << " has no row";
            const std::string line = text->substr(row + 1, text->find('\n', row + 1) - row - 1);
            EXPECT_NE(line.find(std::string(rule.id)), std::string::npos) << line;
        }
    }
}

TEST(Rules, FindingsAreDiagnosticsWithTheirIds) {
    Model model = conforming_model();
    drop_attribute(node_of(model, "c1"), "strides");
    const Checked checked = check_model(model);
    ASSERT_EQ(checked.diag.items().size(), 1U);
    const diag::Diagnostic& item = checked.diag.items()[0];
    EXPECT_EQ(diag::shown_id(item), "sonnx-GR4");
    EXPECT_EQ(item.severity, diag::Severity::Error);
    EXPECT_EQ(item.message, "the attribute `strides` of `Conv` is left out; ONNX takes `[1, 1]`");
    ASSERT_EQ(item.notes.size(), 2U);
    EXPECT_EQ(item.notes[1].message, "`--fix=OUT.onnx` writes `[1, 1]`");
    EXPECT_TRUE(item.notes[0].message.starts_with("SONNX restriction: "));
}

TEST(Rules, AxisOfConcatIsToldOnce) {
    Model model = conforming_model();
    set_attribute(node_of(model, "j"), make_int("axis", -3));
    const Checked checked = check_model(model);
    ASSERT_EQ(checked.diag.items().size(), 1U);
    const diag::Diagnostic& item = checked.diag.items()[0];
    EXPECT_EQ(diag::shown_id(item), "sonnx-CAT-57");
    EXPECT_NE(item.notes[0].message.find("also: S015, concat R1"), std::string::npos);
}

TEST(Rules, AdvisoriesAreWarnings) {
    Model model = conforming_model();
    model.metadata.clear();
    const Checked checked = check_model(model);
    EXPECT_TRUE(conforms(checked.results));
    EXPECT_EQ(checked.diag.error_count(), 0U);
    EXPECT_EQ(checked.diag.warning_count(), 2U);
}

TEST(Rules, MetadataMeansSomething) {
    const auto told_with = [](std::string_view rule, const std::function<void(Model&)>& change) {
        Model model = conforming_model();
        change(model);
        const Checked checked = check_model(model);
        const auto& findings = checked.of(rule).findings;
        return findings.empty() ? "" : findings[0].message;
    };
    EXPECT_EQ(told_with("META-1", [](Model& m) { m.producer = "TBD"; }),
              "the producer is `TBD`, which only holds a place");
    EXPECT_EQ(told_with("META-1", [](Model& m) { value_of(m, "x").doc = "x"; }),
              "the meaning of the tensor only repeats its name");
    EXPECT_EQ(told_with("META-2", [](Model& m) { m.producer_version = "latest"; }),
              "the version of the producer is `latest`, expected a version such as `1.4.2`");
    EXPECT_EQ(told_with("META-3", [](Model& m) { m.metadata[2].value = "3.10.2026"; }),
              "the metadata `training_date` is `3.10.2026`, expected a date such as `2026-10-03`");
    EXPECT_EQ(told_with("META-4", [](Model& m) { m.metadata[3].value = "abc"; }),
              "the metadata `parameters_sha256` is `abc`, expected 64 hexadecimal digits");
    EXPECT_NE(told_with("META-4", [](Model& m) { m.metadata[3].value = std::string(64, '0'); })
                  .find("but that of the parameters is "),
              std::string::npos);
    EXPECT_EQ(told_with("META-5", [](Model& m) { m.metadata[1].value = "internal"; }),
              "the metadata `training_trace` is `internal`, which identifies no training run: "
              "expected an address, a version or a hash");
    // The parameters cannot be read, so nothing is decided about their hash.
    Model external = conforming_model();
    add_external(external);
    EXPECT_EQ(verdict_text(check_model(external).of("META-4").verdict), "not checked");
}

TEST(Rules, DeclaredTypesMustBeTheInferredOnes) {
    const Model model = conforming_model();
    const InferredTypes inferred = {{"c1", {.elem_type = 11, .shape = Extents{1, 4, 8, 7}}}};
    const Checked checked = check_model(model, inferred);
    ASSERT_EQ(checked.of("GR2").findings.size(), 1U);
    EXPECT_EQ(checked.of("GR2").findings[0].message,
              "the tensor `c1` is declared as FLOAT, but is DOUBLE");
    ASSERT_EQ(checked.of("S006").findings.size(), 1U);
    EXPECT_EQ(checked.of("S006").findings[0].message,
              "the tensor `c1` is declared as 1×4×8×8, but is 1×4×8×7");
}

// The first finding of the rule, or nothing.
std::string told(const Model& model, std::string_view rule) {
    const Checked checked = check_model(model);
    const auto& findings = checked.of(rule).findings;
    return findings.empty() ? "" : findings[0].message;
}

TEST(Rules, DeclarationsMustNotContradictEachOther) {
    const auto with = [](const std::string& name, const Extents& shape, int64_t type = 1) {
        Model model = conforming_model();
        main_graph(model).values.push_back(declaration(name, shape, type));
        return model;
    };
    EXPECT_EQ(told(with("c1", {1, 4, 8, 8}), "S006"), "");
    EXPECT_EQ(told(with("c1", {1, 4, 8, 7}), "S006"),
              "the tensor `c1` is declared as 1×4×8×7, but elsewhere as 1×4×8×8");
    EXPECT_EQ(told(with("x", {1, 3, 8, 7}), "S006"),
              "the tensor `x` is declared as 1×3×8×7, but elsewhere as 1×3×8×8");
    EXPECT_EQ(told(with("y", {1, 127}), "S006"),
              "the tensor `y` is declared as 1×127, but elsewhere as 1×128");
    EXPECT_EQ(told(with("b1", {3}), "S006"), "the tensor `b1` is declared as 3, but its data is 4");
    EXPECT_EQ(told(with("c1", {1, 4, 8, 8}, 6), "GR2"),
              "the tensor `c1` is declared as INT32, but elsewhere as FLOAT");
    EXPECT_EQ(told(with("b1", {4}, 6), "GR2"),
              "the tensor `b1` is declared as INT32, but its data is FLOAT");
}

TEST(Rules, TensorsInAttributesHaveNoExternalData) {
    Model model = conforming_model();
    onnx::Attribute value;
    value.name = "value";
    value.type = onnx::AttributeType::Tensor;
    value.tensors.push_back(main_graph(model).initializers[0]);
    value.tensors[0].proto.external.emplace().location = "weights.bin";
    onnx::Node node = make_node("Constant", {}, {"k"});
    node.attributes = {value};
    main_graph(model).nodes.insert(main_graph(model).nodes.begin(), node);
    EXPECT_EQ(told(model, "S008"),
              "the elements are in `weights.bin`, which the hash of the model does not cover");
}

TEST(Rules, StatisticsOfTheBatchAreTraining) {
    Model model = conforming_model();
    onnx::Node node = make_node("BatchNormalization", {"c1", "b1", "b1", "b1", "b1"}, {"n"});
    main_graph(model).nodes.push_back(node);
    EXPECT_EQ(told(model, "S018"), "");
    model.opsets[0].version = 9;
    EXPECT_EQ(told(model, "S018"), "");
    main_graph(model).nodes.back().outputs = {"n", "mean", "var", "saved_mean", "saved_var"};
    EXPECT_EQ(told(model, "S018"), "`BatchNormalization` is in training mode");
    main_graph(model).nodes.back().outputs = {"n"};
    model.opsets[0].version = 6;
    EXPECT_EQ(told(model, "S018"), "`BatchNormalization` is in training mode");
    set_attribute(main_graph(model).nodes.back(), make_int("is_test", 1));
    EXPECT_EQ(told(model, "S018"), "");
}

TEST(Rules, ModelsThatSayHowToTrainThemAreRefused) {
    Model model = conforming_model();
    tensor::WireWriter rest;
    rest.put_bytes(20, "");
    model.rest = rest.take();
    EXPECT_EQ(told(model, "S018"), "the model says how to train it");
}

TEST(Rules, VersionsOfTheFormatAreKnownOnes) {
    Model model = conforming_model();
    model.ir_version = onnx::kNewestIrVersion;
    EXPECT_EQ(told(model, "S001"), "");
    for (const int64_t version : {99, 0, -1}) {
        model.ir_version = version;
        EXPECT_EQ(told(model, "S001"),
                  fmt::format("the version of the format is {}, expected 1 to 13", version));
    }
}

TEST(Rules, AttributesReferToOthersInsideOfFunctionsOnly) {
    Model model = conforming_model();
    onnx::Attribute attribute;
    attribute.name = "axis";
    attribute.type = onnx::AttributeType::Int;
    attribute.reference = "G";
    set_attribute(node_of(model, "s"), attribute);
    EXPECT_EQ(told(model, "S021"),
              "the attribute `axis` refers to `G`, an attribute of a function, and stands in none");
}

TEST(Rules, NamesOfNodesAreUnique) {
    Model model = conforming_model();
    node_of(model, "c1").name = "first";
    EXPECT_EQ(told(model, "S001"), "");
    node_of(model, "c2").name = "first";
    EXPECT_EQ(told(model, "S001"), "another node has the name `first`");
}

TEST(Rules, ConstantIndicesLieInsideOfTheAxis) {
    Model model = conforming_model();
    const auto gather = [&](int64_t index, const char* op, const Extents& shape) {
        Model changed = model;
        main_graph(changed).initializers.push_back(onnx::add_tensor(
            {"index", *tensor::Tensor::zeros(tensor::DType::I64, shape)}, changed));
        auto tensor = *tensor::Tensor::zeros(tensor::DType::I64, shape);
        tensor.set_integer(0, index);
        main_graph(changed).initializers.back() = onnx::add_tensor({"index", tensor}, changed);
        onnx::Node node = make_node(op, {"b1", "index", "b1"}, {"g"});
        if (std::string_view(op) == "Gather") node.inputs.pop_back();
        main_graph(changed).nodes.push_back(node);
        return told(changed, "S001");
    };
    for (const int64_t index : {-4, 0, 3}) {
        EXPECT_EQ(gather(index, "Gather", {1}), "");
        EXPECT_EQ(gather(index, "ScatterND", {1, 1}), "");
    }
    for (const int64_t index : {-5, 4}) {
        EXPECT_EQ(gather(index, "Gather", {1}),
                  fmt::format("the index {} lies outside of the axis, which has extent 4", index));
        EXPECT_EQ(gather(index, "ScatterND", {1, 1}),
                  fmt::format("the index {} lies outside of axis 0, which has extent 4", index));
    }
}

TEST(Rules, TheLimitOnInputsOfConcatIsAParameter) {
    Model model = conforming_model();
    node_of(model, "j").inputs.assign(257, "p");
    EXPECT_EQ(told(model, "CAT-59"), "");
    const Diagnostics base;
    const Subject subject{.model = model, .base = base, .max_concat_inputs = 256};
    const auto results = check(subject);
    const auto found = std::ranges::find_if(
        results, [](const RuleResult& result) { return result.rule->id == "CAT-59"; });
    ASSERT_EQ(found->findings.size(), 1U);
    EXPECT_EQ(found->findings[0].message, "it has 257 inputs, expected 1 to 256");
}

TEST(Rules, ConcatTakesBfloat16) {
    constexpr int64_t kBfloat16 = 16;
    Model model = conforming_model();
    main_graph(model).inputs.push_back(declaration("h", {2}, kBfloat16));
    main_graph(model).outputs.push_back(declaration("hh", {4}, kBfloat16));
    onnx::Node node = make_node("Concat", {"h", "h"}, {"hh"});
    node.attributes = {make_int("axis", 0)};
    main_graph(model).nodes.push_back(node);
    EXPECT_EQ(told(model, "S009"), "");
    main_graph(model).nodes.push_back(make_node("Relu", {"hh"}, {"r2"}));
    EXPECT_EQ(told(model, "S009"),
              "`hh` has elements of type BFLOAT16, which is not in the profile");
}

TEST(Rules, UnknownShapesLeaveRulesUndecided) {
    Model model = conforming_model();
    value_of(model, "c1").shape.reset();
    const Checked checked = check_model(model);
    EXPECT_EQ(verdict_text(checked.of("CONV-8").verdict), "not checked");
    EXPECT_EQ(verdict_text(checked.of("S006").verdict), "fail");
}

TEST(Rules, TypesAreConvertedByCastOnly) {
    Model model = operator_model();
    floats(model, "exponent", {2, 3});
    EXPECT_EQ(told(model, "GR3"),
              "the input `exponent` has elements of type FLOAT, expected INT64 or a `Cast`");
    model = operator_model();
    constant(model, "mean", numbers(tensor::DType::F64, {2}, {0, 0}));
    EXPECT_EQ(told(model, "GR3"),
              "the input `mean` has elements of type DOUBLE, expected FLOAT or a `Cast`");
}

TEST(Rules, OptionalInputsAreGiven) {
    const auto without = [](const char* node, size_t input) {
        Model model = operator_model();
        node_of(model, node).inputs[input] = "";
        return told(model, "GR4");
    };
    EXPECT_EQ(without("Clip", 2), "the input `max` of `Clip` is left out");
    EXPECT_EQ(without("Gemm", 2), "the input `C` of `Gemm` is left out");
    EXPECT_EQ(without("Slice", 4), "the input `steps` of `Slice` is left out");
    EXPECT_EQ(without("LSTM", 7), "the input `P` of `LSTM` is left out");
    EXPECT_EQ(without("c1", 2), "the input `B` of `Conv` is left out");
}

TEST(Rules, AxesCountFromTheBackWhereTheDocumentAllowsIt) {
    Model model = operator_model();
    set_attribute(node_of(model, "Flatten"), make_int("axis", -3));
    ints(model, "new_axis", {1}, {-3});
    EXPECT_EQ(told(model, "S015"), "");
    set_attribute(node_of(model, "ArgMax"), make_int("axis", -1));
    EXPECT_EQ(told(model, "S015"), "axis -1 counts from the back, expected 0 or more");
}

// Integers are checked where they are constants; a run decides the others.
TEST(Rules, DivisorsAreCheckedIfTheyAreConstants) {
    Model model = operator_model();
    node_of(model, "Div").inputs[1] = "n";
    EXPECT_EQ(told(model, "DIV-1"), "");
    node_of(model, "Div").inputs = {"a", "b"};
    EXPECT_EQ(told(model, "DIV-1"), "");
}

TEST(Rules, PadsOfMaxPoolAreBelowTheDilatedKernel) {
    const auto told_for = [](std::vector<int64_t> pads, std::vector<int64_t> dilations) {
        Model model = conforming_model();
        set_ints(model, "p", "pads", std::move(pads));
        set_ints(model, "p", "dilations", std::move(dilations));
        return told(model, "POOL-7");
    };
    EXPECT_EQ(told_for({1, 1, 1, 1}, {1, 1}), "");
    EXPECT_EQ(told_for({2, 0, 0, 0}, {2, 1}), "");  // the kernel reaches over 3
    EXPECT_EQ(told_for({0, 0, 0, 3}, {1, 4}),
              "a pad on spatial axis 1 is 3, expected at most 2 (the kernel has 2, 5 with "
              "dilation)");
}

TEST(Rules, ScalarsHaveNoAxes) {
    Model model = operator_model();
    set_shape(model, "a", {});
    EXPECT_EQ(told(model, "SLICE-3"), "a scalar has nothing to slice");
    EXPECT_EQ(told(model, "AXIS-1"), "the axis is 1, expected 0 to -1");
}

TEST(Rules, NodesContributeThroughOthers) {
    Model model = conforming_model();
    main_graph(model).nodes.push_back(make_node("Relu", {"x"}, {"u"}));
    main_graph(model).nodes.push_back(make_node("Relu", {"u"}, {"v"}));
    const Checked checked = check_model(model);
    EXPECT_EQ(checked.of("GRAPH-R2").findings.size(), 2U);
}

TEST(Rules, OperatorsWithoutDocumentAreToldOnce) {
    Model model = operator_model();
    node_of(model, "Exp").op = "Erf";
    node_of(model, "Log").op = "Erf";
    const Checked checked = check_model(model);
    ASSERT_EQ(checked.of("S028").findings.size(), 1U);
    EXPECT_EQ(checked.of("S028").findings[0].message,
              "`Erf` has no document yet; its definition in ONNX applies (2 nodes)");
    EXPECT_TRUE(conforms(checked.results));
}

TEST(Rules, BroadcastingCanBeRelaxed) {
    const Model model = broadcasting_model();
    const Diagnostics base;
    const Subject subject{.model = model, .base = base, .relax_broadcast = true};
    const auto results = check(subject);
    EXPECT_TRUE(conforms(results));
}

}  // namespace

}  // namespace lemma::sonnx

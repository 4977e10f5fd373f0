// SPDX-License-Identifier: Apache-2.0
// Tests of the report: its tables, its links, and names that try to become markup.
#include "sonnx/report/report.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "onnx/write.h"
#include "sonnx/check.h"
#include "sonnx/report/summary.h"
#include "sonnx/report/trace.h"
#include "sonnx/test_models.h"

namespace lemma::sonnx {

namespace {

using namespace test;

// A report with what it refers to.
struct Reported {
    onnx::Model model;
    Diagnostics base;
    Subject subject;
    Report report;

    explicit Reported(onnx::Model given)
        : model(std::move(given)), subject{.model = model, .base = base} {
        report.file = "m.onnx";
        report.hash = std::string(64, 'a');
        report.tool.name = "lemma";
        report.subject = &subject;
        report.results = check(subject);
        report.contents = contents_of(subject);
    }
};

// Its parts are read from bytes, so that each has a place of its own.
onnx::Model placed(const onnx::Model& model) { return read(onnx::write_model(model)); }

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> matches(const std::string& text, const char* pattern) {
    const std::regex expression(pattern);
    std::vector<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it)
        found.push_back((*it)[1]);
    return found;
}

// Proofs and tests, to have every part of the report.
void add_evidence(Report& report) {
    report.proofs = Proofs{.file = {"p.json", "1"}, .functions = {}};
    const std::string place = place_text(report, report.contents.nodes[0].node->place);
    report.proofs->functions = {{.name = "n0_conv", .place = place, .goals = 3, .proved = 2},
                                {.name = "model_run", .goals = 1, .proved = 1}};
    report.proofs->functions[0].unproved = {"n0_conv_ensures"};
    report.certificate = RangeCertificate{.file = {"c.json", "3"}, .accumulate = "f32"};
    report.certificate->inputs = {{.name = "x", .low = -1, .high = 1, .error = 0}};
    report.certificate->hypotheses = {"round to nearest"};
    report.tests = Tests{.file = {"t.json", "2"}, .cases = {{.name = "a", .passed = true}}};
    report.fixed_file = "f.onnx";
    report.changes = {{"GR4", report.contents.nodes[1].node->place, "changed"}};
}

TEST(Report, EveryLinkLeadsToOneAnchor) {
    Reported implicit(placed(implicit_model()));
    add_evidence(implicit.report);
    const std::string html = report_html(implicit.report);
    const std::vector<std::string> anchors = matches(html, " id=\"([^\"]*)\"");
    const std::set<std::string> unique(anchors.begin(), anchors.end());
    EXPECT_EQ(unique.size(), anchors.size());
    const std::vector<std::string> links = matches(html, "href=\"#([^\"]*)\"");
    EXPECT_GT(links.size(), 30U);
    for (const std::string& link : links) EXPECT_TRUE(unique.contains(link)) << link;
}

TEST(Report, FindingsLinkToTheirRulesAndPlaces) {
    Reported implicit(placed(implicit_model()));
    const std::string html = report_html(implicit.report);
    for (const RuleResult& result : implicit.report.results) {
        if (result.findings.empty()) continue;
        const std::string id(result.rule->id);
        EXPECT_TRUE(contains(html, "<a href=\"#rule-" + id + "\">" + id + "</a>")) << id;
        EXPECT_TRUE(contains(html, "<a href=\"#findings-" + id + "\">")) << id;
    }
    EXPECT_TRUE(contains(html, "<a href=\"#node-0\">graph/node[0]:Conv"));
}

TEST(Report, NamesOfTheModelNeverBecomeMarkup) {
    const std::string hostile =
        "</td><script>alert('1')</script>\"><img src=x onerror=alert(1)>`|\n=";
    onnx::Model model = implicit_model();
    model.producer = hostile;
    model.metadata = {{hostile, hostile}};
    onnx::Graph& graph = main_graph(model);
    graph.name = hostile;
    graph.inputs[0].doc = hostile;
    for (onnx::Node& node : graph.nodes) {
        node.name = hostile + node.outputs[0];
        for (std::string& name : node.inputs) name = name == "x" ? hostile : name;
    }
    graph.inputs[0].name = hostile;
    Reported reported(placed(model));
    add_evidence(reported.report);
    reported.report.file = hostile;
    reported.report.proofs->functions[1].name = hostile;
    reported.report.tests->cases[0].name = hostile;
    reported.report.tool.command = {"check", hostile};

    const std::string html = report_html(reported.report);
    const std::set<std::string> allowed = {
        "html",  "head", "meta", "title", "style", "body", "main",  "h1",      "h2",
        "h3",    "p",    "a",    "code",  "span",  "div",  "table", "caption", "thead",
        "tbody", "tr",   "th",   "td",    "ul",    "ol",   "li"};
    for (const std::string& tag : matches(html, "<([^ >]*)")) {
        const std::string name = tag.starts_with("/") ? tag.substr(1) : tag;
        EXPECT_TRUE(allowed.contains(name) || name == "!DOCTYPE") << name;
    }
    EXPECT_FALSE(contains(html, "onerror=alert(1)>"));
    const std::string markdown = report_markdown(reported.report);
    for (size_t at = 0; (at = markdown.find('<', at)) != std::string::npos; ++at)
        EXPECT_EQ(markdown[at - 1], '\\') << markdown.substr(at, 40);
}

TEST(Report, SaysWhatToDo) {
    Reported implicit(placed(implicit_model()));
    std::string text = report_markdown(implicit.report);
    EXPECT_TRUE(contains(text, "**The model `m.onnx` does not conform to the profile.**"));
    EXPECT_TRUE(contains(text, "with `--fix=OUT.onnx`"));
    EXPECT_TRUE(contains(text, "Do not sign: the model has to conform first."));
    Reported good(placed(conforming_model()));
    text = report_markdown(good.report);
    EXPECT_TRUE(contains(text, "**The model `m.onnx` conforms to the profile.**"));
    EXPECT_TRUE(contains(text, "then sign under Review."));
    EXPECT_FALSE(contains(text, "Repair"));
}

TEST(Report, CountsEachRuleOnce) {
    Reported implicit(placed(implicit_model()));
    int64_t rules = 0, findings = 0;
    for (const SeverityCount& each : severity_counts(implicit.report)) {
        EXPECT_EQ(each.rules, each.passed + each.failed + each.not_applicable + each.not_checked);
        rules += each.rules;
        findings += each.findings;
    }
    EXPECT_EQ(rules, static_cast<int64_t>(all_rules().size()));
    int64_t expected = 0;
    for (const RuleResult& each : implicit.report.results)
        expected += static_cast<int64_t>(each.findings.size());
    EXPECT_EQ(findings, expected);
}

TEST(Report, ListsOperatorsAndTensors) {
    const Reported good(placed(conforming_model()));
    const Contents& contents = good.report.contents;
    ASSERT_FALSE(contents.operators.empty());
    EXPECT_EQ(contents.operators[2].op, "Conv");
    EXPECT_EQ(contents.operators[2].nodes, 2);
    EXPECT_EQ(contents.operators[2].version, 11);
    EXPECT_EQ(contents.tensors[0].name, "x");
    EXPECT_EQ(contents.tensors[0].shape, "1×3×8×8");
    EXPECT_EQ(contents.tensors[0].meaning, "an image");
    EXPECT_EQ(part_text(contents.tensors[1].part), "output");
    EXPECT_EQ(contents.tensors.size(), 2U + 6U + 5U);
    EXPECT_EQ(contents.nodes.size(), 7U);
}

TEST(Report, QuotesWordsOfTheCommandLine) {
    EXPECT_EQ(command_text({"check", "--report=a.md", "my model.onnx", "it's", ""}),
              "lemma check --report=a.md 'my model.onnx' 'it'\\''s' ''");
}

TEST(Trace, NamesRuleNodeFunctionAndGoals) {
    Reported good(placed(conforming_model()));
    add_evidence(good.report);
    std::set<std::string_view> rules;
    bool found = false;
    for (const TraceRow& row : trace_rows(good.report)) {
        if (row.result) rules.insert(row.result->rule->id);
        EXPECT_FALSE(row.clause.empty());
        EXPECT_NE(row.clause, "R1");  // many documents have one
        EXPECT_FALSE(row.statement.empty());
        if (!row.function || !row.result) continue;
        found = true;
        EXPECT_EQ(row.function->name, "n0_conv");
        EXPECT_EQ(row.node->index, 0U);
        EXPECT_EQ(row.node->node->op, "Conv");
    }
    EXPECT_TRUE(found);
    EXPECT_EQ(rules.size(), all_rules().size());  // every rule is traced
    const std::string json = trace_json(good.report);
    EXPECT_TRUE(contains(json, "\"function\": \"n0_conv\""));
    EXPECT_TRUE(contains(json, "\"model_tests\": \"1 of 1 cases pass\""));
    const std::string csv = trace_csv(good.report);
    EXPECT_TRUE(contains(csv, ",n0_conv,3,2,1 of 1 cases pass,"));
    EXPECT_TRUE(
        contains(csv,
                 "\"Conv, function\",,the node computes what its operator means,the contract "
                 "of its C function,,not proved,"));
    EXPECT_TRUE(contains(csv, ",proved,,,model_run,1,1,"));
}

TEST(Trace, VerdictsAreAboutTheNode) {
    onnx::Model model = conforming_model();
    set_attribute(node_of(model, "c2"), make_int("group", 2));
    const Reported reported(placed(model));
    int passed = 0, failed = 0;
    for (const TraceRow& row : trace_rows(reported.report)) {
        if (!row.result || row.result->rule->id != "CONV-17" || !row.node) continue;
        passed += row.node->index == 0 && row.verdict == "pass" && row.findings == 0;
        failed += row.node->index == 1 && row.verdict == "fail" && row.findings == 1;
    }
    EXPECT_GT(passed, 0);
    EXPECT_EQ(passed, failed);
}

TEST(Trace, CellsAreQuotedAndNeverFormulas) {
    Reported good(placed(conforming_model()));
    add_evidence(good.report);
    good.report.proofs->functions[0].name = "=cmd|\"a\",b";
    const std::string csv = trace_csv(good.report);
    EXPECT_TRUE(contains(csv, "\"'=cmd|\"\"a\"\",b\""));
    // Every line has the cells of the header.
    size_t begin = 0;
    int lines = 0;
    while (begin < csv.size()) {
        const size_t end = csv.find('\n', begin);
        ASSERT_NE(end, std::string::npos);
        bool quoted = false;
        int commas = 0;
        for (const char c : csv.substr(begin, end - begin)) {
            if (c == '"') quoted = !quoted;
            commas += c == ',' && !quoted;
        }
        EXPECT_EQ(commas, 12) << csv.substr(begin, end - begin);
        begin = end + 1;
        ++lines;
    }
    EXPECT_GT(lines, 50);
}

TEST(Evidence, ReadsProofs) {
    const auto proofs =
        read_proofs({"p.json", "h"},
                    R"({"model": {"sha256": "ab"}, "tools": ["Frama-C 25"], "functions":
            [{"name": "n0_conv", "place": "graph/node[0]:Conv", "goals": 3, "proved": 2,
              "unproved": ["g"]}, {"name": "run", "goals": 1, "proved": 1}]})");
    ASSERT_TRUE(proofs.has_value());
    EXPECT_EQ(proofs->model_hash, "ab");
    EXPECT_EQ(proofs->goals(), 4);
    EXPECT_EQ(proofs->proved(), 3);
    EXPECT_EQ(proofs->functions[0].unproved, std::vector<std::string>{"g"});
}

// A certificate of one node.
std::string certificate_with(const std::string& dispositions) {
    return R"({"sha256": "ab", "accumulate": "f64", "established": false, "inputs":
        [{"name": "x", "computed": [-1, 1], "error": 0}], "outputs":
        [{"name": "y", "computed": [null, 2.00001], "error": null}], "hypotheses": ["h"],
        "operations": [{"op": "onnx.Sqrt", "outputs": ["c1"], "introduced": 1e-7,
        "propagated": null, "dispositions": )" +
           dispositions + "}]}";
}

TEST(Evidence, ReadsCertificates) {
    const auto read = read_certificate({"c.json", "h"}, certificate_with("{}"));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->model_hash, "ab");
    EXPECT_FALSE(read->established);
    EXPECT_EQ(bound_below(read->outputs[0].low), "none");
    EXPECT_EQ(bound_above(read->outputs[0].high), "2.001");  // rounded upwards
    EXPECT_EQ(bound_below(-2.00001), "-2.001");
    EXPECT_EQ(bound_below(0.5), "0.5");
    for (const double x : {9.9996, 0.99999, 1e-300, 5e-324, 1.7e308, 123456.0, 1.0000001}) {
        EXPECT_GE(std::strtod(bound_above(x).c_str(), nullptr), x);
        EXPECT_LE(std::strtod(bound_below(x).c_str(), nullptr), x);
        EXPECT_LE(std::strtod(bound_below(-x).c_str(), nullptr), -x);
        EXPECT_LE(bound_above(x).size(), 11U);
    }
    EXPECT_FALSE(read_certificate({"c.json", ""}, "{}").has_value());
    EXPECT_FALSE(
        read_certificate({"c.json", ""}, R"({"operations": [], "inputs": [1]})").has_value());
}

TEST(Evidence, CertificatesSettleDispositions) {
    const auto disposed = [](const char* op, const std::string& dispositions) {
        onnx::Model model = conforming_model();
        node_of(model, "c1").op = op;
        Reported reported(placed(model));
        const auto certificate = read_certificate({"c.json", ""}, certificate_with(dispositions));
        apply_certificate(*certificate, reported.report.contents);
        return reported.report.contents.nodes[0].dispositions;
    };
    const std::string proved =
        R"({"nan": {"verdict": "proved absent"}, "domain": {"verdict": "proved absent"}})";
    EXPECT_EQ(disposed("Sqrt", proved)[1].disposal, Disposal::RuledOut);
    // The worst of two counts, and what no operator can do stays as it is.
    const std::string open =
        R"({"nan": {"verdict": "proved absent"}, "domain": {"verdict": "not established",
            "reason": "x from -1"}})";
    EXPECT_EQ(disposed("Sqrt", open)[1].disposal, Disposal::NotEstablished);
    EXPECT_NE(disposed("Sqrt", open)[1].by.find("does not exclude it: x from -1"),
              std::string::npos);
    EXPECT_EQ(disposed("Sqrt", open)[2].disposal, Disposal::CannotOccur);
    const std::string occurs = R"({"overflow": {"verdict": "occurs", "reason": "at x = 1"}})";
    EXPECT_EQ(disposed("Conv", occurs)[0].disposal, Disposal::Possible);
    EXPECT_EQ(disposed("Conv", occurs)[1].disposal, Disposal::Nominal);
    EXPECT_EQ(disposed("Conv", R"({"overflow": {"verdict": "proved absent"}})")[0].disposal,
              Disposal::RuledOut);
    // A word that this version does not know excludes nothing.
    EXPECT_EQ(disposed("Sqrt", R"({"nan": {"verdict": "fine"}})")[1].disposal,
              Disposal::NotEstablished);
}

TEST(Evidence, RefusesOtherFiles) {
    const auto error = [](std::string_view text) {
        const auto proofs = read_proofs({"p.json", ""}, text);
        return proofs ? "" : proofs.error().message;
    };
    EXPECT_EQ(error("{"), "`p.json`: it is no JSON document");
    EXPECT_EQ(error("[]"), "`p.json`: it has no list `functions`");
    EXPECT_EQ(error(R"({"functions": [1]})"), "`p.json`: an item of `functions` is no object");
    EXPECT_EQ(error(R"({"functions": [{"goals": 1}]})"), "`p.json`: a function has no `name`");
    EXPECT_EQ(error(R"({"functions": [{"name": "f", "goals": -1, "proved": 0}]})"),
              "`p.json`: `goals` of a function is not a number of goals");
    EXPECT_EQ(error(R"({"functions": [{"name": "f", "goals": 1, "proved": 2}]})"),
              "`p.json`: `f` has more proved goals than goals");
    EXPECT_FALSE(read_tests({"t.json", ""}, R"({"cases": [{"case": "a"}]})").has_value());
    const auto tests = read_tests(
        {"t.json", ""}, R"({"cases": [{"case": "a", "passed": false, "failures": ["y"]}]})");
    ASSERT_TRUE(tests.has_value());
    EXPECT_EQ(tests->passed(), 0);
    EXPECT_EQ(tests->cases[0].failure, "y");
}

}  // namespace

}  // namespace lemma::sonnx

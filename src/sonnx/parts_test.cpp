// The parts that rules stand on: hashes, windows, broadcasting; and the explicit form.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "diag/source.h"
#include "onnx/validate.h"
#include "onnx/write.h"
#include "sonnx/broadcast.h"
#include "sonnx/check.h"
#include "sonnx/fix.h"
#include "sonnx/report.h"
#include "sonnx/sha256.h"
#include "sonnx/test_models.h"
#include "sonnx/window.h"

namespace lemma::sonnx {

namespace {

using namespace test;

TEST(Sha256, KnownAnswers) {
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Window, SizesFollowTheNotes) {
    // X=3, k=2, s=1, d=1 gives 2; the draft's formula gives 3 (note 8).
    EXPECT_EQ(output_extent({.input = 3, .kernel = 2}), 2);
    EXPECT_EQ(output_extent({.input = 7, .kernel = 3, .stride = 2, .dilation = 2}), 2);
    // The kernel exceeds the input: no size, where truncation would give 1 (note 11).
    EXPECT_EQ(output_extent({.input = 1, .kernel = 2, .stride = 2}), std::nullopt);
    EXPECT_EQ(output_extent({.input = 1, .kernel = 2, .stride = 2, .pad_end = 1}), 1);
    EXPECT_EQ(output_extent({.input = 5, .kernel = 2, .stride = 2}, true), 3);
    EXPECT_EQ(output_extent({.input = 1, .kernel = INT64_MAX, .dilation = 2}), std::nullopt);
}

TEST(Window, AutoPadTreatsEachAxisOnItsOwn) {
    // total = (4-1)*2 + 3 - 7 = 2, and (4-1)*2 + 2 - 7 = 1.
    WindowAxis even{.input = 7, .kernel = 3, .stride = 2};
    ASSERT_TRUE(resolve_auto_pad("SAME_UPPER", even));
    EXPECT_EQ(even.pad_begin, 1);
    EXPECT_EQ(even.pad_end, 1);
    WindowAxis odd{.input = 7, .kernel = 2, .stride = 2};
    ASSERT_TRUE(resolve_auto_pad("SAME_UPPER", odd));
    EXPECT_EQ(odd.pad_begin, 0);
    EXPECT_EQ(odd.pad_end, 1);
    ASSERT_TRUE(resolve_auto_pad("SAME_LOWER", odd));
    EXPECT_EQ(odd.pad_begin, 1);
    EXPECT_EQ(odd.pad_end, 0);
    EXPECT_FALSE(resolve_auto_pad("same", odd));
}

TEST(Window, FindsWindowsOfPaddingOnly) {
    // pad = kernel satisfies the draft's R4 and still leaves the first window empty.
    EXPECT_FALSE(every_window_hits({.input = 4, .kernel = 2, .pad_begin = 2}, 5));
    EXPECT_TRUE(every_window_hits({.input = 4, .kernel = 2, .pad_begin = 1}, 4));
    // Dilation 2 over one element: taps at -1 and 1.
    EXPECT_FALSE(every_window_hits({.input = 1, .kernel = 2, .dilation = 2, .pad_begin = 1}, 1));
}

TEST(Broadcast, CommonShapes) {
    EXPECT_EQ(common_shape({{2, 1, 4, 5}, {3, 1, 5}}), (Extents{2, 3, 4, 5}));
    EXPECT_EQ(common_shape({{}, {3}}), Extents{3});
    EXPECT_EQ(common_shape({{0}, {1}}), Extents{0});  // note 66: not the maximum
    EXPECT_EQ(common_shape({{2}, {3}}), std::nullopt);
    EXPECT_EQ(common_shape({{2}, {1}, {3}}), std::nullopt);
}

TEST(Defaults, FollowTheOperatorSet) {
    const auto missing = [](const std::string& op, int64_t opset) {
        onnx::Model model = conforming_model();
        model.opsets = {{"", opset}};
        const Diagnostics base;
        const Subject subject{.model = model, .base = base};
        std::string text;
        for (const MissingAttribute& each :
             missing_attributes(make_node(op, {"r", "s"}, {"y"}), View(subject)))
            text += fmt::format("{}={} ", each.name, value_text(*each.value));
        return text;
    };
    EXPECT_EQ(missing("Add", 6), "broadcast=0 ");
    EXPECT_EQ(missing("Add", 7), "");
    EXPECT_EQ(missing("Clip", 10), "max=3.4028235e+38 min=-3.4028235e+38 ");
    EXPECT_EQ(missing("Clip", 11), "");
    EXPECT_EQ(missing("Softmax", 12), "axis=1 ");
    EXPECT_EQ(missing("Softmax", 13), "axis=-1 ");
    EXPECT_EQ(missing("BatchNormalization", 8), "epsilon=1e-05 momentum=0.9 spatial=1 ");
    EXPECT_EQ(missing("BatchNormalization", 14), "epsilon=1e-05 momentum=0.9 training_mode=0 ");
}

TEST(Write, ModelsComeBackAsTheyWere) {
    const onnx::Model model = conforming_model();
    const std::string bytes = onnx::write_model(model);
    const onnx::Model again = read(bytes);
    EXPECT_EQ(onnx::write_model(again), bytes);
    EXPECT_EQ(again.metadata.size(), 2U);
    EXPECT_EQ(again.version, 1);
    EXPECT_EQ(again.graphs[again.main].inputs[0].doc, "an image");
    EXPECT_EQ(again.graphs[again.main].nodes.size(), 7U);
    EXPECT_EQ(again.graphs[again.main].values.size(), 6U);
}

TEST(Write, KeepsFieldsThatNobodyKnows) {
    onnx::Model model = conforming_model();
    tensor::WireWriter unknown;
    unknown.put_int(999, 7);
    unknown.put_double(998, 0.5);
    unknown.put_bytes(997, "kept");
    model.rest = main_graph(model).rest = node_of(model, "c1").rest = unknown.bytes();
    value_of(model, "x").rest = unknown.bytes();
    onnx::Model again = read(onnx::write_model(model));
    EXPECT_EQ(again.rest, unknown.bytes());
    EXPECT_EQ(main_graph(again).rest, unknown.bytes());
    EXPECT_EQ(node_of(again, "c1").rest, unknown.bytes());
    EXPECT_EQ(value_of(again, "x").rest, unknown.bytes());
}

TEST(Fix, WritesTheExplicitForm) {
    const onnx::Model model = implicit_model();
    // What composing finds out.
    InferredTypes inferred;
    for (const std::string name : {"a", "b", "c", "d", "e", "g"})
        inferred[name] = {.elem_type = 1, .shape = Extents{1, 4, 4, 4}};
    inferred["f"] = {.elem_type = 1, .shape = Extents{1, 4, 4, 1}};
    const Diagnostics base;
    const Subject subject{.model = model, .base = base, .inferred = inferred};
    EXPECT_FALSE(conforms(check(subject)));

    const Fixed fixed = make_explicit(subject);
    onnx::Model again = read(onnx::write_model(fixed.model));
    diag::SourceMap sources;
    Diagnostics fixed_base;
    onnx::validate(again, sources.add_paths("fixed.onnx", again.paths), fixed_base);
    EXPECT_FALSE(fixed_base.has_errors());
    const auto results = check({.model = again, .base = fixed_base});
    EXPECT_TRUE(conforms(results));
    for (const RuleResult& result : results) {
        if (result.severity == Severity::Advisory) continue;
        for (const Finding& finding : result.findings)
            ADD_FAILURE() << result.rule->id << ": " << finding.message;
    }
    EXPECT_EQ(onnx::find_attribute(node_of(again, "a"), "pads")->ints,
              (std::vector<int64_t>{1, 0, 1, 1}));
    EXPECT_EQ(onnx::find_attribute(node_of(again, "b"), "pads")->ints,
              (std::vector<int64_t>{1, 0, 0, 0}));
    EXPECT_EQ(onnx::find_attribute(node_of(again, "y"), "axis")->ints[0], 1);
    EXPECT_EQ(node_of(again, "c").inputs[1], "scale_expanded");
    EXPECT_FALSE(fixed.changes.empty());
}

TEST(Fix, LeavesConformingModelsAlone) {
    const onnx::Model model = conforming_model();
    const Diagnostics base;
    const Fixed fixed = make_explicit({.model = model, .base = base});
    EXPECT_TRUE(fixed.changes.empty());
    EXPECT_EQ(onnx::write_model(fixed.model), onnx::write_model(model));
}

TEST(Report, EscapesNamesOfTheModel) {
    onnx::Model model = conforming_model();
    model.producer = "<script>alert(1)</script>|`x";
    const Diagnostics base;
    Report report{.file = "m.onnx", .tool = "lemma", .hash = "0", .model = &model};
    report.results = check({.model = model, .base = base});
    EXPECT_EQ(conclusion(report), "conforms");
    EXPECT_EQ(report_html(report).find("<script>"), std::string::npos);
    EXPECT_EQ(report_markdown(report).find(" <script>"), std::string::npos);
    EXPECT_NE(report_markdown(report).find("| GR4 |"), std::string::npos);
    EXPECT_NE(report_json(report).find("\"conclusion\": \"conforms\""), std::string::npos);
}

}  // namespace

}  // namespace lemma::sonnx

// Tests of the parts that rules use: hashes, windows, broadcasting; and of the explicit form.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "diag/source.h"
#include "onnx/validate.h"
#include "onnx/write.h"
#include "sonnx/broadcast.h"
#include "sonnx/check.h"
#include "sonnx/fix.h"
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

// "axis=1 mode=constant " for a node without attributes.
std::string missing_text(const std::string& op, int64_t opset) {
    onnx::Model model = conforming_model();
    model.opsets = {{"", opset}};
    const Diagnostics base;
    const Subject subject{.model = model, .base = base};
    std::string text;
    for (const MissingAttribute& each :
         missing_attributes(make_node(op, {"r", "s"}, {"y"}), View(subject)))
        text += fmt::format("{}={} ", each.name, value_text(*each.value));
    return text;
}

TEST(Defaults, FollowTheOperatorSet) {
    EXPECT_EQ(missing_text("Add", 6), "broadcast=0 ");
    EXPECT_EQ(missing_text("Add", 7), "");
    EXPECT_EQ(missing_text("Clip", 10), "max=3.4028235e+38 min=-3.4028235e+38 ");
    EXPECT_EQ(missing_text("Clip", 11), "");
    EXPECT_EQ(missing_text("Softmax", 12), "axis=1 ");
    EXPECT_EQ(missing_text("Softmax", 13), "axis=-1 ");
    EXPECT_EQ(missing_text("BatchNormalization", 8), "epsilon=1e-05 momentum=0.9 spatial=1 ");
    EXPECT_EQ(missing_text("BatchNormalization", 14),
              "epsilon=1e-05 momentum=0.9 training_mode=0 ");
}

// New defaults of operator sets 18 to 26 for the operators of the profile, from the documentation.
TEST(Defaults, OfRecentOperatorSets) {
    struct Change {
        const char* op;
        int64_t opset;  // the first with these, up to the next row of the operator
        const char* defaults;
    };
    constexpr Change kChanges[] = {
        {"ArgMax", 17, "axis=0 keepdims=1 select_last_index=0 "},
        {"Cast", 17, ""},
        {"Cast", 19, "saturate=1 "},
        {"Cast", 24, "saturate=1 round_mode=up "},
        {"DequantizeLinear", 17, "axis=1 "},
        {"DequantizeLinear", 21, "axis=1 block_size=0 "},
        {"DequantizeLinear", 23, "axis=1 block_size=0 output_dtype=0 "},
        {"Flatten", 17, "axis=1 "},
        {"GRU", 17, "direction=forward layout=0 linear_before_reset=0 "},
        {"Gather", 17, "axis=0 "},
        {"LSTM", 17, "direction=forward input_forget=0 layout=0 "},
        {"LeakyRelu", 17, "alpha=0.01 "},
        {"Mod", 17, "fmod=0 "},
        {"Pad", 17, "mode=constant "},
        {"QuantizeLinear", 17, "axis=1 "},
        {"QuantizeLinear", 19, "axis=1 saturate=1 "},
        {"QuantizeLinear", 21, "axis=1 block_size=0 output_dtype=0 saturate=1 "},
        {"QuantizeLinear", 23, "axis=1 block_size=0 output_dtype=0 precision=0 saturate=1 "},
        {"ReduceMean", 17, "keepdims=1 "},
        {"ReduceMean", 18, "keepdims=1 noop_with_empty_axes=0 "},
        {"ReduceSum", 17, "keepdims=1 noop_with_empty_axes=0 "},
        {"Reshape", 17, "allowzero=0 "},
        {"Resize",
         17,
         "coordinate_transformation_mode=half_pixel cubic_coeff_a=-0.75 exclude_outside=0 "
         "extrapolation_value=0 mode=nearest nearest_mode=round_prefer_floor "},
        {"Resize",
         18,
         "antialias=0 coordinate_transformation_mode=half_pixel cubic_coeff_a=-0.75 "
         "exclude_outside=0 extrapolation_value=0 keep_aspect_ratio_policy=stretch mode=nearest "
         "nearest_mode=round_prefer_floor "},
        {"ScatterND", 17, "reduction=none "},
        {"Shape", 17, "start=0 "},
        {"Softmax", 17, "axis=-1 "},
        {"Split", 17, "axis=0 "},
        // No operator set added defaults to these.
        {"Add", 17, ""},
        {"Equal", 17, ""},
        {"Expand", 17, ""},
        {"Squeeze", 17, ""},
        {"Unsqueeze", 17, ""},
    };
    constexpr int64_t kNewest = 26;
    for (size_t i = 0; i < std::size(kChanges); ++i) {
        const bool last =
            i + 1 == std::size(kChanges) || std::string_view(kChanges[i + 1].op) != kChanges[i].op;
        const int64_t end = last ? kNewest : kChanges[i + 1].opset - 1;
        for (int64_t opset = kChanges[i].opset; opset <= end; ++opset) {
            EXPECT_EQ(missing_text(kChanges[i].op, opset), kChanges[i].defaults)
                << kChanges[i].op << " in operator set " << opset;
        }
    }
}

TEST(Write, ModelsComeBackAsTheyWere) {
    const onnx::Model model = conforming_model();
    const std::string bytes = onnx::write_model(model);
    const onnx::Model again = read(bytes);
    EXPECT_EQ(onnx::write_model(again), bytes);
    EXPECT_EQ(again.metadata.size(), 4U);
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
    // The result of composing.
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

}  // namespace

}  // namespace lemma::sonnx

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <lemma/lemma.h>

#include <memory>
#include <vector>

#include "api/models_test.h"

namespace lemma::api {

namespace {

struct Free {
    void operator()(lemma_model* model) const { lemma_model_free(model); }
    void operator()(lemma_session* session) const { lemma_session_free(session); }
    void operator()(lemma_report* report) const { lemma_report_free(report); }
};
using ModelHandle = std::unique_ptr<lemma_model, Free>;
using SessionHandle = std::unique_ptr<lemma_session, Free>;
using ReportHandle = std::unique_ptr<lemma_report, Free>;

lemma_load_options random_weights() {
    lemma_load_options options = {};
    options.struct_size = sizeof options;
    options.random_weights = 1;
    return options;
}

ModelHandle load(const std::string& path) {
    const lemma_load_options options = random_weights();
    lemma_model* model = nullptr;
    lemma_report* report = nullptr;
    EXPECT_EQ(lemma_load(path.c_str(), &options, &model, &report), LEMMA_GOOD)
        << lemma_report_text(report);
    lemma_report_free(report);
    return ModelHandle(model);
}

SessionHandle session_of(const ModelHandle& model) {
    lemma_session* session = nullptr;
    EXPECT_EQ(lemma_session_create(model.get(), nullptr, &session, nullptr), LEMMA_GOOD);
    return SessionHandle(session);
}

lemma_tensor floats(const std::vector<int64_t>& shape, std::vector<float>& values) {
    return {
        LEMMA_F32, shape.size(), shape.data(), values.data(), values.size() * sizeof(values[0])};
}

std::vector<float> values_of(const lemma_tensor& tensor) {
    EXPECT_EQ(tensor.type, LEMMA_F32);
    const auto* const values = static_cast<const float*>(tensor.data);
    return {values, values + tensor.size / sizeof(float)};
}

int run(const SessionHandle& session, const lemma_tensor& input, lemma_tensor* output) {
    return lemma_run(session.get(), &input, 1, output, output ? 1 : 0, nullptr, nullptr);
}

// The text of the report, which is freed.
std::string text_of(lemma_report* report) {
    const ReportHandle handle(report);
    return lemma_report_text(report);
}

const std::vector<int64_t> kTwo = {2};

TEST(CApi, HasVersionsAndTypes) {
    EXPECT_NE(std::string(lemma_version()).find('.'), std::string::npos);
    EXPECT_EQ(lemma_api_version(), LEMMA_API_VERSION);
    EXPECT_STREQ(lemma_type_name(LEMMA_BF16), "bf16");
    EXPECT_STREQ(lemma_type_name(LEMMA_STR), "str");
    EXPECT_STREQ(lemma_type_name(0), "");
    EXPECT_STREQ(lemma_type_name(15), "");
    EXPECT_EQ(lemma_type_size(LEMMA_I64), 8U);
    EXPECT_EQ(lemma_type_size(LEMMA_BOOL), 1U);
    EXPECT_EQ(lemma_type_size(LEMMA_STR), 0U);
    EXPECT_EQ(lemma_type_size(-1), 0U);
}

TEST(CApi, RefusesCountsWithoutPointers) {
    const TempFolder folder("c_null");
    const std::string path = folder.write(kSum);
    const auto refused_load = [&](const lemma_load_options& options, const char* why) {
        lemma_model* model = nullptr;
        lemma_report* report = nullptr;
        EXPECT_EQ(lemma_load(path.c_str(), &options, &model, &report), LEMMA_UNUSABLE);
        EXPECT_EQ(model, nullptr);
        EXPECT_EQ(text_of(report), "lemma: " + std::string(why) + "\n");
    };
    lemma_load_options options = random_weights();
    options.attribute_count = 2;
    refused_load(options, "the options have a number of attributes, but their pointer is NULL");
    const char* const attributes[] = {"a=1", nullptr};
    options.attributes = attributes;
    refused_load(options, "the attribute 1 of the options is NULL");
    options = random_weights();
    options.engine = 7;
    refused_load(options, "there is no engine 7");

    const ModelHandle model = load(path);
    const SessionHandle session = session_of(model);
    const char* texts[] = {"a", nullptr};
    int64_t shape[65] = {2};
    struct Wrong {
        lemma_tensor tensor;
        const char* why;
    };
    const Wrong wrongs[] = {
        {{LEMMA_F32, 1, nullptr, shape, 8}, "has axes, but its `shape` is NULL"},
        {{LEMMA_F32, 1, shape, nullptr, 8}, "has a size, but its `data` is NULL"},
        {{LEMMA_STR, 1, shape, nullptr, 16}, "has a size, but its `data` is NULL"},
        {{LEMMA_STR, 1, shape, texts, sizeof(texts)}, "has NULL for the string 1"},
        {{LEMMA_F32, 65, shape, shape, 8}, "has more than 64 axes"},
    };
    for (const Wrong& wrong : wrongs) {
        lemma_report* report = nullptr;
        EXPECT_EQ(lemma_run(session.get(), &wrong.tensor, 1, nullptr, 0, nullptr, &report),
                  LEMMA_UNUSABLE);
        EXPECT_EQ(text_of(report), "lemma: the tensor for `x` " + std::string(wrong.why) + "\n");
        EXPECT_EQ(lemma_set_variable(session.get(), "total", &wrong.tensor, &report),
                  LEMMA_UNUSABLE);
        EXPECT_EQ(text_of(report),
                  "lemma: the tensor for `total` " + std::string(wrong.why) + "\n");
    }
    lemma_report* report = nullptr;
    EXPECT_EQ(lemma_run(session.get(), nullptr, 1, nullptr, 0, nullptr, &report), LEMMA_UNUSABLE);
    EXPECT_EQ(text_of(report), "lemma: the inputs are NULL\n");
    EXPECT_EQ(lemma_run(session.get(), nullptr, 0, nullptr, 0, nullptr, &report), LEMMA_UNUSABLE);
    EXPECT_EQ(text_of(report), "lemma: 0 inputs are given, and the model has 1\n");
}

TEST(CApi, OptionsOfOtherVersions) {
    const TempFolder folder("c_sizes");
    const std::string path = folder.write(kScale);
    struct Newer {
        lemma_load_options known;
        uint64_t unknown;
    } options = {};
    lemma_model* model = nullptr;
    lemma_report* report = nullptr;
    const auto status = [&](size_t size) {
        options.known.struct_size = size;
        const int result = lemma_load(path.c_str(), &options.known, &model, &report);
        lemma_model_free(model);
        return result;
    };
    EXPECT_EQ(status(sizeof(size_t)), LEMMA_GOOD);
    EXPECT_EQ(status(offsetof(lemma_load_options, weights)), LEMMA_GOOD);
    EXPECT_EQ(status(sizeof options), LEMMA_GOOD);
    EXPECT_EQ(status(0), LEMMA_UNUSABLE);
    EXPECT_NE(text_of(report).find("set it to sizeof(lemma_load_options)"), std::string::npos);
    options.unknown = 1;
    EXPECT_EQ(status(sizeof options), LEMMA_UNUSABLE);
    EXPECT_NE(text_of(report).find("does not know"), std::string::npos);
    EXPECT_EQ(status(sizeof options.known), LEMMA_GOOD);
}

TEST(CApi, RunsWithState) {
    const TempFolder folder("c_state");
    const ModelHandle model = load(folder.write(kSum));
    const SessionHandle session = session_of(model);
    EXPECT_EQ(lemma_session_model(session.get()), model.get());
    std::vector<float> zeros = {0, 0}, ones = {1, 2};
    const lemma_tensor zero = floats(kTwo, zeros), one = floats(kTwo, ones);
    ASSERT_EQ(lemma_set_variable(session.get(), "total", &zero, nullptr), LEMMA_GOOD);
    lemma_tensor y = {}, total = {};
    ASSERT_EQ(run(session, one, nullptr), LEMMA_GOOD);
    ASSERT_EQ(run(session, one, &y), LEMMA_GOOD);
    EXPECT_EQ(values_of(y), (std::vector<float>{2, 4}));
    ASSERT_EQ(y.rank, 1u);
    EXPECT_EQ(y.shape[0], 2);
    ASSERT_EQ(lemma_get_variable(session.get(), "total", &total, nullptr), LEMMA_GOOD);
    EXPECT_EQ(values_of(total), (std::vector<float>{2, 4}));
    EXPECT_EQ(lemma_save_variables(session.get(), folder.path().c_str(), nullptr), LEMMA_GOOD);
    lemma_model* again = nullptr;
    EXPECT_EQ(lemma_load(folder.path().c_str(), nullptr, &again, nullptr), LEMMA_GOOD);
    lemma_model_free(again);
}

TEST(CApi, WritesOutputsToTheMemoryOfTheCaller) {
    const TempFolder folder("c_outputs");
    const ModelHandle model = load(folder.write(kScale));
    const SessionHandle session = session_of(model);
    std::vector<float> x = {1, 2, 3, 4, 5, 6}, room(7, -1);
    const std::vector<int64_t> shape = {2, 3};
    const lemma_tensor input = floats(shape, x);
    lemma_tensor y = {};
    y.data = room.data();
    y.size = room.size() * sizeof(float);
    ASSERT_EQ(run(session, input, &y), LEMMA_GOOD);
    EXPECT_EQ(y.data, room.data());
    EXPECT_EQ(y.size, 24U);
    EXPECT_EQ(y.rank, 2U);
    EXPECT_EQ(room, (std::vector<float>{2, 4, 6, 8, 10, 12, -1}));
    y.size = 23;
    lemma_report* report = nullptr;
    EXPECT_EQ(lemma_run(session.get(), &input, 1, &y, 1, nullptr, &report), LEMMA_UNUSABLE);
    EXPECT_EQ(text_of(report), "lemma: the output `y` takes 24 bytes, and there is room for 23\n");
    lemma_tensor two[2] = {};
    EXPECT_EQ(lemma_run(session.get(), &input, 1, two, 2, nullptr, &report), LEMMA_UNUSABLE);
    EXPECT_EQ(text_of(report), "lemma: 2 outputs are wanted, and the model has 1\n");
    EXPECT_EQ(lemma_run(session.get(), &input, 1, nullptr, 1, nullptr, nullptr), LEMMA_UNUSABLE);
}

TEST(CApi, TellsWhatTheModelHas) {
    const TempFolder folder("c_has");
    const ModelHandle model = load(folder.write(kDynamic));
    ASSERT_EQ(lemma_count(model.get(), LEMMA_INPUTS), 2u);
    const lemma_tensor_info* const x = lemma_info(model.get(), LEMMA_INPUTS, 0);
    EXPECT_STREQ(x->name, "x");
    EXPECT_EQ(x->type, LEMMA_F32);
    ASSERT_EQ(x->rank, 2u);
    EXPECT_EQ(x->shape[0], -1);
    EXPECT_EQ(x->bounds[0], 4);
    EXPECT_STREQ(x->extents[0], "n");
    EXPECT_STREQ(x->extents[1], "2");
    EXPECT_EQ(lemma_info(model.get(), LEMMA_INPUTS, 1)->type, LEMMA_I64);
    EXPECT_EQ(lemma_find(model.get(), LEMMA_INPUTS, "i"), 1u);
    EXPECT_EQ(lemma_find(model.get(), LEMMA_OUTPUTS, "i"), SIZE_MAX);
    EXPECT_EQ(lemma_count(model.get(), LEMMA_OUTPUTS), 2u);
    EXPECT_EQ(lemma_count(model.get(), LEMMA_VARIABLES), 0u);
    ASSERT_EQ(lemma_operation_count(model.get()), 2u);
    EXPECT_STREQ(lemma_operation_name(model.get(), 0), "math.neg");
    EXPECT_STREQ(lemma_model_name(model.get()), "Dynamic");
    EXPECT_STREQ(lemma_model_format(model.get()), "sknd");
}

TEST(CApi, TellsWhichEngineRuns) {
    const TempFolder folder("c_engine");
    const std::string path = folder.write(kScale);
    const ModelHandle small = load(path);
    EXPECT_EQ(lemma_model_engine(small.get()), LEMMA_INTERPRET);
    EXPECT_STREQ(lemma_model_target(small.get()), "");
    EXPECT_NE(std::string(lemma_model_engine_reason(small.get())).find("so small"),
              std::string::npos);
    lemma_load_options options = random_weights();
    options.engine = LEMMA_COMPILE;
    lemma_model* model = nullptr;
    ASSERT_EQ(lemma_load(path.c_str(), &options, &model, nullptr), LEMMA_GOOD);
    const ModelHandle compiled(model);
    EXPECT_EQ(lemma_model_engine(model), LEMMA_COMPILE);
    EXPECT_STRNE(lemma_model_target(model), "");
    EXPECT_STREQ(lemma_model_engine_reason(model), "it was asked for");
    const SessionHandle session = session_of(compiled);
    EXPECT_EQ(lemma_session_engine(session.get()), LEMMA_COMPILE);
    EXPECT_STREQ(lemma_session_engine_reason(session.get()), "it was asked for");
}

TEST(CApi, IndicesOutOfRangeAreHarmless) {
    const TempFolder folder("c_range");
    const ModelHandle model = load(folder.write(kScale));
    for (const lemma_model* one : {model.get(), static_cast<lemma_model*>(nullptr)}) {
        EXPECT_EQ(lemma_info(one, LEMMA_INPUTS, 7), nullptr);
        EXPECT_EQ(lemma_info(one, 9, 0), nullptr);
        EXPECT_EQ(lemma_info(one, LEMMA_VARIABLES, 0), nullptr);
        EXPECT_EQ(lemma_count(one, -1), 0u);
        EXPECT_EQ(lemma_find(one, -1, "x"), SIZE_MAX);
        EXPECT_EQ(lemma_find(one, LEMMA_INPUTS, nullptr), SIZE_MAX);
        EXPECT_STREQ(lemma_operation_name(one, 7), "");
        EXPECT_STREQ(lemma_operation_label(one, 7), "");
    }
    EXPECT_STREQ(lemma_model_name(nullptr), "");
    EXPECT_STREQ(lemma_model_format(nullptr), "");
    EXPECT_EQ(lemma_model_engine(nullptr), LEMMA_AUTO);
    EXPECT_STREQ(lemma_model_target(nullptr), "");
    EXPECT_STREQ(lemma_model_engine_reason(nullptr), "");
    EXPECT_EQ(lemma_model_share(nullptr), nullptr);
    EXPECT_EQ(lemma_session_model(nullptr), nullptr);
    EXPECT_EQ(lemma_session_engine(nullptr), LEMMA_AUTO);
    EXPECT_STREQ(lemma_session_engine_reason(nullptr), "");
    EXPECT_EQ(lemma_report_at(nullptr, 0), nullptr);
    EXPECT_EQ(lemma_run(nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_prepare(nullptr, nullptr, 0, nullptr, nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_reset(nullptr, nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_get_variable(nullptr, "x", nullptr, nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_session_create(nullptr, nullptr, nullptr, nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_session_create(model.get(), nullptr, nullptr, nullptr), LEMMA_UNUSABLE);
    lemma_model_free(nullptr);
    lemma_session_free(nullptr);
    lemma_report_free(nullptr);
    lemma_stop_free(nullptr);
    lemma_stop_now(nullptr);
    EXPECT_EQ(lemma_stop_requested(nullptr), 0);
}

TEST(CApi, SharedModelsAreFreedOnce) {
    const TempFolder folder("c_share");
    ModelHandle model = load(folder.write(kScale));
    const ModelHandle other(lemma_model_share(model.get()));
    EXPECT_EQ(other, model);
    const SessionHandle session = session_of(model);
    model.reset();
    EXPECT_EQ(lemma_count(other.get(), LEMMA_INPUTS), 1u);
}

TEST(CApi, FailedLoadHasAReport) {
    lemma_model* model = nullptr;
    lemma_report* report = nullptr;
    EXPECT_EQ(lemma_load("/no/such/model", nullptr, &model, &report), LEMMA_UNUSABLE);
    EXPECT_EQ(model, nullptr);
    const ReportHandle handle(report);
    ASSERT_EQ(lemma_report_count(report), 1u);
    const lemma_diagnostic* const first = lemma_report_at(report, 0);
    EXPECT_EQ(first->severity, LEMMA_ERROR);
    EXPECT_STREQ(first->kind, "unreadable-file");
    EXPECT_STREQ(first->text, lemma_report_text(report));
    EXPECT_EQ(first->line, 0);
    EXPECT_STREQ(first->path, "");
    EXPECT_NE(std::string(first->message).find("/no/such/model"), std::string::npos);
    EXPECT_EQ(lemma_load(nullptr, nullptr, &model, nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_load("/no/such/model", nullptr, nullptr, nullptr), LEMMA_UNUSABLE);
}

TEST(CApi, OptionsReachTheModel) {
    const TempFolder folder("c_options");
    const std::string path = folder.write(kScale);
    const char* const attributes[] = {"factor=0.5"};
    lemma_load_options options = random_weights();
    options.graph = "Scale";
    options.attributes = attributes;
    options.attribute_count = 1;
    options.real = LEMMA_F64;
    lemma_model* model = nullptr;
    ASSERT_EQ(lemma_load(path.c_str(), &options, &model, nullptr), LEMMA_GOOD);
    EXPECT_EQ(lemma_info(model, LEMMA_INPUTS, 0)->type, LEMMA_F64);
    lemma_model_free(model);
    options.real = 77;
    EXPECT_EQ(lemma_load(path.c_str(), &options, &model, nullptr), LEMMA_UNUSABLE);
}

TEST(CApi, RefusesInputsThatDoNotFit) {
    const TempFolder folder("c_inputs");
    const ModelHandle model = load(folder.write(kSum));
    const SessionHandle session = session_of(model);
    EXPECT_EQ(run(session, {}, nullptr), LEMMA_UNUSABLE);  // without its input
    std::vector<float> ones = {1, 1};
    lemma_tensor tensor = floats(kTwo, ones);
    EXPECT_EQ(lemma_set_variable(session.get(), nullptr, &tensor, nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_set_variable(session.get(), "total", nullptr, nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_save_variables(session.get(), nullptr, nullptr), LEMMA_UNUSABLE);
    tensor.size = 3;
    EXPECT_EQ(run(session, tensor, nullptr), LEMMA_UNUSABLE);
    tensor.size = 8;
    tensor.type = 0;
    EXPECT_EQ(run(session, tensor, nullptr), LEMMA_UNUSABLE);
    tensor.type = LEMMA_F32;
    EXPECT_EQ(run(session, tensor, nullptr), LEMMA_GOOD);
}

// A failure inside of the model has a place in its text, from the session too.
TEST(CApi, FailedRunsHaveAPlace) {
    const TempFolder folder("c_place");
    const ModelHandle model = load(folder.write(kStops));
    const SessionHandle session = session_of(model);
    std::vector<float> x = {5, 6, 7};
    int64_t index = 3;
    const std::vector<int64_t> three = {3};
    lemma_tensor inputs[] = {floats(three, x), {LEMMA_I64, 0, nullptr, &index, sizeof index}};
    lemma_report* report = nullptr;
    EXPECT_EQ(lemma_run(session.get(), inputs, 2, nullptr, 0, nullptr, &report), LEMMA_WRONG);
    const ReportHandle handle(report);
    ASSERT_EQ(lemma_report_count(report), 1u);
    EXPECT_STREQ(lemma_report_at(report, 0)->kind, "run-failed");
    EXPECT_EQ(lemma_report_at(report, 0)->line, 11);
    EXPECT_NE(std::string(lemma_report_at(report, 0)->file).find("main.sknd"), std::string::npos);
    index = 2;
    lemma_tensor y = {};
    EXPECT_EQ(lemma_run(session.get(), inputs, 2, &y, 1, nullptr, nullptr), LEMMA_GOOD);
    EXPECT_EQ(values_of(y), std::vector<float>{7});
}

TEST(CApi, InnerTensorsBecomeOutputs) {
    const TempFolder folder("c_extra");
    const std::string path = folder.write(R"(
import math;
graph Steps {
    @input { x: real[2]; }
    @output { y: real[2]; }
    @compose { a = math.neg(x); b = math.mul(a, a); y = math.add(b, a); }
})");
    const char* const names[] = {"b", "a"};
    const char* const star[] = {"*"};
    const char* const wrong[] = {"bb"};
    lemma_load_options options = random_weights();
    for (const int engine : {LEMMA_INTERPRET, LEMMA_COMPILE}) {
        options.engine = engine;
        options.extra_outputs = names;
        options.extra_output_count = 2;
        lemma_model* model = nullptr;
        ASSERT_EQ(lemma_load(path.c_str(), &options, &model, nullptr), LEMMA_GOOD);
        const ModelHandle handle(model);
        ASSERT_EQ(lemma_count(model, LEMMA_OUTPUTS), 3u);
        EXPECT_EQ(lemma_find(model, LEMMA_OUTPUTS, "y"), 0u);
        EXPECT_EQ(lemma_find(model, LEMMA_OUTPUTS, "b"), 1u);
        const SessionHandle session = session_of(handle);
        std::vector<float> x = {3, -2};
        const lemma_tensor input = floats(kTwo, x);
        lemma_tensor outputs[3] = {};
        ASSERT_EQ(lemma_run(session.get(), &input, 1, outputs, 3, nullptr, nullptr), LEMMA_GOOD);
        EXPECT_EQ(values_of(outputs[0]), (std::vector<float>{6, 6}));
        EXPECT_EQ(values_of(outputs[1]), (std::vector<float>{9, 4}));
        EXPECT_EQ(values_of(outputs[2]), (std::vector<float>{-3, 2}));
    }
    options.extra_outputs = star;
    options.extra_output_count = 1;
    lemma_model* model = nullptr;
    ASSERT_EQ(lemma_load(path.c_str(), &options, &model, nullptr), LEMMA_GOOD);
    EXPECT_EQ(lemma_count(model, LEMMA_OUTPUTS), 3u);
    lemma_model_free(model);
    options.extra_outputs = wrong;
    lemma_report* report = nullptr;
    EXPECT_EQ(lemma_load(path.c_str(), &options, &model, &report), LEMMA_UNUSABLE);
    EXPECT_NE(text_of(report).find("no operation makes a tensor `bb`"), std::string::npos);
}

}  // namespace

}  // namespace lemma::api

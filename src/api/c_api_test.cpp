#include <gtest/gtest.h>
#include <lemma/lemma.h>

#include <memory>
#include <vector>

#include "api/models_test.h"

namespace lemma::api {

namespace {

struct Free {
    void operator()(lemma_model* model) const { lemma_free(model); }
};
using Handle = std::unique_ptr<lemma_model, Free>;

// A model with random weights.
Handle load(const std::string& path) {
    lemma_options options = {};
    options.random_weights = 1;
    lemma_model* model = nullptr;
    EXPECT_EQ(lemma_load(path.c_str(), &options, &model), LEMMA_GOOD) << lemma_error(model);
    return Handle(model);
}

lemma_tensor floats(const std::vector<int64_t>& shape, const std::vector<float>& values) {
    return {
        LEMMA_F32, shape.size(), shape.data(), values.data(), values.size() * sizeof(values[0])};
}

std::vector<float> values_of(const lemma_tensor& tensor) {
    EXPECT_EQ(tensor.type, LEMMA_F32);
    const auto* const values = static_cast<const float*>(tensor.data);
    return {values, values + tensor.size / sizeof(float)};
}

const std::vector<int64_t> kTwo = {2};

TEST(CApi, RefusesCountsWithoutPointers) {
    const TempFolder folder("c_null");
    const std::string path = folder.write(kSum);
    const auto refused_load = [&](const lemma_options& options, const char* why) {
        lemma_model* model = nullptr;
        EXPECT_EQ(lemma_load(path.c_str(), &options, &model), LEMMA_UNUSABLE);
        EXPECT_EQ(std::string(lemma_error(model)), "lemma: " + std::string(why) + "\n");
        lemma_free(model);
    };
    lemma_options options = {};
    options.attribute_count = 2;
    refused_load(options,
                 "the options have a number of attributes, but none: `attributes` is NULL");
    const char* const attributes[] = {"a=1", nullptr};
    options.attributes = attributes;
    refused_load(options, "the attribute 1 of the options is NULL");

    const Handle model = load(path);
    const char* const texts[] = {"a", nullptr};
    const int64_t shape[65] = {2};
    struct Wrong {
        lemma_tensor tensor;
        const char* why;
    };
    const Wrong wrongs[] = {
        {{LEMMA_F32, 1, nullptr, shape, 8}, "has axes, but its `shape` is NULL"},
        {{LEMMA_F32, 1, shape, nullptr, 8}, "has a size, but its `data` is NULL"},
        {{LEMMA_STR, 1, shape, nullptr, 16}, "has a size, but its `data` is NULL"},
        {{LEMMA_STR, 1, shape, texts, sizeof(texts)}, "has NULL for the string 1"},
        {{LEMMA_STR, 1, shape, texts, 9}, "has a size that is no number of pointers to strings"},
        {{LEMMA_F32, 65, shape, shape, 8}, "has more than 64 axes"},
    };
    for (const Wrong& wrong : wrongs) {
        EXPECT_EQ(lemma_set_input(model.get(), "x", &wrong.tensor), LEMMA_UNUSABLE);
        EXPECT_EQ(std::string(lemma_error(model.get())),
                  "lemma: the tensor for `x` " + std::string(wrong.why) + "\n");
        EXPECT_EQ(lemma_set_variable(model.get(), "total", &wrong.tensor), LEMMA_UNUSABLE);
        EXPECT_EQ(std::string(lemma_error(model.get())),
                  "lemma: the tensor for `total` " + std::string(wrong.why) + "\n");
    }
    const lemma_tensor empty = {LEMMA_F32, 0, nullptr, nullptr, 0};  // null pointers
    EXPECT_EQ(lemma_set_input(model.get(), "x", &empty), LEMMA_GOOD);
    EXPECT_EQ(lemma_run(model.get()), LEMMA_UNUSABLE);
}

TEST(CApi, RunsWithState) {
    const TempFolder folder("c_state");
    const Handle model = load(folder.write(kSum));
    EXPECT_STREQ(lemma_error(model.get()), "");
    const std::vector<float> zeros = {0, 0}, ones = {1, 2};
    const lemma_tensor zero = floats(kTwo, zeros), one = floats(kTwo, ones);
    ASSERT_EQ(lemma_set_variable(model.get(), "total", &zero), LEMMA_GOOD);
    ASSERT_EQ(lemma_set_input(model.get(), "x", &one), LEMMA_GOOD);
    lemma_tensor y, total;
    EXPECT_EQ(lemma_get_output(model.get(), "y", &y), LEMMA_UNUSABLE);  // before the first run
    ASSERT_EQ(lemma_run(model.get()), LEMMA_GOOD);
    ASSERT_EQ(lemma_run(model.get()), LEMMA_GOOD);  // the input stays
    ASSERT_EQ(lemma_get_output(model.get(), "y", &y), LEMMA_GOOD);
    EXPECT_EQ(values_of(y), (std::vector<float>{2, 4}));
    ASSERT_EQ(y.rank, 1u);
    EXPECT_EQ(y.shape[0], 2);
    ASSERT_EQ(lemma_get_variable(model.get(), "total", &total), LEMMA_GOOD);
    EXPECT_EQ(values_of(total), values_of(y));
    EXPECT_EQ(lemma_save_variables(model.get(), folder.path().c_str()), LEMMA_GOOD);
    lemma_model* again = nullptr;
    EXPECT_EQ(lemma_load(folder.path().c_str(), nullptr, &again), LEMMA_GOOD);
    lemma_free(again);
}

TEST(CApi, TellsWhatTheModelHas) {
    const TempFolder folder("c_has");
    const Handle model = load(folder.write(kDynamic));
    ASSERT_EQ(lemma_count(model.get(), LEMMA_INPUTS), 2u);
    EXPECT_STREQ(lemma_name(model.get(), LEMMA_INPUTS, 0), "x");
    EXPECT_EQ(lemma_type_of(model.get(), LEMMA_INPUTS, 0), LEMMA_F32);
    EXPECT_EQ(lemma_type_of(model.get(), LEMMA_INPUTS, 1), LEMMA_I64);
    ASSERT_EQ(lemma_rank(model.get(), LEMMA_INPUTS, 0), 2u);
    EXPECT_EQ(lemma_shape(model.get(), LEMMA_INPUTS, 0)[0], -1);
    EXPECT_EQ(lemma_bounds(model.get(), LEMMA_INPUTS, 0)[0], 4);
    EXPECT_EQ(lemma_count(model.get(), LEMMA_OUTPUTS), 2u);
    EXPECT_EQ(lemma_count(model.get(), LEMMA_VARIABLES), 0u);
    ASSERT_EQ(lemma_operation_count(model.get()), 2u);
    EXPECT_STREQ(lemma_operation_name(model.get(), 0), "math.neg");
}

TEST(CApi, IndicesOutOfRangeAreHarmless) {
    const TempFolder folder("c_range");
    const Handle model = load(folder.write(kScale));
    for (const lemma_model* one : {model.get(), static_cast<lemma_model*>(nullptr)}) {
        EXPECT_STREQ(lemma_name(one, LEMMA_INPUTS, 7), "");
        EXPECT_EQ(lemma_type_of(one, LEMMA_OUTPUTS, 7), LEMMA_NO_TYPE);
        EXPECT_EQ(lemma_rank(one, 9, 0), 0u);
        EXPECT_EQ(lemma_shape(one, LEMMA_VARIABLES, 0), nullptr);
        EXPECT_EQ(lemma_bounds(one, -1, 0), nullptr);
        EXPECT_STREQ(lemma_operation_name(one, 7), "");
        EXPECT_STREQ(lemma_operation_label(one, 7), "");
        EXPECT_STREQ(lemma_problem_text(one, 0), "");
        EXPECT_STREQ(lemma_problem_kind(one, 0), "");
    }
    EXPECT_EQ(lemma_run(nullptr), LEMMA_UNUSABLE);
    EXPECT_STREQ(lemma_error(nullptr), "");
    lemma_free(nullptr);
}

TEST(CApi, FailedLoadKeepsItsProblems) {
    lemma_model* model = nullptr;
    EXPECT_EQ(lemma_load("/no/such/model", nullptr, &model), LEMMA_UNUSABLE);
    ASSERT_NE(model, nullptr);
    ASSERT_EQ(lemma_problem_count(model), 1u);
    EXPECT_STREQ(lemma_problem_kind(model, 0), "unreadable-file");
    EXPECT_STREQ(lemma_problem_text(model, 0), lemma_error(model));
    EXPECT_NE(std::string(lemma_error(model)).find("/no/such/model"), std::string::npos);
    EXPECT_EQ(lemma_count(model, LEMMA_INPUTS), 0u);
    EXPECT_EQ(lemma_run(model), LEMMA_UNUSABLE);
    lemma_free(model);
    EXPECT_EQ(lemma_load(nullptr, nullptr, &model), LEMMA_UNUSABLE);
    lemma_free(model);
    EXPECT_EQ(lemma_load("/no/such/model", nullptr, nullptr), LEMMA_UNUSABLE);
}

TEST(CApi, OptionsReachTheModel) {
    const TempFolder folder("c_options");
    const std::string path = folder.write(kScale);
    const char* const attributes[] = {"factor=0.5"};
    lemma_options options = {};
    options.graph = "Scale";
    options.attributes = attributes;
    options.attribute_count = 1;
    options.real = LEMMA_F64;
    lemma_model* model = nullptr;
    ASSERT_EQ(lemma_load(path.c_str(), &options, &model), LEMMA_GOOD) << lemma_error(model);
    EXPECT_EQ(lemma_type_of(model, LEMMA_INPUTS, 0), LEMMA_F64);
    lemma_free(model);
    options.real = 77;
    EXPECT_EQ(lemma_load(path.c_str(), &options, &model), LEMMA_UNUSABLE);
    lemma_free(model);
}

TEST(CApi, RefusesInputsThatDoNotFit) {
    const TempFolder folder("c_inputs");
    const Handle model = load(folder.write(kSum));
    EXPECT_EQ(lemma_run(model.get()), LEMMA_UNUSABLE);  // without its input
    const std::vector<float> ones = {1, 1};
    lemma_tensor tensor = floats(kTwo, ones);
    EXPECT_EQ(lemma_set_input(model.get(), "z", &tensor), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_set_input(model.get(), nullptr, &tensor), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_set_variable(model.get(), "total", nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_save_variables(model.get(), nullptr), LEMMA_UNUSABLE);
    tensor.size = 3;
    ASSERT_EQ(lemma_set_input(model.get(), "x", &tensor), LEMMA_GOOD);
    EXPECT_EQ(lemma_run(model.get()), LEMMA_UNUSABLE);
    tensor.size = 8;
    tensor.type = 0;
    ASSERT_EQ(lemma_set_input(model.get(), "x", &tensor), LEMMA_GOOD);
    EXPECT_EQ(lemma_run(model.get()), LEMMA_UNUSABLE);
    tensor.type = LEMMA_F32;
    ASSERT_EQ(lemma_set_input(model.get(), "x", &tensor), LEMMA_GOOD);
    EXPECT_EQ(lemma_run(model.get()), LEMMA_GOOD);
    ASSERT_EQ(lemma_set_input(model.get(), "x", nullptr), LEMMA_GOOD);
    EXPECT_EQ(lemma_run(model.get()), LEMMA_UNUSABLE);  // it was removed
}

}  // namespace

}  // namespace lemma::api

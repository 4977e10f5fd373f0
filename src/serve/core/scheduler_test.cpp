// SPDX-License-Identifier: Apache-2.0
#include "serve/core/scheduler.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>

namespace lemma::serve {
namespace {

using namespace std::chrono_literals;

// A model text as a file in a folder of its own.
class ModelFile {
public:
    explicit ModelFile(const std::string& text) {
        std::string name = (std::filesystem::temp_directory_path() / "lemma-serve-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        std::ofstream(path()) << text;
    }
    ~ModelFile() { std::filesystem::remove_all(folder_); }
    std::string path() const { return (folder_ / "main.sknd").string(); }

private:
    std::filesystem::path folder_;
};

constexpr const char* kDouble = R"(import math;
graph G {
    @input { x: real[n|64, 3]; }
    @output { y: real[n, 3]; }
    @compose { y = math.add(x, x); }
}
)";
// Items of a batch depend on each other.
constexpr const char* kMixed = R"(import math;
graph G {
    @input { x: real[n|64, 3]; }
    @output { y: real[n, 3]; }
    @compose { s = math.sum_reduce{axes=[0]}(x); y = math.add(x, s); }
}
)";
// Takes a long time in the interpreter.
constexpr const char* kSlow = R"(import linalg;
graph G {
    @input { x: real[150, 150]; }
    @output { y: real[150, 150]; }
    @compose { a = linalg.matmul(x, x); b = linalg.matmul(a, a); y = linalg.matmul(b, b); }
}
)";

// A model with its file.
class Loaded {
public:
    explicit Loaded(const char* text) : file_(text) {
        ModelOptions options;
        options.engine = LEMMA_INTERPRET;
        auto model = ServedModel::load(file_.path(), options, nullptr);
        EXPECT_TRUE(model) << model.error().text;
        if (model) model_ = std::move(*model);
    }
    ServedModel* operator->() const { return model_.get(); }
    ServedModel& operator*() const { return *model_; }

private:
    ModelFile file_;
    std::unique_ptr<ServedModel> model_;
};

InferRequest request_of(const std::vector<float>& values, Shape shape) {
    auto memory = std::make_shared<std::vector<float>>(values);
    InferRequest request;
    TensorValue value{.name = "x", .type = LEMMA_F32, .shape = std::move(shape)};
    value.data = memory->data();
    value.size = memory->size() * sizeof(float);
    value.owner = memory;
    request.inputs.push_back(std::move(value));
    return request;
}

struct Asked {
    std::promise<Answer<InferResponse>> promise;
    std::future<Answer<InferResponse>> answer = promise.get_future();
    std::shared_ptr<Scheduler::Job> job;
};

std::unique_ptr<Asked> ask(Scheduler& scheduler, InferRequest request) {
    auto asked = std::make_unique<Asked>();
    auto job = scheduler.submit(std::move(request), [raw = asked.get()](auto answer) {
        raw->promise.set_value(std::move(answer));
    });
    if (job) {
        asked->job = *job;
    } else {
        asked->promise.set_value(std::unexpected(job.error()));
    }
    return asked;
}

std::vector<float> numbers(const TensorValue& value) {
    std::vector<float> result(value.size / sizeof(float));
    std::memcpy(result.data(), value.data, value.size);
    return result;
}

TEST(Scheduler, AnswersManyRequestsInGroups) {
    for (const int threads : {1, 3}) {
        const Loaded model(kDouble);
        model->prepare(8, nullptr);
        ModelMetrics metrics;
        auto scheduler = Scheduler::create(
            *model,
            {.threads = threads, .sessions = 2, .max_batch = 8, .batch_delay = 2ms, .queue = 1000},
            metrics);
        ASSERT_TRUE(scheduler);
        std::vector<std::unique_ptr<Asked>> all;
        for (int i = 0; i < 200; ++i) {
            const auto value = static_cast<float>(i);
            const int64_t items = 1 + i % 3;
            all.push_back(ask(
                **scheduler,
                request_of(std::vector<float>(static_cast<size_t>(3 * items), value), {items, 3})));
        }
        for (size_t i = 0; i < all.size(); ++i) {
            const auto answer = all[i]->answer.get();
            ASSERT_TRUE(answer) << answer.error().message;
            EXPECT_EQ(numbers(answer->outputs[0]),
                      std::vector<float>(3 * (1 + i % 3), 2 * static_cast<float>(i)));
            EXPECT_GE(answer->timing.batch, 1);
            EXPECT_LE(answer->timing.batch, 8);
        }
        EXPECT_EQ(metrics.codes[0], 200U);
        EXPECT_EQ(metrics.waiting, 0);
        EXPECT_EQ(metrics.running, 0);
        EXPECT_NE(metrics.batch_size.text("b", "m").find("b_count{m}"), std::string::npos);
    }
}

TEST(ServedModel, JoinsOnlyIndependentItems) {
    const Loaded good(kDouble);
    EXPECT_TRUE(good->joining().possible);
    const Loaded mixed(kMixed);
    EXPECT_TRUE(mixed->joining().possible);  // by the shapes alone
    mixed->prepare(8, nullptr);
    EXPECT_TRUE(mixed->joining().sizes.empty());
    EXPECT_NE(mixed->remark().find("gives other bits"), std::string::npos) << mixed->remark();
    EXPECT_FALSE(Loaded(kSlow)->joining().possible);
}

TEST(Runner, JoinedWorksGetTheirOwnItems) {
    const Loaded model(kDouble);
    auto session = open_session(*model, 1);
    ASSERT_TRUE(session);
    Lane lane(*model, std::move(*session), 1);
    std::vector<InferRequest> requests;
    for (int i = 0; i < 5; ++i) {
        requests.push_back(
            request_of(std::vector<float>(static_cast<size_t>(3 * (i + 1)), static_cast<float>(i)),
                       {i + 1, 3}));
    }
    std::vector<Work> works(requests.size());
    std::vector<Work*> group;
    for (size_t i = 0; i < works.size(); ++i) {
        works[i].inputs = {&requests[i].inputs[0]};
        group.push_back(&works[i]);
    }
    lane.run_joined(group);
    for (size_t i = 0; i < works.size(); ++i) {
        ASSERT_FALSE(works[i].failure) << works[i].failure->message;
        EXPECT_EQ(works[i].outputs[0].shape, (Shape{static_cast<int64_t>(i) + 1, 3}));
        EXPECT_EQ(numbers(works[i].outputs[0]),
                  std::vector<float>(3 * (i + 1), 2 * static_cast<float>(i)));
    }
}

// Lanes that are free take works that came after the group began.
TEST(Runner, FreeLanesTakeMoreWorks) {
    const Loaded model(kDouble);
    auto runner = Runner::create(*model, 2, true);
    ASSERT_TRUE(runner);
    constexpr size_t kWorks = 9, kFirst = 2;
    std::vector<InferRequest> requests;
    std::vector<Work> works(kWorks);
    for (size_t i = 0; i < kWorks; ++i) {
        requests.push_back(request_of(std::vector<float>(3, static_cast<float>(i)), {1, 3}));
    }
    for (size_t i = 0; i < kWorks; ++i) works[i].inputs = {&requests[i].inputs[0]};
    std::atomic<size_t> next = kFirst, finished = 0;
    const Runner::Callbacks callbacks = {
        .done = [&](Work&) { ++finished; },
        .more =
            [&](size_t most) {
                EXPECT_GE(most, 1U);
                const size_t index = next.fetch_add(1);
                return index < kWorks ? std::vector{&works[index]} : std::vector<Work*>();
            },
    };
    (*runner)->run(std::vector{&works[0], &works[1]}, callbacks);
    EXPECT_EQ(finished, kWorks);
    for (size_t i = 0; i < kWorks; ++i) {
        ASSERT_FALSE(works[i].failure);
        EXPECT_EQ(numbers(works[i].outputs[0]), std::vector<float>(3, 2 * static_cast<float>(i)));
    }
}

TEST(Scheduler, RefusesWhatDoesNotFitTheModel) {
    const Loaded model(kDouble);
    ModelMetrics metrics;
    auto scheduler = Scheduler::create(*model, {}, metrics);
    ASSERT_TRUE(scheduler);
    const auto refused = [&](InferRequest request) {
        const auto answer = ask(**scheduler, std::move(request))->answer.get();
        EXPECT_FALSE(answer);
        return answer ? "" : answer.error().message;
    };
    EXPECT_EQ(refused({}), "the input `x` is missing");
    EXPECT_NE(refused(request_of({1, 2}, {1, 2})), "");
    EXPECT_NE(refused(request_of({1, 2}, {2})), "");
    EXPECT_NE(refused(request_of({1, 2}, {1, 3})), "");  // too few bytes
    EXPECT_NE(refused(request_of({}, {-1, 3})), "");
    auto wrong = request_of({1, 2, 3}, {1, 3});
    wrong.inputs[0].type = LEMMA_I32;
    EXPECT_EQ(refused(wrong), "the input `x` is INT32, but the model wants FP32");
    wrong = request_of({1, 2, 3}, {1, 3});
    wrong.inputs[0].name = "z";
    EXPECT_EQ(refused(wrong), "the model has no input `z`; it has `x`");
    wrong = request_of({1, 2, 3}, {1, 3});
    wrong.inputs.push_back(wrong.inputs[0]);
    EXPECT_EQ(refused(wrong), "the input `x` is given twice");
    wrong = request_of({1, 2, 3}, {1, 3});
    wrong.outputs.push_back({"q"});
    EXPECT_EQ(refused(wrong), "the model has no output `q`; it has `y`");
}

InferRequest slow_request() { return request_of(std::vector<float>(22500, 0.001F), {150, 150}); }

TEST(Scheduler, LimitsTheQueue) {
    const Loaded model(kSlow);
    ModelMetrics metrics;
    auto scheduler = Scheduler::create(*model, {.max_batch = 1, .queue = 2}, metrics);
    ASSERT_TRUE(scheduler);
    std::vector<std::unique_ptr<Asked>> all;
    for (int i = 0; i < 8; ++i) all.push_back(ask(**scheduler, slow_request()));
    (*scheduler)->stop();
    int exhausted = 0;
    for (const auto& asked : all) {
        const auto answer = asked->answer.get();
        if (!answer && answer.error().code == Code::Exhausted) ++exhausted;
    }
    EXPECT_GE(exhausted, 4);  // one runs, two wait; one may have been taken in between
    EXPECT_TRUE((*scheduler)->idle());
    const auto late = ask(**scheduler, slow_request())->answer.get();
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::Unavailable);
}

TEST(Scheduler, AnswersWaitingRequestsAtTheirDeadline) {
    const Loaded model(kSlow);
    ModelMetrics metrics;
    auto scheduler = Scheduler::create(*model, {.max_batch = 1}, metrics);
    ASSERT_TRUE(scheduler);
    const auto first = ask(**scheduler, slow_request());
    auto late = slow_request();
    late.deadline = Clock::now() + 1ms;
    const auto second = ask(**scheduler, std::move(late));
    auto gone = slow_request();
    gone.abandoned = [] { return true; };
    const auto third = ask(**scheduler, std::move(gone));
    const auto fourth = ask(**scheduler, slow_request());
    std::this_thread::sleep_for(5ms);
    (*scheduler)->tick();
    (*scheduler)->cancel(fourth->job);
    const auto answer = second->answer.get();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::Deadline);
    const auto abandoned = third->answer.get();
    ASSERT_FALSE(abandoned);
    EXPECT_EQ(abandoned.error().code, Code::Cancelled);
    const auto cancelled = fourth->answer.get();
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().code, Code::Cancelled);
    EXPECT_TRUE(first->answer.get());
}

}  // namespace
}  // namespace lemma::serve

// SPDX-License-Identifier: Apache-2.0
// api/models_test.h — small models for the tests of the library, in a temporary folder.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <lemma/lemma.hpp>
#include <string>

namespace lemma::api {

inline constexpr const char* kScale = R"(
import math;
graph Scale {
    @attrib { factor: real = 2.0; }
    @input { x: real[2, 3]; }
    @output { y: real[2, 3]; }
    @compose { y = math.mul(x, factor); }
})";

// A model that adds up its inputs.
inline constexpr const char* kSum = R"(
import math;
graph Sum {
    @input { x: real[2]; }
    @output { y: real[2]; }
    @variable { total: real[2]; }
    @compose { y = math.add(total, x); }
    @update { total = y; }
})";

inline constexpr const char* kDynamic = R"(
import math;
graph Dynamic {
    @input { x: real[n|4, 2]; i: int[m|8]; }
    @output { y: real[n, 2]; j: int[m]; }
    @compose { y = math.neg(x); j = math.add(i, 1); }
})";

inline constexpr const char* kPacks = R"(
import math;
graph Packs {
    @input { xs: real[2]..(2); ys: real[2]..(k|3); }
    @output { sum: real[2]; us: real[2]..(2); vs: real[2]..(k); }
    @compose { sum = math.sum_n(xs); us = xs; vs = ys; }
})";

inline constexpr const char* kStops = R"(
import math;
operator pick {
    @input { x: real[n]; i: int[]; }
    @output { y: real[]; }
    @lower { y[] = x[i[],]; }
}
graph Stops {
    @input { x: real[3]; i: int[]; }
    @output { y: real[]; }
    @compose { y = pick(x, i); }
})";

class TempFolder {
public:
    explicit TempFolder(const std::string& name)
        : path_(std::filesystem::temp_directory_path() / ("lemma_api_" + name)) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    std::string path() const { return path_.string(); }
    // Returns the path of the model.
    std::string write(const std::string& text) const {
        std::ofstream(path_ / "main.sknd") << text;
        return path();
    }

private:
    std::filesystem::path path_;
};

// A model from a text, with a session; named after the current test.
class Loaded {
public:
    explicit Loaded(const std::string& text,
                    const LoadOptions& options = {},
                    const SessionOptions& session = {})
        : folder_(testing::UnitTest::GetInstance()->current_test_info()->name()),
          model_(checked(Model::load(folder_.write(text), options))),
          session_(checked(model_.session(session))) {}
    Session* operator->() { return &session_; }
    const Model& model() const { return model_; }
    std::string folder() const { return folder_.path(); }

private:
    static Model checked(LoadResult result) {
        EXPECT_TRUE(result.ok()) << result.text();
        return *result.model;
    }
    static Session checked(SessionResult result) {
        EXPECT_TRUE(result.ok()) << result.text();
        return std::move(*result.session);
    }

    TempFolder folder_;
    Model model_;
    Session session_;
};

inline const Tensor kSixNumbers = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// EXPECT_TRUE(refused(model->run({}), "no data"));
inline testing::AssertionResult refused(const Outcome& outcome, const std::string& part) {
    if (outcome.status == Status::Unusable && contains(outcome.text(), part)) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure()
           << "status " << static_cast<int>(outcome.status) << ": " << outcome.text();
}

}  // namespace lemma::api

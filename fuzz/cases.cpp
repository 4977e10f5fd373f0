// SPDX-License-Identifier: Apache-2.0
// Bytes as a file of `lemma test`: reading gives cases whose arrays are whole, or an error with a
// line of the file.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "driver/testing/case_file.h"
#include "seeds.h"
#include "tensor/shape.h"

using namespace lemma;
using namespace lemma::driver;

namespace {

std::string random_values(std::mt19937& random, int depth) {
    static constexpr std::array kItems = {
        "1", "-3", "0.5", "1e9", "true", "\"a\"", "\"nan\"", "\"-inf\"", "9223372036854775807"};
    if (depth == 0 || random() % 4 == 0) return kItems[random() % kItems.size()];
    std::string text;
    for (size_t i = 0, count = random() % 4; i < count; ++i)
        text += (i > 0 ? ", " : "") + random_values(random, depth - 1);
    return "[" + text + "]";
}

std::string random_line(std::mt19937& random) {
    const auto tensor = [&](const char* word) {
        static constexpr std::array kTypes = {"", ": int", ": real", ": bool", ": str"};
        return std::string(word) + kTypes[random() % kTypes.size()] + " = " +
               random_values(random, 3);
    };
    switch (random() % 14) {
        case 0:
            return "model ops.sknd";
        case 1:
            return "import nn";
        case 2:
            return "call y = nn.relu(x);";
        case 3:
            return "graph Main";
        case 4:
            return "attribute depth=3";
        case 5:
            return "declare x: real[n|8]";
        case 6:
            return tensor("variable y.bias");
        case 7:
            return tensor("after y.bias");
        case 8:
            return "step";
        case 9:
            return "tolerance 1e-3 1e-6";
        case 10:
            return "error assert-failed: must be positive";
        case 11:
            return "    # more";
        default:
            return tensor(random() % 2 == 0 ? "input x" : "output y");
    }
}

void check_array(const interpret::Array& array) {
    LEMMA_CHECK(tensor::volume(array.shape) == array.size);
    const size_t elements = array.strings.size() + array.reals.size() + array.integers.size();
    LEMMA_CHECK(static_cast<int64_t>(elements) == array.size);
}

void check_case(const TestCase& test) {
    LEMMA_CHECK(!test.steps.empty());
    LEMMA_CHECK(std::isfinite(test.tolerance.relative) && std::isfinite(test.tolerance.absolute));
    for (const TestTensor& tensor : test.variables) check_array(tensor.values);
    for (const TestStep& step : test.steps) {
        for (const auto* list : {&step.inputs, &step.outputs, &step.after}) {
            for (const TestTensor& tensor : *list) check_array(tensor.values);
        }
    }
}

}  // namespace

std::string lemma::fuzz::make_seed(std::mt19937& random) {
    std::string text;
    for (size_t i = 0, cases = 1 + random() % 3; i < cases; ++i) {
        text += "case number " + std::to_string(i) + "\n";
        for (size_t k = 0, lines = random() % 8; k < lines; ++k) text += random_line(random) + "\n";
    }
    return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto lines = static_cast<size_t>(std::ranges::count(text, '\n')) + 1;
    const auto cases = read_test_cases(text);
    if (!cases) {
        size_t line = 0;
        const std::string& message = cases.error().message;
        std::from_chars(message.data(), message.data() + message.size(), line);
        LEMMA_CHECK(line >= 1 && line <= lines);
        return 0;
    }
    size_t last = 0;
    for (const TestCase& test : *cases) {
        LEMMA_CHECK(test.line > last && test.line <= lines);
        last = test.line;
        check_case(test);
    }
    return 0;
}

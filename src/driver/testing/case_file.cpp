// SPDX-License-Identifier: Apache-2.0
#include "driver/testing/case_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "diag/diagnostic.h"
#include "tensor/files/json_file.h"

namespace lemma::driver {

namespace {

constexpr size_t kMaxCases = 100'000;
// Of a case; each case has a copy of what stands above the first one.
constexpr size_t kMaxTensors = 1000;
constexpr size_t kMaxImports = 100;
constexpr size_t kMaxPath = 4096;

struct Line {
    size_t number = 0;
    std::string text;  // with the lines that continue it
};

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

std::vector<Line> lines_of(std::string_view text) {
    std::vector<Line> lines;
    for (size_t number = 1; !text.empty(); ++number) {
        const size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::string_view content = trimmed(line);
        if (content.empty() || content.starts_with('#')) continue;
        if (kBlank.contains(line.front()) && !lines.empty()) {
            lines.back().text += "\n";
            lines.back().text += content;
        } else {
            lines.push_back({number, std::string(content)});
        }
    }
    return lines;
}

// ---- Values -------------------------------------------------------------------------------------

std::string kind_of(const interpret::Array& array) {
    if (array.dtype == tensor::DType::Str) return "str";
    if (array.dtype == tensor::DType::Bool) return "bool";
    return tensor::is_real(array.dtype) ? "real" : "int";
}

Result<interpret::Array> as_type(interpret::Array array, const std::string& type) {
    const std::string kind = kind_of(array);
    if (kind == "int" && type == "real") {
        array.dtype = tensor::DType::F32;
        array.reals.assign(array.integers.begin(), array.integers.end());
        array.integers.clear();
    } else if (kind != type && array.size > 0) {
        return std::unexpected(Error{fmt::format("the values are {}, not {}", kind, type)});
    }
    return array;
}

bool is_type(std::string_view word) {
    return word == "real" || word == "int" || word == "bool" || word == "str";
}

// `NAME[: TYPE] = VALUES`
Result<TestTensor> read_tensor(std::string_view text) {
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos)
        return std::unexpected(Error{"expected `NAME = VALUES`, such as `x = [1, 2]`"});
    const std::string_view head = trimmed(text.substr(0, equals));
    const size_t colon = head.find(':');
    TestTensor tensor;
    tensor.name = trimmed(head.substr(0, colon));
    if (tensor.name.empty()) return std::unexpected(Error{"a name is missing before `=`"});
    if (colon != std::string_view::npos) tensor.type = trimmed(head.substr(colon + 1));
    if (!tensor.type.empty() && !is_type(tensor.type))
        return std::unexpected(Error{
            fmt::format("`{}` is no type; the types are real, int, bool and str", tensor.type)});
    const auto decoded = tensor::decode_json(trimmed(text.substr(equals + 1)));
    if (!decoded) return std::unexpected(decoded.error());
    LEMMA_TRY(interpret::Array array, interpret::to_array(*decoded));
    if (tensor.type.empty()) {
        const std::string kind = kind_of(array);
        tensor.type = kind == "int" ? "real" : kind;
    }
    LEMMA_TRY(tensor.values, as_type(std::move(array), tensor.type));
    return tensor;
}

Result<Tolerance> read_tolerance(std::string_view text) {
    std::array<double, 2> numbers{};
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    bool good = true;
    for (double& number : numbers) {
        while (at != end && kBlank.contains(*at)) ++at;
        const auto read = std::from_chars(at, end, number);
        good = good && read.ec == std::errc() && std::isfinite(number) && number >= 0;
        at = read.ptr;
    }
    if (!good || at != end)
        return std::unexpected(Error{"expected two tolerances, as in `tolerance 1e-3 1e-6`"});
    return Tolerance{.relative = numbers[0], .absolute = numbers[1]};
}

Result<ExpectedError> read_error(std::string_view text) {
    const size_t colon = text.find(':');
    constexpr size_t kMostBytes = 64;
    ExpectedError error{.kind = std::string(trimmed(text.substr(0, colon)).substr(0, kMostBytes)),
                        .words = {}};
    if (colon != std::string_view::npos) error.words = trimmed(text.substr(colon + 1));
    std::vector<std::string_view> kinds;
    for (const diag::KindInfo& kind : diag::all_kinds()) kinds.push_back(kind.id);
    if (std::ranges::find(kinds, error.kind) != kinds.end()) return error;
    const std::string_view near = diag::nearest_name(error.kind, kinds);
    return std::unexpected(
        Error{fmt::format("`{}` is no kind of error; {}",
                          error.kind,
                          near.empty() ? std::string("`lemma explain` lists them")
                                       : fmt::format("did you mean `{}`?", near))});
}

// ---- Lines --------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 14> kWords = {"model",
                                                     "import",
                                                     "case",
                                                     "call",
                                                     "graph",
                                                     "attribute",
                                                     "declare",
                                                     "input",
                                                     "output",
                                                     "after",
                                                     "variable",
                                                     "tolerance",
                                                     "error",
                                                     "step"};

class Reader {
public:
    Result<std::vector<TestCase>> read(std::string_view text);

private:
    Result<void> line(std::string_view word, std::string_view rest, size_t number);
    Result<void> case_line(std::string_view word, std::string_view rest);
    Result<void> finish() const;
    TestStep& step() { return cases_.back().steps.back(); }

    TestCase common_;  // what stands above the first case
    std::vector<TestCase> cases_;
};

Result<void> add_tensor(std::string_view text, std::vector<TestTensor>& list) {
    LEMMA_TRY(TestTensor tensor, read_tensor(text));
    if (std::ranges::find(list, tensor.name, &TestTensor::name) != list.end())
        return std::unexpected(Error{fmt::format("`{}` has a value already", tensor.name)});
    if (list.size() == kMaxTensors)
        return std::unexpected(Error{fmt::format("more than {} tensors of a kind", kMaxTensors)});
    list.push_back(std::move(tensor));
    return {};
}

Result<void> Reader::case_line(std::string_view word, std::string_view rest) {
    TestCase& test = cases_.back();
    constexpr size_t kMostBytes = 64;  // of a word in a message
    if (word == "call") {
        test.call += (test.call.empty() ? "" : "\n") + std::string(rest);
    } else if (word == "graph") {
        test.graph = rest;
    } else if (word == "attribute") {
        test.attributes.emplace_back(rest);
    } else if (word == "declare") {
        test.declared.emplace_back(rest);
    } else if (word == "input") {
        return add_tensor(rest, step().inputs);
    } else if (word == "output") {
        return add_tensor(rest, step().outputs);
    } else if (word == "after") {
        return add_tensor(rest, step().after);
    } else if (word == "variable") {
        return add_tensor(rest, test.variables);
    } else if (word == "tolerance") {
        LEMMA_TRY(test.tolerance, read_tolerance(rest));
    } else if (word == "error") {
        LEMMA_TRY(step().error, read_error(rest));
    } else if (word == "step") {
        test.steps.emplace_back();
    } else {
        word = word.substr(0, kMostBytes);
        const std::string_view near = diag::nearest_name(word, {kWords.begin(), kWords.end()});
        return std::unexpected(
            Error{fmt::format("`{}` begins no line of a test{}",
                              word,
                              near.empty() ? "" : fmt::format("; did you mean `{}`?", near))});
    }
    return {};
}

Result<void> Reader::line(std::string_view word, std::string_view rest, size_t number) {
    TestCase& here = cases_.empty() ? common_ : cases_.back();
    if (word == "case") {
        LEMMA_TRY(finish());
        if (cases_.size() == kMaxCases)
            return std::unexpected(Error{fmt::format("more than {} cases", kMaxCases)});
        cases_.push_back(common_);
        cases_.back().name = rest;
        cases_.back().line = number;
        cases_.back().steps.resize(1);
        return {};
    }
    if (word == "model") {
        if (rest.size() > kMaxPath) return std::unexpected(Error{"the path is too long"});
        here.model = rest;
        return {};
    }
    if (word == "import") {
        std::string_view module = rest;
        if (module.ends_with(';')) module.remove_suffix(1);
        if (here.imports.size() == kMaxImports || module.size() > kMaxPath)
            return std::unexpected(Error{fmt::format("more than {} imports", kMaxImports)});
        here.imports.emplace_back(trimmed(module));
        return {};
    }
    if (cases_.empty() && word == "tolerance") {
        LEMMA_TRY(common_.tolerance, read_tolerance(rest));
        return {};
    }
    if (cases_.empty())
        return std::unexpected(
            Error{fmt::format("`{}` stands before the first `case`", word.substr(0, 64))});
    return case_line(word, rest);
}

// Every run of a case expects something.
Result<void> Reader::finish() const {
    if (cases_.empty()) return {};
    const TestCase& test = cases_.back();
    for (const TestStep& step : test.steps) {
        if (step.outputs.empty() && step.after.empty() && !step.error)
            return std::unexpected(Error{
                fmt::format("the case `{}` has a run that expects nothing: add an `output` or "
                            "an `error`",
                            test.name)});
    }
    return {};
}

Result<std::vector<TestCase>> Reader::read(std::string_view text) {
    size_t last = 1;
    const auto at = [](size_t number, const Error& error) {
        return std::unexpected(Error{fmt::format("{}: {}", number, error.message)});
    };
    for (const Line& each : lines_of(text)) {
        const std::string_view all = each.text;
        const size_t end = std::min(all.find_first_of(" \t\n"), all.size());
        const auto done = line(all.substr(0, end), trimmed(all.substr(end)), each.number);
        if (!done) return at(each.number, done.error());
        last = each.number;
    }
    if (const auto done = finish(); !done) return at(last, done.error());
    if (cases_.empty()) return at(last, Error{"no `case` in it"});
    return std::move(cases_);
}

}  // namespace

Result<std::vector<TestCase>> read_test_cases(std::string_view text) { return Reader().read(text); }

}  // namespace lemma::driver

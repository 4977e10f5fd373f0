// SPDX-License-Identifier: Apache-2.0
#include "support/number_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include "support/golden_file.h"

namespace lemma::testing {

namespace {

// A line with its continuation lines: `input x: real[2] = 1 2` has the keyword `input`.
struct Statement {
    size_t line = 0;  // one-based
    std::string keyword;
    std::string rest;
};

std::unexpected<Error> bad(size_t line, const std::string& message) {
    return std::unexpected(Error{fmt::format("{}: {}", line, message)});
}

std::string trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> found;
    for (std::string word; stream >> word;) found.push_back(word);
    return found;
}

Result<std::vector<Statement>> split_statements(std::string_view text) {
    std::vector<Statement> statements;
    size_t number = 0;
    for (const std::string& line : split_lines(std::string(text))) {
        ++number;
        const std::string content = trimmed(line);
        if (content.empty() || content.front() == '#') continue;
        if (line.front() == ' ' || line.front() == '\t') {
            if (statements.empty()) return bad(number, "nothing above that this line continues");
            statements.back().rest += " " + content;
            continue;
        }
        const size_t end = std::min(content.find(' '), content.size());
        statements.push_back({number, content.substr(0, end), trimmed(content.substr(end))});
    }
    return statements;
}

template <typename T>
std::optional<T> number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// The text before the `=`, and the words after it.
struct Head {
    std::string name;
    std::string type;
    tensor::Shape shape;
    std::vector<std::string> values;
};

Result<Head> read_head(const Statement& statement) {
    const std::string& text = statement.rest;
    const size_t colon = text.find(": ");
    const size_t open = text.find('[');
    const size_t close = text.find(']');
    const size_t equals = text.find('=');
    if (colon == std::string::npos || open == std::string::npos || close == std::string::npos ||
        equals == std::string::npos || !(colon < open && open < close && close < equals)) {
        return bad(statement.line, "expected `NAME: TYPE[EXTENTS] = VALUES`");
    }
    Head head;
    head.name = trimmed(text.substr(0, colon));
    head.type = trimmed(text.substr(colon + 1, open - colon - 1));
    head.values = words(text.substr(equals + 1));
    std::string extents = text.substr(open + 1, close - open - 1);
    for (char& c : extents) c = c == ',' ? ' ' : c;
    for (const std::string& word : words(extents)) {
        const auto extent = number<int64_t>(word);
        if (!extent || *extent < 0)
            return bad(statement.line, fmt::format("`{}` is no extent", word));
        head.shape.push_back(*extent);
    }
    return head;
}

std::optional<tensor::DType> dtype_of(const std::string& type) {
    if (type == "real") return tensor::DType::F32;
    if (type == "int") return tensor::DType::I64;
    if (type == "bool") return tensor::DType::Bool;
    if (type == "str") return tensor::DType::Str;
    return std::nullopt;
}

bool set_value(interpret::Array& array, size_t at, const std::string& word) {
    if (array.dtype == tensor::DType::Str) {
        array.strings[at] = word;
    } else if (array.dtype == tensor::DType::Bool) {
        array.integers[at] = word == "true";
        return word == "true" || word == "false";
    } else if (array.dtype == tensor::DType::I64) {
        const auto value = number<int64_t>(word);
        array.integers[at] = value.value_or(0);
        return value.has_value();
    } else {
        const auto value = number<double>(word);
        array.reals[at] = value.value_or(0);
        return value.has_value();
    }
    return true;
}

Result<NumberTensor> read_tensor(const Statement& statement) {
    LEMMA_TRY(const Head head, read_head(statement));
    const auto dtype = dtype_of(head.type);
    if (!dtype) return bad(statement.line, fmt::format("no type `{}`", head.type));
    LEMMA_TRY(interpret::Array array, interpret::Array::zeros(*dtype, head.shape));
    if (static_cast<size_t>(array.size) != head.values.size()) {
        return bad(statement.line,
                   fmt::format("{} values, expected {} for shape {}",
                               head.values.size(),
                               array.size,
                               tensor::shape_text(head.shape)));
    }
    for (size_t i = 0; i < head.values.size(); ++i) {
        if (set_value(array, i, head.values[i])) continue;
        return bad(statement.line, fmt::format("`{}` is no {}", head.values[i], head.type));
    }
    return NumberTensor{head.name, head.type, std::move(array)};
}

Result<NumberSample> read_sample(const Statement& statement) {
    LEMMA_TRY(const Head head, read_head(statement));
    NumberSample sample{.name = head.name, .type = head.type, .shape = head.shape};
    const std::vector<std::pair<std::string_view, double*>> parts = {
        {"least", &sample.least},
        {"greatest", &sample.greatest},
        {"mean", &sample.mean},
        {"deviation", &sample.deviation}};
    for (size_t i = 0; i < parts.size(); ++i) {
        const auto value =
            head.values.size() == 2 * parts.size() && head.values[2 * i] == parts[i].first
                ? number<double>(head.values[2 * i + 1])
                : std::nullopt;
        if (!value) return bad(statement.line, "expected `least A greatest B mean C deviation D`");
        *parts[i].second = *value;
    }
    return sample;
}

class Reader {
public:
    Result<std::vector<NumberCase>> read(std::string_view text) {
        LEMMA_TRY(const std::vector<Statement> statements, split_statements(text));
        for (const Statement& statement : statements) {
            LEMMA_TRY(read(statement));
        }
        if (cases_.empty()) return bad(1, "no case");
        LEMMA_TRY(check_last());
        return std::move(cases_);
    }

private:
    Result<void> read(const Statement& statement) {
        if (statement.keyword == "case") return begin_case(statement);
        if (cases_.empty()) return bad(statement.line, "expected `case NAME` first");
        NumberCase& current = cases_.back();
        NumberStep& step = current.steps.back();
        const std::string& keyword = statement.keyword;
        if (keyword == "compose") {
            current.compose += statement.rest + "\n";
        } else if (keyword == "input") {
            return add_tensor(statement, step.inputs);
        } else if (keyword == "output") {
            return add_tensor(statement, step.outputs);
        } else if (keyword == "after") {
            return add_tensor(statement, step.variables);
        } else if (keyword == "variable") {
            return add_tensor(statement, current.variables);
        } else if (keyword == "sample") {
            LEMMA_TRY(NumberSample sample, read_sample(statement));
            step.samples.push_back(std::move(sample));
        } else if (keyword == "error" && !statement.rest.empty()) {
            step.error = statement.rest;
        } else if (keyword == "step") {
            current.steps.emplace_back();
        } else if (keyword == "declare") {
            const size_t colon = statement.rest.find(':');
            if (colon == std::string::npos) return bad(statement.line, "expected `NAME: TYPE`");
            current.declared[trimmed(statement.rest.substr(0, colon))] =
                trimmed(statement.rest.substr(colon + 1));
        } else if (keyword == "tolerance") {
            return read_tolerance(statement, current);
        } else {
            return bad(statement.line, fmt::format("`{}` begins no line of a case", keyword));
        }
        return {};
    }

    Result<void> begin_case(const Statement& statement) {
        if (statement.rest.empty()) return bad(statement.line, "a case needs a name");
        LEMMA_TRY(check_last());
        for (const NumberCase& other : cases_) {
            if (other.name == statement.rest)
                return bad(statement.line, "this case is there twice");
        }
        cases_.push_back({.name = statement.rest, .line = statement.line, .steps = {{}}});
        return {};
    }

    static Result<void> add_tensor(const Statement& statement, std::vector<NumberTensor>& to) {
        LEMMA_TRY(NumberTensor tensor, read_tensor(statement));
        for (const NumberTensor& other : to) {
            if (other.name == tensor.name)
                return bad(statement.line, fmt::format("`{}` is there twice", tensor.name));
        }
        to.push_back(std::move(tensor));
        return {};
    }

    static Result<void> read_tolerance(const Statement& statement, NumberCase& to) {
        const std::vector<std::string> parts = words(statement.rest);
        const auto rtol = parts.size() == 2 ? number<double>(parts[0]) : std::nullopt;
        const auto atol = parts.size() == 2 ? number<double>(parts[1]) : std::nullopt;
        if (!rtol || !atol) return bad(statement.line, "expected `tolerance RTOL ATOL`");
        to.rtol = *rtol;
        to.atol = *atol;
        return {};
    }

    Result<void> check_last() {
        if (cases_.empty()) return {};
        const NumberCase& last = cases_.back();
        if (last.compose.empty()) return bad(last.line, "this case computes nothing");
        for (const NumberStep& step : last.steps) {
            if (step.outputs.empty() && step.samples.empty() && step.error.empty())
                return bad(last.line, "this case expects nothing");
        }
        return {};
    }

    std::vector<NumberCase> cases_;
};

}  // namespace

Result<std::vector<NumberCase>> read_numbers(std::string_view text) { return Reader().read(text); }

}  // namespace lemma::testing

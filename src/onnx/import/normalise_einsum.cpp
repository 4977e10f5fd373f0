// SPDX-License-Identifier: Apache-2.0
// Einsum. The definition takes numbers instead of the letters of the equation.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "onnx/import/normalise.h"

namespace lemma::onnx {

namespace {

constexpr size_t kMaxOperands = 4;

// One operand or the result: the letters before the ellipsis and after it.
struct Term {
    std::string before, after;
    bool ellipsis = false;
};

std::optional<Term> parse_term(const std::string& text) {
    Term term;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (text.compare(i, 3, "...") == 0 && !term.ellipsis) {
            term.ellipsis = true;
            i += 2;
        } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            (term.ellipsis ? term.after : term.before) += c;
        } else {
            return std::nullopt;
        }
    }
    return term;
}

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == at) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

// Numbers the axes of the ellipsis first, then letters in order of appearance.
class Numbers {
public:
    explicit Numbers(size_t ellipsis_rank) : ellipsis_(ellipsis_rank) {}

    std::vector<int64_t> of(const Term& term, size_t ellipsis_rank) {
        std::vector<int64_t> axes;
        for (const char c : term.before) axes.push_back(letter(c));
        for (size_t i = ellipsis_ - ellipsis_rank; term.ellipsis && i < ellipsis_; ++i)
            axes.push_back(static_cast<int64_t>(i));
        for (const char c : term.after) axes.push_back(letter(c));
        return axes;
    }
    int64_t count() const { return static_cast<int64_t>(ellipsis_ + letters_.size()); }

private:
    int64_t letter(char c) {
        size_t at = letters_.find(c);
        if (at == std::string::npos) {
            at = letters_.size();
            letters_ += c;
        }
        return static_cast<int64_t>(ellipsis_ + at);
    }

    size_t ellipsis_;
    std::string letters_;
};

// Without an arrow: the ellipsis, and letters that occur once, in alphabetical order.
Term implied_result(const std::vector<Term>& terms) {
    std::string all;
    Term result;
    for (const Term& term : terms) {
        all += term.before + term.after;
        result.ellipsis = result.ellipsis || term.ellipsis;
    }
    std::ranges::sort(all);
    for (const char c : all) {
        if (std::ranges::count(all, c) == 1) result.after += c;
    }
    if (!result.ellipsis) std::swap(result.before, result.after);
    return result;
}

using Axes = std::vector<int64_t>;

// The definition takes few operands. If there are more, the first two are contracted into one that
// keeps the axes needed later, again and again.
void contract_first(Importer& importer,
                    NodeCall& call,
                    std::vector<Axes>& operands,
                    const Axes& output,
                    int64_t count) {
    while (operands.size() > kMaxOperands) {
        const auto is_needed = [&](int64_t axis) {
            return std::ranges::find(output, axis) != output.end() ||
                   std::any_of(operands.begin() + 2, operands.end(), [&](const Axes& axes) {
                       return std::ranges::find(axes, axis) != axes.end();
                   });
        };
        Axes kept;
        for (const Axes& axes : {operands[0], operands[1]}) {
            for (const int64_t axis : axes) {
                if (is_needed(axis) && std::ranges::find(kept, axis) == kept.end())
                    kept.push_back(axis);
            }
        }
        Attributes attributes;
        attributes.set_int("count", count);
        attributes.set_ints("a_axes", operands[0]);
        attributes.set_ints("b_axes", operands[1]);
        attributes.set_ints("output_axes", kept);
        call.inputs[1] =
            importer.make(call, "Einsum", {call.inputs[0], call.inputs[1]}, attributes);
        operands[1] = std::move(kept);
        call.inputs.erase(call.inputs.begin());
        operands.erase(operands.begin());
    }
}

}  // namespace

bool normalise_einsum(Importer& importer, NodeCall& call) {
    std::string equation = call.attributes.text("equation").value_or("");
    std::erase(equation, ' ');
    const auto wrong = [&](std::string_view why) {
        return importer.fail(
            call, DiagKind::BadArgument, fmt::format("`equation` is `{}`: {}", equation, why));
    };
    const size_t arrow = equation.find("->");
    const auto texts = split(equation.substr(0, arrow), ',');
    if (texts.size() != call.inputs.size()) {
        return wrong(fmt::format(
            "it has {} operands, but there are {} inputs", texts.size(), call.inputs.size()));
    }
    std::vector<Term> terms;
    std::vector<size_t> ellipsis_ranks;
    for (size_t i = 0; i < texts.size(); ++i) {
        const auto term = parse_term(texts[i]);
        if (!term || !call.has_input(i)) return wrong("an operand is not letters and `...`");
        const size_t rank = importer.rank(call.inputs[i]);
        const size_t letters = term->before.size() + term->after.size();
        if (letters > rank || (letters < rank && !term->ellipsis))
            return wrong(fmt::format("operand {} has {} letters, but rank {}", i, letters, rank));
        terms.push_back(*term);
        ellipsis_ranks.push_back(rank - letters);
    }
    auto result = arrow == std::string::npos ? std::optional(implied_result(terms))
                                             : parse_term(equation.substr(arrow + 2));
    if (!result) return wrong("the result is not letters and `...`");
    const size_t ellipsis = *std::ranges::max_element(ellipsis_ranks);
    Numbers numbers(ellipsis);
    constexpr std::array<const char*, kMaxOperands> kNames = {
        "a_axes", "b_axes", "c_axes", "d_axes"};
    call.attributes.erase("equation");
    std::vector<Axes> operands;
    for (size_t i = 0; i < terms.size(); ++i)
        operands.push_back(numbers.of(terms[i], ellipsis_ranks[i]));
    const int64_t count = numbers.count();
    const Axes output = numbers.of(*result, ellipsis);
    if (numbers.count() != count) return wrong("the result has letters that no operand has");
    contract_first(importer, call, operands, output, count);
    for (size_t i = 0; i < operands.size(); ++i) call.attributes.set_ints(kNames[i], operands[i]);
    call.attributes.set_ints("output_axes", output);
    call.attributes.set_int("count", count);
    return true;
}

}  // namespace lemma::onnx

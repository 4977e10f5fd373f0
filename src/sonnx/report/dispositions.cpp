// SPDX-License-Identifier: Apache-2.0
// Follows the drafts: the first that applies of nominal, ruled out by a precondition, and an error
// that is described. A precondition counts only if the model shows that it holds.
#include "sonnx/report/dispositions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "diag/utf8.h"
#include "onnx/import.h"

namespace lemma::sonnx {

std::string_view condition_text(Condition condition) {
    switch (condition) {
        case Condition::Overflow:
            return "overflow";
        case Condition::Invalid:
            return "invalid operation (NaN)";
        case Condition::DivisionByZero:
            return "division by zero";
    }
    return "";
}

std::string_view disposal_text(Disposal disposal) {
    switch (disposal) {
        case Disposal::CannotOccur:
            return "cannot occur";
        case Disposal::Nominal:
            return "nominal";
        case Disposal::RuledOut:
            return "ruled out";
        case Disposal::NotEstablished:
            return "not established";
        case Disposal::Possible:
            return "possible";
    }
    return "";
}

namespace {

using enum Disposal;

// Constants with more elements are not read for the report.
constexpr int64_t kMaxRead = int64_t{1} << 24;

enum class Numbers : uint8_t { Unknown, Real, Signed, Unsigned, Other };

Numbers numbers_of(int64_t elem_type) {
    const auto dtype = onnx::memory_type(elem_type);
    if (!dtype) return elem_type == 0 ? Numbers::Unknown : Numbers::Other;
    if (tensor::is_real(*dtype)) return Numbers::Real;
    if (!tensor::is_integer(*dtype)) return Numbers::Other;
    return tensor::is_signed(*dtype) ? Numbers::Signed : Numbers::Unsigned;
}

Disposition none(std::string by) { return {CannotOccur, std::move(by)}; }
Disposition nominal(std::string by) { return {Nominal, std::move(by)}; }
Disposition ruled_out(std::string by) { return {RuledOut, std::move(by)}; }
Disposition open(std::string by) { return {NotEstablished, std::move(by)}; }

Dispositions all(const Disposition& each) { return {each, each, each}; }

class Disposing {
public:
    Disposing(const onnx::Node& node, const View& view) : node_(node), view_(view) {
        const auto type =
            has_input(node, first_number()) ? view.type(node.inputs[first_number()]) : std::nullopt;
        numbers_ = type ? numbers_of(type->elem_type) : Numbers::Unknown;
    }

    Dispositions run() const;

private:
    bool is(std::initializer_list<std::string_view> ops) const {
        return std::ranges::find(ops, node_.op) != ops.end();
    }
    bool is_real() const { return numbers_ == Numbers::Real; }
    size_t first_number() const { return node_.op == "Where" ? 1 : 0; }

    std::optional<tensor::Tensor> constant(size_t input) const;
    bool every(size_t input, bool (*holds)(double)) const;
    std::string constant_text(size_t input, std::string_view what) const;

    Dispositions sum() const;
    Dispositions elementwise_sum() const;
    Dispositions division() const;
    Dispositions modulo() const;
    Dispositions power() const;
    Dispositions absolute() const;
    Dispositions negation() const;
    Dispositions leaky() const;
    Dispositions normalisation() const;
    Dispositions mean() const;
    Dispositions cast() const;
    std::optional<Dispositions> function() const;

    const onnx::Node& node_;
    const View& view_;
    Numbers numbers_;
};

std::optional<tensor::Tensor> Disposing::constant(size_t input) const {
    if (!has_input(node_, input)) return std::nullopt;
    const onnx::TensorData* data = view_.constant_data(node_.inputs[input]);
    if (!data || data->proto.external) return std::nullopt;
    const auto count = element_count(data->proto.shape);
    if (!count || *count > kMaxRead) return std::nullopt;
    auto tensor = onnx::decode_tensor(*data, {});
    if (!tensor || !(tensor::is_real(tensor->dtype()) || tensor::is_integer(tensor->dtype())))
        return std::nullopt;
    return std::move(*tensor);
}

// Whether the input is constant, and all of its elements satisfy the predicate.
bool Disposing::every(size_t input, bool (*holds)(double)) const {
    const auto tensor = constant(input);
    if (!tensor) return false;
    for (int64_t i = 0; i < tensor->size(); ++i) {
        const double value = tensor::is_integer(tensor->dtype())
                                 ? static_cast<double>(tensor->integer(i))
                                 : tensor->real(i);
        if (!holds(value)) return false;
    }
    return true;
}

std::string Disposing::constant_text(size_t input, std::string_view what) const {
    return fmt::format(
        "the elements of the constant `{}` are {}", diag::printable(node_.inputs[input]), what);
}

constexpr auto kNotZero = [](double value) { return value != 0; };
constexpr auto kNotNegative = [](double value) { return value >= 0; };
constexpr auto kWholeNotNegative = [](double value) {
    return value >= 0 && std::floor(value) == value;
};

const std::string kNoDivision = "the operation does not divide";
const std::string kIntegers = "integers have no NaN";

// Chains of additions and products: the text defines a sum as iterated Add and Mul.
Dispositions Disposing::sum() const {
    if (!is_real())
        return {nominal("sums are iterated Add and Mul, which wrap: E_ADD_INT_FUNC_0010, "
                        "E_MUL_INT_FUNC_0010 (2026-10)"),
                none(kIntegers),
                none(kNoDivision)};
    const std::string by =
        "sums are iterated Add and Mul: E_ADD_FLOAT_FUNC_0010, E_MUL_FLOAT_FUNC_0010 (2026-10)";
    return {nominal(by + ", ±inf"), nominal(by + ", NaN"), none(kNoDivision)};
}

Dispositions Disposing::elementwise_sum() const {
    std::string op = node_.op;
    std::ranges::transform(op, op.begin(), [](char c) { return c >= 'a' ? c - 'a' + 'A' : c; });
    const auto tag = [&](std::string_view family) {
        return fmt::format("E_{}_{}_FUNC_0010 (2026-10)", op, family);
    };
    if (!is_real()) {
        const bool has_uint = node_.op != "Sub";
        return {nominal(tag(numbers_ == Numbers::Unsigned && has_uint ? "UINT" : "INT") +
                        ": wraps modulo 2^n"),
                none(kIntegers),
                none(kNoDivision)};
    }
    const std::string_view invalid = node_.op == "Mul" ? "0 * inf" : "inf - inf";
    return {nominal(tag("FLOAT") + ": ±inf"),
            nominal(fmt::format("{}: {} gives NaN", tag("FLOAT"), invalid)),
            none(kNoDivision)};
}

Dispositions Disposing::division() const {
    const bool safe = every(1, kNotZero);
    if (is_real()) {
        const std::string text = "Div, function table of float (2026-10), read as IEEE 754";
        return {nominal(text + ": ±inf"),
                nominal(text + ": 0/0 and inf/inf give NaN"),
                safe ? ruled_out(constant_text(1, "not 0")) : nominal(text + ": ±inf (X9)")};
    }
    const bool no_minus_one = every(1, [](double value) { return value != -1; });
    return {numbers_ == Numbers::Unsigned ? none("a quotient of unsigned numbers is no larger")
            : no_minus_one                ? ruled_out(constant_text(1, "not -1"))
                           : open("minint / -1: no clause decides it, nothing shows it absent"),
            none(kIntegers),
            safe ? ruled_out(constant_text(1, "not 0") + ": E_DIV_INT_CONSTR_B_0030 holds")
                 : open("precondition E_DIV_INT_CONSTR_B_0030 (B is not 0) is not shown")};
}

Dispositions Disposing::modulo() const {
    return {none("a remainder is smaller than the divisor"),
            is_real() ? open("no document; the remainder by 0 or of inf is NaN") : none(kIntegers),
            every(1, kNotZero) ? ruled_out(constant_text(1, "not 0"))
                               : open("no document, and the divisor may be 0")};
}

Dispositions Disposing::power() const {
    const bool whole = every(1, kWholeNotNegative);
    const std::string text = "Pow, function table of float (2026-08)";
    if (!is_real()) {
        return {open("Pow of integers: overflow depends on the implementation (2026-08)"),
                none(kIntegers),
                whole ? ruled_out(constant_text(1, "not negative"))
                      : open("precondition C3 of Pow (B >= 0) is not shown")};
    }
    return {nominal(text + ": ±inf"),
            whole ? ruled_out(constant_text(1, "whole and not negative"))
                  : nominal(text + ": a negative base with a fractional exponent gives NaN"),
            whole ? ruled_out(constant_text(1, "not negative"))
                  : nominal(text + ": 0 to a negative exponent gives inf")};
}

Dispositions Disposing::absolute() const {
    if (is_real()) return all(none("changes the sign only"));
    return {numbers_ == Numbers::Unsigned
                ? none("unsigned numbers stay as they are")
                : open("precondition E_ABS_INT_CONSTR_X_020 (X is not minint) is not shown"),
            none(kIntegers),
            none(kNoDivision)};
}

Dispositions Disposing::negation() const {
    if (is_real()) return all(none("changes the sign only"));
    return {nominal("E_NEG_INT_FUNC_0010 (2026-10): minint stays minint"),
            none(kIntegers),
            none(kNoDivision)};
}

Dispositions Disposing::leaky() const {
    const onnx::Attribute* alpha = onnx::find_attribute(node_, "alpha");
    const bool known = alpha && alpha->floats.size() == 1;
    const double value = known ? alpha->floats[0] : 0.01;
    const std::string text = "LeakyRelu, function of float (2026-08)";
    return {std::abs(value) <= 1 ? ruled_out("the attribute `alpha` is at most 1")
                                 : nominal(text + ": ±inf"),
            std::isfinite(value) && value != 0 ? ruled_out("the attribute `alpha` is finite, not 0")
                                               : nominal(text + ": NaN"),
            none(kNoDivision)};
}

Dispositions Disposing::normalisation() const {
    const onnx::Attribute* epsilon = onnx::find_attribute(node_, "epsilon");
    const bool positive = !epsilon || (epsilon->floats.size() == 1 && epsilon->floats[0] > 0);
    const bool safe = positive && every(4, kNotNegative);
    const std::string steps = "steps of BatchNormalization (2026-08) by E_ADD, E_MUL";
    const std::string why =
        safe ? constant_text(4, "not negative") + ", and `epsilon` is positive" : "";
    return {nominal(steps + ": ±inf"),
            safe ? nominal(steps + ": NaN only from infinities")
                 : open("input_var + epsilon may be negative: its constraint is not shown"),
            safe ? ruled_out(why) : open("input_var + epsilon may be 0: nothing shows it absent")};
}

Dispositions Disposing::mean() const {
    return {open("no document; the sum may exceed the largest number"),
            is_real() ? open("no document; NaN only from infinities") : none(kIntegers),
            ruled_out("the divisor counts elements, which S007 keeps at 1 or more")};
}

Dispositions Disposing::cast() const {
    const auto to = int_attribute(node_, "to");
    const Numbers target = to ? numbers_of(*to) : Numbers::Unknown;
    const bool narrows = target != Numbers::Real;
    if (numbers_ == Numbers::Other || target == Numbers::Other)
        return all(open("no document for this conversion"));
    return {open("no document; the target type may not hold every value"),
            is_real() && narrows ? open("no document; NaN has no integer")
                                 : none("the conversion makes no NaN"),
            none(kNoDivision)};
}

// Operators with one input that compute a function of it.
std::optional<Dispositions> Disposing::function() const {
    const Disposition no_division = none(kNoDivision);
    const auto kept = none("NaN arises from NaN only");
    if (node_.op == "Exp")
        return Dispositions{
            nominal("Exp, function of float (2026-08): +inf above ln(max)"), kept, no_division};
    if (node_.op == "Log")
        return Dispositions{none("the logarithm of a number is small"),
                            open("Log, error condition (2026-08): a negative input gives NaN"),
                            nominal("Log, function of float (2026-08): ±0 gives -inf")};
    if (node_.op == "Sqrt")
        return Dispositions{none("the root of a number is no larger than it or 1"),
                            open("Sqrt, function of float (2026-08): a negative input gives NaN"),
                            no_division};
    if (node_.op == "Sigmoid")
        return Dispositions{
            none("the exponential is of -|x|"), kept, none("the divisor is 1 or more")};
    if (node_.op == "Tanh" || node_.op == "Atan" || node_.op == "Erf")
        return Dispositions{none("results are bounded"), kept, no_division};
    if (node_.op == "Sin")
        return Dispositions{none("results are bounded"),
                            nominal("E_SIN_FLOAT_FUNC_0010 (2026-10): ±inf gives NaN"),
                            no_division};
    if (node_.op == "Acos")
        return Dispositions{
            none("results are bounded"),
            open("precondition E_ACOS_FLOAT_CONSTR_X_0010 (X in [-1, 1]) is not shown"),
            no_division};
    if (node_.op == "Asin")
        return Dispositions{none("results are bounded"),
                            nominal("Asin (draft 2026-10): NaN outside of [-1, 1]"),
                            no_division};
    if (node_.op == "Softmax")
        return Dispositions{ruled_out("exponents are shifted by the maximum, so none exceeds 0"),
                            nominal("Softmax, function of float (2026-08): NaN and +inf give NaN"),
                            ruled_out("the maximum adds 1 to the divisor")};
    return std::nullopt;
}

Dispositions Disposing::run() const {
    if (!onnx::is_default_domain(node_.domain)) return all(open("the operator has no document"));
    if (is({"Concat",
            "Flatten",
            "Reshape",
            "Transpose",
            "Slice",
            "Split",
            "Squeeze",
            "Unsqueeze",
            "Expand",
            "Identity",
            "Gather",
            "Shape",
            "Constant",
            "ConstantOfShape",
            "Pad",
            "ScatterND"}))
        return all(none("moves elements and does not compute"));
    if (is({"Relu", "Max", "Min", "Clip", "MaxPool", "Where", "Less", "Equal", "ArgMax", "Not"}))
        return all(none("compares and selects elements"));
    if (numbers_ == Numbers::Unknown) return all(open("the element type is not known"));
    if (is({"Add", "Sub", "Mul"})) return elementwise_sum();
    if (is({"Conv", "MatMul", "Gemm"})) return sum();
    if (node_.op == "Div") return division();
    if (node_.op == "Mod") return modulo();
    if (node_.op == "Pow") return power();
    if (node_.op == "Abs") return absolute();
    if (node_.op == "Neg") return negation();
    if (node_.op == "LeakyRelu") return leaky();
    if (node_.op == "BatchNormalization") return normalisation();
    if (is({"GlobalAveragePool", "ReduceMean"})) return mean();
    if (node_.op == "Cast") return cast();
    if (const auto found = function()) return *found;
    if (node_.op == "LSTM") {
        Dispositions result = sum();
        result[2] = none("activations divide by 1 or more");
        return result;
    }
    return all(open("the operator has no document that decides it"));
}

}  // namespace

Dispositions static_dispositions(const onnx::Node& node, const View& view) {
    return Disposing(node, view).run();
}

}  // namespace lemma::sonnx

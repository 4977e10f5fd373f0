// SPDX-License-Identifier: Apache-2.0
#include "interpret/state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/checked.h"

namespace lemma::interpret {

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

// Solves an extent such as `2*S + 1` for its only unknown symbol.
std::optional<std::pair<ir::SymId, int64_t>> solve(const ir::SymbolPool& symbols,
                                                   ir::SymId extent,
                                                   int64_t size) {
    const ir::SymNode& node = symbols.node(extent);
    if (node.kind != ir::SymKind::Polynomial) return std::nullopt;
    const ir::SymTerm* linear = nullptr;
    int64_t rest = 0;
    for (const ir::SymTerm& term : node.terms) {
        const auto& factors = term.factors;
        if (factors.empty()) {
            rest = term.coefficient;
        } else if (!linear && factors.size() == 1 && factors[0].power == 1) {
            linear = &term;
        } else {
            return std::nullopt;
        }
    }
    if (!linear || linear->coefficient <= 0) return std::nullopt;
    const ir::SymId symbol = linear->factors[0].atom;
    const auto part = checked_sub(size, rest);
    if (symbols.node(symbol).kind != ir::SymKind::Symbol || !part) return std::nullopt;
    const auto range = symbols.range(symbol);
    const int64_t value = *part / linear->coefficient;
    const bool exact = *part % linear->coefficient == 0;
    if (!exact || value < range.low || value > range.high) return std::nullopt;
    return std::pair(symbol, value);
}

std::string_view kind_name(tensor::DType dtype) {
    if (dtype == tensor::DType::Bool) return "bool";
    if (dtype == tensor::DType::Str) return "str";
    return tensor::is_real(dtype) ? "real" : "int";
}

// Data may have another width than declared, but an integer takes no reals.
Result<void> check_kind(const ir::Tensor& tensor, const Array& given) {
    if (kind_name(tensor.dtype) == kind_name(given.dtype)) return {};
    return bad(fmt::format("`{}` is given data of type {}, expected {}",
                           tensor.name,
                           tensor::dtype_name(given.dtype),
                           kind_name(tensor.dtype)));
}

}  // namespace

// ---- Variables ----------------------------------------------------------------------------------

State::State(std::shared_ptr<const ir::Program> program)
    : shared_program_(std::move(program)), program_(*shared_program_) {}

ir::SymbolPool& State::own_symbols() {
    if (!own_) own_ = program_.symbols.copy();
    return *own_;
}

Result<void> State::check_fits(ir::TensorId id, const Array& value) {
    const ir::Tensor& tensor = program_.tensors[id];
    LEMMA_TRY(check_kind(tensor, value));
    LEMMA_TRY(const tensor::Shape wanted, shape_of(id, false));
    if (wanted == value.shape) return {};
    return bad(fmt::format("the variable `{}` is given data of shape {}, expected {}",
                           tensor.name,
                           tensor::shape_text(value.shape),
                           tensor::shape_text(wanted)));
}

ir::TensorId State::find_variable(const std::string& name) const {
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        const ir::Tensor& tensor = program_.tensors[id];
        if (tensor.role == ir::TensorRole::Variable && tensor.name == name) return id;
    }
    return {};
}

Result<void> State::set_variable(const std::string& name, Array value) {
    const ir::TensorId id = find_variable(name);
    if (!id.valid()) return bad(fmt::format("there is no variable `{}`", name));
    known_.clear();
    LEMMA_TRY(check_fits(id, value));
    value.dtype = program_.tensors[id].dtype;
    value.round();
    values_.erase(id);
    variables_[id] = std::make_shared<Array>(std::move(value));
    return {};
}

const Array* State::variable(const std::string& name) {
    const ir::TensorId id = find_variable(name);
    if (!id.valid()) return nullptr;
    const auto value = variable_value(id);
    return value ? value->get() : nullptr;
}

Result<std::shared_ptr<Array>> State::variable_value(ir::TensorId id) {
    if (const auto own = variables_.find(id); own != variables_.end()) return own->second;
    if (const auto known = stored_.find(id); known != stored_.end()) return known->second;
    const ir::Tensor& tensor = program_.tensors[id];
    std::shared_ptr<const Array> given;
    if (source_) {
        LEMMA_TRY(given, source_(id));
    }
    if (!given) return bad(fmt::format("the variable `{}` has no data", tensor.name));
    LEMMA_TRY(check_fits(id, *given));
    if (given->dtype != tensor.dtype) {
        auto fit = std::make_shared<Array>(*given);
        fit->dtype = tensor.dtype;
        fit->round();
        return stored_[id] = std::move(fit);
    }
    // Steps write to the arrays of their results alone.
    return stored_[id] = std::const_pointer_cast<Array>(std::move(given));
}

// ---- A run --------------------------------------------------------------------------------------

void State::forget_run() {
    values_ = variables_;
    known_.clear();
    failed_ = {};
    failed_for_inputs_ = false;
    calls_ = 0;
}

Result<void> State::begin_run(const NamedArrays& inputs) {
    forget_run();
    LEMMA_TRY(bind_inputs(inputs));
    return check_program(false);
}

Result<void> State::begin_run(std::span<const InputShape> shapes) {
    forget_run();
    size_t next = 0;
    for (const ir::Port& port : program_.graphs[program_.main].inputs) {
        for (const ir::TensorId id : port.operand.items) {
            if (next == shapes.size()) return bad("too few inputs are given");
            LEMMA_TRY(bind_shape(id, shapes[next++]));
        }
    }
    return check_program(false);
}

Result<NamedArrays> State::collect_outputs(const ValueReader& read) {
    NamedArrays outputs;
    for (const ir::Port& port : program_.graphs[program_.main].outputs) {
        auto& items = outputs[port.name];
        auto count = static_cast<int64_t>(port.operand.items.size());
        if (port.operand.length.valid()) {
            LEMMA_TRY(count, extent(port.operand.length));
        }
        for (int64_t i = 0; i < count; ++i) {
            LEMMA_TRY(Array value, read(port.operand.items[static_cast<size_t>(i)]));
            items.push_back(std::move(value));
        }
    }
    return outputs;
}

void State::end_run(bool done) {
    values_.clear();
    if (done) ++runs_;
}

Result<void> State::bind_inputs(const NamedArrays& inputs) {
    for (const ir::Port& port : program_.graphs[program_.main].inputs) {
        const auto given = inputs.find(port.name);
        if (given == inputs.end()) return bad(fmt::format("no data for the input `{}`", port.name));
        const size_t count = given->second.size();
        const size_t most = port.operand.items.size();
        if (port.operand.length.valid() && count <= most) {
            known_[port.operand.length] = own_symbols().integer(static_cast<int64_t>(count));
        } else if (count != most) {
            return bad(fmt::format("the input `{}` is given {} tensors, expected {}{}",
                                   port.name,
                                   count,
                                   port.operand.length.valid() ? "at most " : "",
                                   most));
        }
        for (size_t i = 0; i < count; ++i) {
            LEMMA_TRY(bind_input(port.operand.items[i], given->second[i]));
        }
    }
    for (const ir::Port& port : program_.graphs[program_.main].inputs) {
        for (size_t i = inputs.at(port.name).size(); i < port.operand.items.size(); ++i) {
            LEMMA_TRY(bind_absent(port.operand.items[i]));
        }
    }
    return {};
}

// An item past the end of a pack is never read, but has a value. Extents that it alone could tell
// are 0, so that a sum over the pack leaves it out.
Result<void> State::bind_absent(ir::TensorId id) {
    const ir::Tensor& tensor = program_.tensors[id];
    for (const ir::SymId symbol : tensor.shape) {
        if (symbols().node(symbol).kind != ir::SymKind::Symbol) continue;
        known_.try_emplace(symbol, own_symbols().integer(0));
    }
    LEMMA_TRY(tensor::Shape shape, shape_of(id, false));
    LEMMA_TRY(Array nothing, Array::zeros(tensor.dtype, std::move(shape)));
    set_value(id, std::move(nothing));
    return {};
}

Result<void> State::bind_input(ir::TensorId id, const Array& given) {
    const ir::Tensor& tensor = program_.tensors[id];
    LEMMA_TRY(check_kind(tensor, given));
    LEMMA_TRY(bind_shape(id, given.shape));
    auto array = std::make_shared<Array>(given);
    array->dtype = tensor.dtype;
    array->round();
    set_value(id, std::move(array));
    return {};
}

// Unknown extents take the sizes of what is given; known ones must agree.
Result<void> State::bind_shape(ir::TensorId id, InputShape shape) {
    const ir::Tensor& tensor = program_.tensors[id];
    if (shape.size() != tensor.shape.size()) {
        return bad(fmt::format("`{}` is given data of shape {}, expected rank {}",
                               tensor.name,
                               tensor::shape_text({shape.begin(), shape.end()}),
                               tensor.shape.size()));
    }
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        const ir::SymId symbol = tensor.shape[axis];
        const bool unknown = symbols().node(symbol).kind == ir::SymKind::Symbol;
        if (unknown && !known_.contains(symbol)) {
            known_[symbol] = own_symbols().integer(shape[axis]);
        }
        if (const auto found = solve(symbols(), resolve(symbol), shape[axis])) {
            known_[found->first] = own_symbols().integer(found->second);
        }
        if (!symbols().as_int(resolve(symbol))) {
            return bad(fmt::format("axis {} of `{}` has extent {} in the data, expected one of {}",
                                   axis,
                                   tensor.name,
                                   shape[axis],
                                   symbols().text(symbol)));
        }
        LEMMA_TRY(const int64_t wanted, extent(symbol));
        const int64_t most = symbols().range(symbol).high;
        if (wanted == shape[axis] && wanted <= most) continue;
        return bad(fmt::format("axis {} of `{}` has extent {} in the data, expected {}{}",
                               axis,
                               tensor.name,
                               shape[axis],
                               wanted > most ? "at most " : "",
                               std::min(wanted, most)));
    }
    return {};
}

// Conditions on extents that the operation itself tells are decided behind it: `all` is then true,
// and what is still open is an error, never taken for granted.
Result<void> State::check(const std::vector<ir::Assertion>& assertions, bool all) {
    for (const ir::Assertion& assertion : assertions) {
        const ir::SymId condition = resolve(assertion.condition);
        const auto holds = own_symbols().prove(condition);
        if (holds && !*holds) return bad(assertion.message + known_values(assertion.condition));
        if (!holds && all) {
            return bad(fmt::format("nothing tells whether this holds: {} ({})",
                                   symbols().text(condition),
                                   assertion.message));
        }
    }
    return {};
}

Result<void> State::check_program(bool all) {
    auto done = check(program_.assertions, all);
    failed_for_inputs_ = !done;
    return done;
}

// ` (s = 7, t = 3)`: the extents that the condition is about, as they are in this run.
std::string State::known_values(ir::SymId condition) const {
    constexpr size_t kMost = 4;
    std::vector<std::string> values;
    for (const ir::SymId symbol : symbols().symbols_of(condition)) {
        const auto value = known_extent(symbol);
        if (!value) continue;
        if (values.size() == kMost) {
            values.emplace_back("…");
            break;
        }
        values.push_back(fmt::format("{} = {}", symbols().text(symbol), *value));
    }
    return values.empty() ? "" : fmt::format(" ({})", fmt::join(values, ", "));
}

// ---- Extents ------------------------------------------------------------------------------------

std::unordered_map<ir::SymId, int64_t, IdHash> State::known_extents() const {
    std::unordered_map<ir::SymId, int64_t, IdHash> result;
    for (const auto& [symbol, value] : known_) {
        if (const auto number = symbols().as_int(value)) result[symbol] = *number;
    }
    return result;
}

std::optional<int64_t> State::known_extent(ir::SymId symbol) const {
    const auto found = known_.find(symbol);
    return found != known_.end() ? symbols().as_int(found->second) : std::nullopt;
}

void State::learn_shape(ir::TensorId id, const tensor::Shape& shape) {
    const auto& extents = program_.tensors[id].shape;
    for (size_t axis = 0; axis < extents.size() && axis < shape.size(); ++axis) {
        if (symbols().node(extents[axis]).kind != ir::SymKind::Symbol) continue;
        known_[extents[axis]] = own_symbols().integer(shape[axis]);
    }
}

ir::SymId State::resolve(ir::SymId id) {
    if (known_.empty() || symbols().is_constant(id)) return id;
    return own_symbols().substitute(id, known_).value_or(id);
}

Result<int64_t> State::extent(ir::SymId id) {
    const auto value = symbols().as_int(resolve(id));
    if (!value) {
        return bad(fmt::format("the extent {} is not known yet", symbols().text(id)));
    }
    return *value;
}

Result<tensor::Shape> State::shape_of(ir::TensorId id, bool upper_bound) {
    tensor::Shape shape;
    for (const ir::SymId part : program_.tensors[id].shape) {
        const ir::SymId known = resolve(part);
        const auto value = symbols().as_int(known);
        if (!value && !upper_bound) {
            return bad(fmt::format("the extent {} is not known yet", symbols().text(part)));
        }
        shape.push_back(value ? *value : symbols().range(known).high);
        if (shape.back() < 0) {
            return bad(fmt::format(
                "the extent {} of `{}` is negative", shape.back(), program_.tensors[id].name));
        }
    }
    return shape;
}

ir::Scalar State::resolve(const ir::Scalar& item) {
    const auto* symbol = std::get_if<ir::SymId>(&item);
    if (!symbol) return item;
    const ir::SymId id = resolve(*symbol);
    if (const auto number = symbols().as_int(id)) return *number;
    if (const auto real = symbols().as_real(id)) return *real;
    if (const auto flag = symbols().as_bool(id)) return *flag;
    return id;
}

// ---- Values -------------------------------------------------------------------------------------

Result<std::shared_ptr<Array>> State::value_of(ir::TensorId id) {
    const auto found = values_.find(id);
    if (found != values_.end()) return found->second;
    const ir::Tensor& tensor = program_.tensors[id];
    if (tensor.role == ir::TensorRole::Constant) {
        LEMMA_TRY(auto array, constant(tensor));
        set_value(id, array);
        return array;
    }
    if (tensor.role == ir::TensorRole::Variable) {
        LEMMA_TRY(auto array, variable_value(id));
        set_value(id, array);
        return array;
    }
    return bad(fmt::format("`{}` has no value", tensor.name));
}

Result<std::shared_ptr<Array>> State::constant(const ir::Tensor& tensor) {
    tensor::Shape shape;
    for (const ir::SymId part : tensor.shape) {
        LEMMA_TRY(const int64_t value, extent(part));
        shape.push_back(value);
    }
    LEMMA_TRY(Array array, Array::zeros(tensor.dtype, shape));
    for (int64_t i = 0; i < array.size; ++i) {
        const auto at = static_cast<size_t>(i);
        const ir::Scalar item = resolve(tensor.items[tensor.items.size() == 1 ? 0 : at]);
        if (std::holds_alternative<ir::SymId>(item)) {
            return bad(fmt::format("an element of the constant `{}` is not known", tensor.name));
        }
        if (const auto* real = std::get_if<double>(&item)) {
            if (!array.reals.empty()) array.reals[at] = *real;
        } else if (const auto* text = std::get_if<std::string>(&item)) {
            if (!array.strings.empty()) array.strings[at] = *text;
        } else {
            const auto* flag = std::get_if<bool>(&item);
            const int64_t number = flag ? int64_t{*flag} : std::get<int64_t>(item);
            if (!array.integers.empty()) array.integers[at] = number;
            if (!array.reals.empty()) array.reals[at] = static_cast<double>(number);
        }
    }
    array.round();
    return std::make_shared<Array>(std::move(array));
}

}  // namespace lemma::interpret

// SPDX-License-Identifier: Apache-2.0
#include "certify/walk.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "certify/relations.h"
#include "interpret/lifetimes.h"
#include "ir/program/display_name.h"

namespace lemma::certify {

namespace {

constexpr int64_t kMaxElements = int64_t{1} << 26;  // of 64 bytes, at one time

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

}  // namespace

// ---- Arrays -------------------------------------------------------------------------------------

Result<Walk::Ref> Walk::array(ir::TensorId id) {
    const ir::Tensor& tensor = program_.tensors[id];
    Ref made(new AbstractArray, [this](AbstractArray* array) {
        live_ -= static_cast<int64_t>(array->values.size());
        delete array;
    });
    made->number = ++arrays_;
    made->dtype = tensor.dtype;
    made->size = 1;
    for (const ir::SymId part : tensor.shape) {
        const auto extent = program_.symbols.as_int(part);
        if (!extent) {
            return bad(fmt::format("the extent {} of `{}` is not known before the run",
                                   program_.symbols.text(part),
                                   tensor.name));
        }
        made->shape.push_back(*extent);
        const auto size = checked_mul(made->size, *extent);
        if (!size || *size > kMaxElements)
            return bad(fmt::format("`{}` is too large for a certificate", tensor.name));
        made->size = *size;
    }
    return made;
}

void Walk::set(ir::TensorId id, Ref value) { values_[id] = std::move(value); }

Result<Walk::Ref> Walk::constant(ir::TensorId id) {
    const ir::Tensor& tensor = program_.tensors[id];
    LEMMA_TRY(Ref made, array(id));
    if (tensor.role == ir::TensorRole::Variable) {
        made->constant = variables_(tensor);
        if (!made->constant) return bad(fmt::format("the variable `{}` has no data", tensor.name));
        return made;
    }
    LEMMA_TRY(interpret::Array items, interpret::Array::zeros(tensor.dtype, made->shape));
    for (int64_t i = 0; i < items.size; ++i) {
        const auto at = static_cast<size_t>(i);
        const ir::Scalar& item = tensor.items[tensor.items.size() == 1 ? 0 : at];
        if (const auto* real = std::get_if<double>(&item)) {
            items.reals[at] = *real;
        } else if (const auto* whole = std::get_if<int64_t>(&item)) {
            items.integers[at] = *whole;
        } else if (const auto* flag = std::get_if<bool>(&item)) {
            items.integers[at] = *flag;
        } else {
            return bad(fmt::format("an element of the constant `{}` has no bounds", tensor.name));
        }
    }
    items.round();
    made->constant = std::make_shared<interpret::Array>(std::move(items));
    return made;
}

// Null for a tensor about which nothing is known, not even its shape.
Result<Walk::Ref> Walk::value_of(ir::TensorId id) {
    if (const auto found = values_.find(id); found != values_.end()) return found->second;
    const ir::TensorRole role = program_.tensors[id].role;
    if (role != ir::TensorRole::Constant && role != ir::TensorRole::Variable) return Ref();
    if (program_.tensors[id].dtype == ir::DType::Str) return Ref();
    LEMMA_TRY(Ref made, constant(id));
    set(id, made);
    return made;
}

// ---- Inputs -------------------------------------------------------------------------------------

Result<void> Walk::bind_input(ir::TensorId id, const InputRange& range) {
    const ir::Tensor& tensor = program_.tensors[id];
    LEMMA_TRY(Ref made, array(id));
    if (range.ranges.size() != 1 && static_cast<int64_t>(range.ranges.size()) != made->size) {
        return bad(fmt::format("`{}` is given {} ranges, expected 1 or {}",
                               tensor.name,
                               range.ranges.size(),
                               made->size));
    }
    live_ += made->size;
    for (int64_t i = 0; i < made->size; ++i) {
        const Range& one = range.ranges[range.ranges.size() == 1 ? 0 : static_cast<size_t>(i)];
        Value v = Value::between(one.low, one.high);
        if (tensor::is_real(tensor.dtype)) {
            v.grid = tensor.dtype == ir::DType::F16    ? Grid::F16
                     : tensor.dtype == ir::DType::BF16 ? Grid::BF16
                     : tensor.dtype == ir::DType::F32  ? Grid::F32
                                                       : Grid::None;
        } else {
            v = Value::between(std::ceil(one.low), std::floor(one.high));
            if (v.low > v.high)
                return bad(fmt::format("no integer of `{}` is in its range", tensor.name));
        }
        if (range.error > 0) {
            v.clow = down(v.low - range.error);
            v.chigh = up(v.high + range.error);
            v.error = range.error;
            v.relative = kInfinity;
            v = sealed(v);
        }
        v.nonzero = v.least() > 0 && v.computed_least() > 0;
        made->values.push_back(v);
    }
    LEMMA_TRY(centre_of(id, *made));
    certificate_.inputs.push_back(bound_of(id, *made, true));
    certificate_.inputs.back().inner = false;
    set(id, std::move(made));
    return {};
}

bool Walk::is_empty(const ir::Tensor& tensor) const {
    return std::ranges::any_of(
        tensor.shape, [&](ir::SymId extent) { return program_.symbols.as_int(extent) == 0; });
}

Result<void> Walk::bind_inputs() {
    std::set<std::string> used;
    for (const ir::Port& port : program_.graphs[program_.main].inputs) {
        for (const ir::TensorId id : port.operand.items) {
            const ir::Tensor& tensor = program_.tensors[id];
            auto range = options_.ranges.find(tensor.name);
            if (range == options_.ranges.end()) range = options_.ranges.find(port.name);
            if (range != options_.ranges.end()) {
                used.insert(range->first);
                LEMMA_TRY(bind_input(id, range->second));
            } else if (tensor.dtype == ir::DType::Bool || is_empty(tensor)) {
                LEMMA_TRY(bind_input(id, {.ranges = {{0, 1}}}));
            } else if (tensor.dtype == ir::DType::Str) {
                continue;  // texts have no bounds
            } else {
                return bad(fmt::format("no range for the input `{}`; give `--range {}=LOW:HIGH`",
                                       tensor.name,
                                       tensor.name));
            }
        }
    }
    for (const ir::Update& update : program_.updates) {
        const auto range = options_.ranges.find(program_.tensors[update.variable].name);
        if (range == options_.ranges.end() || used.contains(range->first)) continue;
        used.insert(range->first);
        LEMMA_TRY(bind_input(update.variable, range->second));
    }
    for (const auto& [name, range] : options_.ranges) {
        if (!used.contains(name))
            return bad(
                fmt::format("`{}` is neither an input nor a variable that a run changes", name));
    }
    return {};
}

// ---- Operations ---------------------------------------------------------------------------------

Result<Certificate> Walk::run() {
    LEMMA_TRY(bind_inputs());
    const std::vector<ir::OpId>& main = program_.graphs[program_.main].operations;
    const auto dead_after = interpret::tensors_dead_after(program_);
    certificate_.nodes.reserve(main.size());
    for (size_t i = 0; i < main.size(); ++i) {
        if (options_.on_progress) options_.on_progress(i, main.size());
        const ir::Operation& op = program_.operations[main[i]];
        NodeRecord& record = certificate_.nodes.emplace_back();
        record.id = main[i];
        record.op = op.op;
        record.label = op.label;
        for (const ir::Port& port : op.outputs) {
            for (const ir::TensorId id : port.operand.items) {
                record.outputs.push_back(program_.tensors[id].name);
                outer_.insert(id);
            }
        }
        node_ = &record;
        LEMMA_TRY(operation(main[i]));
        for (const ir::TensorId id : dead_after[i]) values_.erase(id);
    }
    for (const ir::Port& port : program_.graphs[program_.main].outputs) {
        for (const ir::TensorId id : port.operand.items) {
            LEMMA_TRY(const Ref value, value_of(id));
            if (!value) continue;
            certificate_.outputs.push_back(bound_of(id, *value, true));
            certificate_.outputs.back().inner = false;
        }
    }
    for (const auto& [name, range] : options_.assumed) {
        if (!used_.contains(name))
            return bad(fmt::format("--assume: no operation has the result `{}`", name));
    }
    LEMMA_TRY(check_updates());
    describe(certificate_);
    certificate_.steps = budget_.steps;
    return std::move(certificate_);
}

Result<void> Walk::operations(const std::vector<ir::OpId>& ids) {
    for (const ir::OpId id : ids) {
        LEMMA_TRY(operation(id));
    }
    return {};
}

Result<void> Walk::operation(ir::OpId id) {
    const ir::Operation& op = program_.operations[id];
    if (op.compound()) return operations(op.parts);
    if (const auto* branch = std::get_if<ir::Branch>(&op.control)) return this->branch(op, *branch);
    if (const auto* loop = std::get_if<ir::Loop>(&op.control)) return this->loop(op, *loop);
    if (op.kind == ir::OperationKind::Intrinsic)
        return unknown(op, fmt::format("`{}` has no formula", ir::display_name(op.op)));
    return formulas(op);
}

// The results can be anything.
Result<void> Walk::unknown(const ir::Operation& op, std::string reason) {
    if (node_->remark.empty()) node_->remark = std::move(reason);
    for (const Hazard hazard : {Hazard::Overflow, Hazard::Invalid, Hazard::DivisionByZero}) {
        Disposition& disposition = (*node_)[hazard];
        if (disposition.verdict < Verdict::NotEstablished)
            disposition = {
                .verdict = Verdict::NotEstablished, .reason = node_->remark, .witness = {}};
    }
    node_->introduced = kInfinity;
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) {
            values_.erase(id);
            auto made = array(id);
            if (!made || program_.tensors[id].dtype == ir::DType::Str) continue;
            (*made)->values.assign(static_cast<size_t>((*made)->size), Value::top());
            live_ += (*made)->size;
            record(id, **made);
            set(id, std::move(*made));
        }
    }
    return {};
}

namespace {

// Whether the tensor is a result of the operation.
bool makes(const ir::Operation& op, ir::TensorId id) {
    return std::ranges::any_of(op.outputs, [&](const ir::Port& port) {
        return std::ranges::find(port.operand.items, id) != port.operand.items.end();
    });
}

}  // namespace

Result<void> Walk::formulas(const ir::Operation& op) {
    bool exact = true;
    for (const ir::Formula& formula : op.formulas) {
        for (const ir::Access& access : formula.accesses) {
            if (makes(op, access.tensor)) continue;
            LEMMA_TRY(const Ref value, value_of(access.tensor));
            if (!value)
                return unknown(op,
                               fmt::format("nothing is known about `{}`",
                                           program_.tensors[access.tensor].name));
            exact &= value->exact();
        }
    }
    Passes passes{.introduced = {.precision = Precision::f64(), .as_given = true},
                  .passed_on = {.precision = Precision::exact()},
                  .centre = {.precision = Precision::exact(), .centre = true},
                  .exact = exact};
    LEMMA_TRY(passes.has_centre, has_centres(op));
    const int64_t before = budget_.steps;
    auto done = evaluate(op, passes.introduced);
    if (done && !exact) done = evaluate(op, passes.passed_on);
    if (done && passes.has_centre) done = evaluate(op, passes.centre);
    if (!done) {
        if (budget_.steps > budget_.most) {
            return bad(fmt::format(
                "the certificate takes more than {} steps (`{}` alone at least {}); raise "
                "--max-steps",
                budget_.most,
                ir::display_name(op.op),
                budget_.steps - before));
        }
        return unknown(op, done.error().message);
    }
    finish(op, passes);
    return {};
}

// Constants are their own centres.
Result<bool> Walk::has_centres(const ir::Operation& op) {
    for (const ir::Formula& formula : op.formulas) {
        for (const ir::Access& access : formula.accesses) {
            if (makes(op, access.tensor)) continue;
            LEMMA_TRY(const Ref value, value_of(access.tensor));
            if (!value->constant && !value->centre) return false;
        }
    }
    return true;
}

Precision Walk::precision_of(const ir::Formula& formula, const Pass& pass) const {
    if (!pass.precision.rounds) return Precision::exact();
    return ir::computes_in_float(program_, formula, options_.accumulate) ? Precision::f32()
                                                                         : Precision::f64();
}

Result<void> Walk::evaluate(const ir::Operation& op, Pass& pass) {
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) {
            if (program_.tensors[id].dtype == ir::DType::Str) return bad("texts have no bounds");
            LEMMA_TRY(Ref made, array(id));
            if (live_ + made->size > kMaxElements)
                return bad("the model is too large for a certificate");
            Value zero = Value::point(0);
            zero.grid = Grid::F32;
            made->values.assign(static_cast<size_t>(made->size), zero);
            live_ += made->size;
            pass.outputs[id] = std::move(made);
        }
    }
    for (const ir::Formula& formula : op.formulas) {
        LEMMA_TRY(evaluate(formula, pass));
    }
    Arithmetic arithmetic(pass.precision, pass.events);
    for (auto& [id, made] : pass.outputs) {
        for (Value& v : made->values) v = arithmetic.stored(v, made->dtype);
    }
    return {};
}

Result<void> Walk::evaluate(const ir::Formula& formula, Pass& pass) {
    EvaluatorArrays arrays{.inputs = {}, .outputs = {}, .as_given = pass.as_given};
    Shapes shapes;
    for (auto& [id, made] : pass.outputs) {
        arrays.outputs[id] = made.get();
        shapes[id] = made->shape;
    }
    for (const ir::Access& access : formula.accesses) {
        if (arrays.outputs.contains(access.tensor)) continue;
        LEMMA_TRY(const Ref value, value_of(access.tensor));
        arrays.inputs[access.tensor] =
            pass.centre && !value->constant ? value->centre.get() : value.get();
        shapes[access.tensor] = value->shape;
    }
    LEMMA_TRY(const Expression expression, make_expression(program_, formula, shapes));
    const Precision precision = precision_of(formula, pass);
    if (pass.precision.rounds) note_hazards(expression);
    RelationFinder relations(expression, arrays, precision.in_float);
    StretchFinder stretches(expression, arrays);
    Evaluator evaluator(expression, Arithmetic(precision, pass.events), arrays, budget_);
    const auto first = relations.observer();
    const auto second = pass.precision.rounds ? stretches.observer() : Evaluator::Observer();
    const auto both = [&](int64_t to, const std::vector<int64_t>& offsets) {
        if (first) first(to, offsets);
        if (second) second(to, offsets);
    };
    LEMMA_TRY(evaluator.run(first || second ? both : Evaluator::Observer()));
    relations.finish();
    if (pass.precision.rounds) note_stretch(expression, stretches, pass);
    // With f32, the next formula reads floats.
    if (!pass.precision.rounds || precision.in_float || options_.accumulate == ir::Accumulate::F64)
        return {};
    Arithmetic arithmetic(precision, pass.events);
    for (const ir::Write& write : formula.writes) {
        AbstractArray& made = *pass.outputs.at(write.tensor);
        if (made.dtype != ir::DType::F32) continue;
        for (Value& v : made.values) v = arithmetic.stored(v, made.dtype);
    }
    return {};
}

namespace {

// `given`: from exact inputs to computed results; `ideal`: from ideal inputs to exact results.
Value total(const Value& ideal, const Value& given) {
    Value v = given;
    v.low = ideal.low;
    v.high = ideal.high;
    v.nan = ideal.nan || given.nan;
    v.nonzero = ideal.nonzero && given.nonzero;
    if (ideal.error == 0) return sealed(v);
    v.error = up(ideal.error + given.error);
    v.relative = up(up(ideal.relative + given.relative) + up(ideal.relative * given.relative));
    v.tiny = up(up(ideal.tiny + given.tiny) + up(given.relative * ideal.tiny));
    if (given.relative == kInfinity || ideal.relative == kInfinity) v.relative = v.tiny = kInfinity;
    return sealed(v);
}

// y = a / (a + b) becomes y t / (y t + 1 - y) if errors change a / b by the factor t. The distance
// is largest, tanh(log(t) / 4), in the middle. The rounding of the sum itself and underflow are
// added. `sums` has the introduced errors only.
void bound_shares(AbstractArray& sums) {
    Reduction& of = *sums.reduction;
    double rounding = 0, least = kInfinity;
    for (const Value& v : sums.values) {
        const double bound =
            std::min(v.relative + (v.tiny > 0 ? v.tiny / v.least() : 0), v.error / v.least());
        rounding = std::max(rounding, v.error == 0 ? 0 : bound);
        least = std::min({least, v.least(), v.computed_least()});
    }
    if (!(of.relative < 0.9 && rounding < 0.1 && least > 0)) return;
    const double factor = std::log1p(of.relative) - std::log1p(-of.relative);
    const auto terms = static_cast<double>(of.group.size() + 1);
    const double error = std::tanh(factor / 4) + 2 * rounding + 2 * of.tiny * terms / least;
    if (std::isfinite(error)) of.share_error = error * (1 + 0x1p-30) + 0x1p-1000;
}

// Both worlds are within the range, as the user says.
Value within(Value v, const Range& range) {
    if (v.nan) {
        v = Value::between(range.low, range.high);
        v.error = v.relative = v.tiny = kInfinity;
        return sealed(v);
    }
    v.low = std::clamp(v.low, range.low, range.high);
    v.high = std::clamp(v.high, range.low, range.high);
    v.clow = std::clamp(v.clow, range.low, range.high);
    v.chigh = std::clamp(v.chigh, range.low, range.high);
    return sealed(v);
}

}  // namespace

void Walk::finish(const ir::Operation& op, Passes& passes) {
    Pass& introduced = passes.introduced;
    bool finite = true, number = true;
    for (auto& [id, made] : introduced.outputs) {
        const auto assumed = options_.assumed.find(program_.tensors[id].name);
        if (assumed != options_.assumed.end()) used_.insert(assumed->first);
        if (made->reduction && made->reduction->sum) bound_shares(*made);
        std::vector<double> own;  // introduced errors
        for (size_t i = 0; i < made->values.size(); ++i) {
            Value& v = made->values[i];
            node_->introduced = std::max(node_->introduced, v.error);
            own.push_back(v.error);
            if (!passes.exact) {
                const Value& ideal = passes.passed_on.outputs.at(id)->values[i];
                node_->propagated = std::max(node_->propagated, ideal.error);
                v = total(ideal, v);
            }
            number &= !v.nan;
            if (v.nan) v = Value::top();
            if (assumed != options_.assumed.end()) v = within(v, assumed->second);
            finite &= v.finite() || (v.is_point() && !v.nan);
        }
        apply_norms(id, *made, introduced, passes.has_centre ? &passes.centre : nullptr, own);
        record(id, *made);
        set(id, made);
    }
    note_events(op, introduced.events);
    note_events(op, passes.passed_on.events);
    for (const Hazard hazard : {Hazard::Overflow, Hazard::Invalid}) {
        Disposition& disposition = (*node_)[hazard];
        const bool good = hazard == Hazard::Overflow ? finite : number;
        if (good || disposition.verdict != Verdict::Proved) continue;
        disposition = {.verdict = Verdict::NotEstablished,
                       .reason = "the result may be infinite or NaN",
                       .witness = {},
                       .inherited = true};
    }
}

// ---- Dispositions -------------------------------------------------------------------------------

namespace {

bool has_domain(std::string_view name) {
    return name == "sqrt" || name == "log" || name == "asin" || name == "acos" || name == "acosh" ||
           name == "atanh";
}
bool has_steps(std::string_view name) {
    return name == "floor" || name == "ceil" || name == "round" || name == "frac" || name == "sign";
}

}  // namespace

// The kinds of trouble that the operations of a formula can have.
void Walk::note_hazards(const Expression& expression) {
    const auto can = [&](Hazard hazard) {
        Disposition& disposition = (*node_)[hazard];
        if (disposition.verdict == Verdict::NotApplicable) disposition.verdict = Verdict::Proved;
    };
    const auto arithmetic = [&](bool real) {
        can(real ? Hazard::Overflow : Hazard::Wrap);
        if (real) can(Hazard::Invalid);
    };
    const bool sums =
        expression.op == ir::FormulaOp::Sum || expression.op == ir::FormulaOp::Product;
    for (const Expression::Write& write : expression.writes) {
        const ir::DType dtype = program_.tensors[write.place.tensor].dtype;
        if (sums && dtype != ir::DType::Bool) arithmetic(tensor::is_real(dtype));
    }
    for (const Node& node : expression.nodes) {
        if (node.concrete || node.kind == NodeKind::Load || node.kind == NodeKind::Constant)
            continue;
        if (node.kind == NodeKind::Polynomial) arithmetic(false);
        if (node.kind == NodeKind::Compare || node.kind == NodeKind::Polynomial) continue;
        const bool real = expression.nodes[node.operands.back()].type == ir::ScalarType::Real;
        switch (node.op) {
            case ir::SymOp::Pow:
                can(Hazard::Domain);
                [[fallthrough]];
            case ir::SymOp::Div:
            case ir::SymOp::CeilDiv:
            case ir::SymOp::Mod:
                can(Hazard::DivisionByZero);
                [[fallthrough]];
            case ir::SymOp::Add:
            case ir::SymOp::Sub:
            case ir::SymOp::Mul:
                arithmetic(real);
                break;
            case ir::SymOp::Less:
            case ir::SymOp::LessEqual:
            case ir::SymOp::Equal:
            case ir::SymOp::NotEqual:
            case ir::SymOp::ToBool:
                if (real) can(Hazard::Decision);
                break;
            case ir::SymOp::ToInt:
                can(Hazard::Decision);
                can(Hazard::Wrap);
                break;
            case ir::SymOp::Function:
                if (!real) break;
                if (has_steps(node.name)) {
                    can(Hazard::Decision);
                } else if (node.name != "abs") {
                    arithmetic(true);
                }
                if (has_domain(node.name)) can(Hazard::Domain);
                if (node.name == "log" || node.name == "atanh") can(Hazard::DivisionByZero);
                if (library_ulp(node.name) > 0) functions_.insert(node.name);
                break;
            default:
                break;
        }
        if (node.op == ir::SymOp::Pow && real) functions_.insert("pow");
    }
}

void Walk::note_events(const ir::Operation& op, const Events& events) {
    for (size_t i = 0; i < kHazards; ++i) {
        const auto hazard = static_cast<Hazard>(i);
        const Event& event = events[hazard];
        if (!event.met) continue;
        Disposition& disposition = (*node_)[hazard];
        if (disposition.verdict == Verdict::NotEstablished &&
            (!disposition.inherited || !event.own))
            continue;
        const bool part = op.label != node_->label || op.op != node_->op;
        disposition = {
            .verdict = Verdict::NotEstablished,
            .reason = part ? fmt::format("{} (in `{}`)", event.reason, ir::display_name(op.op))
                           : std::string(event.reason),
            .witness = event.witness,
            .inherited = !event.own};
    }
}

}  // namespace lemma::certify

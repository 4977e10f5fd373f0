// SPDX-License-Identifier: Apache-2.0
#include "certify/relations.h"

#include <algorithm>
#include <cmath>

namespace lemma::certify {

namespace {

using ir::SymOp;

bool is_function(const Node& node, std::string_view name) {
    return node.kind == NodeKind::Operation && node.op == SymOp::Function && node.name == name;
}

}  // namespace

RelationFinder::RelationFinder(const Expression& expression,
                               const EvaluatorArrays& arrays,
                               bool in_float)
    : expression_(expression), arrays_(arrays), in_float_(in_float) {
    if (expression.writes.size() != 1 || expression.condition != kNoNode) return;
    target_ = arrays.outputs.at(expression.writes[0].place.tensor);
    if (!tensor::is_real(target_->dtype)) return;
    classify();
    if (form_ == Form::None) return;
    moved_.assign(static_cast<size_t>(source_->size), -1);
}

const AbstractArray* RelationFinder::array_of(NodeId load) const {
    const Node& node = expression_.nodes[load];
    if (node.kind != NodeKind::Load) return nullptr;
    const ir::TensorId id = expression_.accesses[node.position].tensor;
    if (id == expression_.writes[0].place.tensor) return nullptr;
    const auto own = arrays_.outputs.find(id);
    const AbstractArray* const array =
        own != arrays_.outputs.end() ? own->second : arrays_.inputs.at(id);
    // Rounding must not come between the two.
    const bool same = array->dtype == target_->dtype || target_->dtype == tensor::DType::F64;
    const bool narrow = in_float_ && array->dtype == tensor::DType::F64;
    return same && !narrow && tensor::is_real(array->dtype) ? array : nullptr;
}

bool RelationFinder::starts_with(double value) const {
    return std::ranges::all_of(target_->values,
                               [&](const Value& v) { return v.is_point() && v.low == value; });
}

void RelationFinder::classify() {
    const NodeId root = expression_.writes[0].value;
    const Node& node = expression_.nodes[root];
    const auto take = [&](Form form, const AbstractArray* source, NodeId load, double value) {
        if (!source) return;
        form_ = form;
        source_ = source;
        from_ = expression_.nodes[load].position;
        value_ = value;
    };
    if (expression_.op == ir::FormulaOp::Max) {
        take(Form::Maximum, array_of(root), root, 0);
        complete_ = form_ == Form::Maximum && starts_with(-kInfinity);
        return;
    }
    if (expression_.op == ir::FormulaOp::Sum) {
        if (starts_with(0)) take(Form::Sum, array_of(root), root, 0);
        return;
    }
    if (expression_.op != ir::FormulaOp::Assign) return;
    const bool power = is_function(node, "exp");
    const NodeId inner = power ? node.operands[0] : root;
    const Node& body = expression_.nodes[inner];
    if (body.kind == NodeKind::Load) {
        const AbstractArray* const source = array_of(inner);
        if (source && source->anchor)
            take(Form::Image,
                 source,
                 inner,
                 power ? std::exp(source->anchor->value) : source->anchor->value);
        // exp(0) is 1 in every library; other values are not exact.
        if (power && form_ == Form::Image && source->anchor->value != 0) form_ = Form::None;
        return;
    }
    if (body.kind != NodeKind::Operation || body.op != SymOp::Sub) return;
    const AbstractArray* const source = array_of(body.operands[0]);
    const AbstractArray* const most = array_of(body.operands[1]);
    if (!source || !most || !most->reduction || most->reduction->sum) return;
    if (most->reduction->source != source->number || !most->reduction->reached) return;
    take(Form::Difference, source, body.operands[0], power ? 1 : 0);
    group_ = &most->reduction->group;
    most_ = expression_.nodes[body.operands[1]].position;
}

Evaluator::Observer RelationFinder::observer() {
    if (form_ == Form::None) return {};
    return [this](int64_t to, const std::vector<int64_t>& offsets) { observe(to, offsets); };
}

// Each element of the source is used once.
void RelationFinder::observe(int64_t to, const std::vector<int64_t>& offsets) {
    const int64_t from = offsets[from_];
    if (to < 0 || from < 0) {
        good_ = false;
        return;
    }
    int64_t& place = moved_[static_cast<size_t>(from)];
    good_ &= place == -1;
    if (form_ == Form::Difference) good_ &= (*group_)[static_cast<size_t>(from)] == offsets[most_];
    place = to;
}

void RelationFinder::finish() {
    if (form_ == Form::None || !good_) return;
    switch (form_) {
        case Form::Maximum:
            target_->reduction = Reduction{
                .source = source_->number, .reached = complete_, .group = std::move(moved_)};
            break;
        case Form::Sum: {
            const auto negative = [](const Value& v) { return !(v.low >= 0 && v.clow >= 0); };
            if (std::ranges::any_of(source_->values, negative) || source_->constant) return;
            raise_sums();
            target_->reduction = Reduction{.source = source_->number,
                                           .sum = true,
                                           .group = std::move(moved_),
                                           .relative = 0,
                                           .tiny = 0};
            for (const Value& v : source_->values) {
                Reduction& made = *target_->reduction;
                made.relative = std::max(made.relative, v.relative);
                made.tiny = std::max(made.tiny, v.tiny);
            }
            break;
        }
        case Form::Difference:
            finish_anchor(*group_);
            break;
        case Form::Image:
            finish_anchor(source_->anchor->group);
            break;
        case Form::None:
            break;
    }
}

// All elements of the groups must have moved, each to an element of its own.
void RelationFinder::finish_anchor(const std::vector<int64_t>& source_group) {
    std::vector<int64_t> group(static_cast<size_t>(target_->size), -1);
    for (size_t i = 0; i < source_group.size(); ++i) {
        if (source_group[i] < 0) continue;
        if (moved_[i] < 0 || group[static_cast<size_t>(moved_[i])] != -1) return;
        group[static_cast<size_t>(moved_[i])] = source_group[i];
    }
    target_->anchor = Anchor{value_, std::move(group)};
}

// A sum of numbers that are not negative is at least as large as each of them.
void RelationFinder::raise_sums() {
    if (!source_->anchor || source_->anchor->value <= 0) return;
    std::map<int64_t, int64_t> sums;  // by group; -1: in several sums, or not in all
    const std::vector<int64_t>& group = source_->anchor->group;
    for (size_t i = 0; i < group.size(); ++i) {
        if (group[i] < 0) continue;
        const auto [found, fresh] = sums.emplace(group[i], moved_[i]);
        if (!fresh && found->second != moved_[i]) found->second = -1;
    }
    for (const auto& [name, to] : sums) {
        if (to < 0) continue;
        Value& v = target_->values[static_cast<size_t>(to)];
        v.low = std::max(v.low, source_->anchor->value);
        v.clow = std::max(v.clow, source_->anchor->value);
        v = sealed(v);
    }
}

}  // namespace lemma::certify

// SPDX-License-Identifier: Apache-2.0
#include "emit/certified/stage_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "emit/certified/arithmetic.h"
#include "emit/certified/nest.h"
#include "loop/schedule/nest.h"

namespace lemma::emit {

using loop::Expr;
using loop::ExprId;
using loop::Kind;
using loop::Op;
using loop::Stage;
using loop::StageWrite;
using tensor::DType;

namespace {

std::string_view value_type(Kind kind) {
    switch (kind) {
        case Kind::F32:
            return "float";
        case Kind::F64:
            return "double";
        case Kind::Int:
            return "int64_t";
        default:
            return "int32_t";
    }
}
std::string_view logic_type(Kind kind) {
    return kind == Kind::F32 || kind == Kind::F64 ? "real" : "integer";
}

// Some indices of an axis, in the notation of contracts.
std::string range_text(const std::pair<int64_t, int64_t>& range, int64_t extent) {
    const auto [low, high] = range;
    const bool whole = low == 0 && high == std::max<int64_t>(extent - 1, 0);
    return whole ? "[..]" : fmt::format("[{} .. {}]", low, high);
}

class StageWriter {
public:
    StageWriter(const loop::StageGraph& graph,
                const Stage& stage,
                const TensorNames& tensors,
                const StageNames& names)
        : graph_(graph),
          pool_(graph.pool),
          stage_(stage),
          tensors_(tensors),
          names_(names),
          c_(graph, tensors, Dialect::C),
          acsl_(graph, tensors, Dialect::Acsl),
          whole_c_(graph, tensors, Dialect::C),
          whole_acsl_(graph, tensors, Dialect::Acsl) {}

    std::vector<CFunction> run();

private:
    const StageWrite& write() const { return stage_.writes[0]; }
    bool reads_itself() const;
    bool is_map() const;
    bool is_reduction() const;
    void name_loops();
    void share();
    std::vector<std::string> guards(ExprPrinter& printer) const;
    std::string guards_text(ExprPrinter& printer) const;
    CBox box(const StageWrite& write) const;
    Filling loops_of(const std::vector<CAxis>& axes, const std::string& predicate);
    bool depends_on(ExprId index, std::span<const CAxis> axes) const;
    std::string written_text(const StageWrite& write) const;
    std::vector<ir::TensorId> used() const;
    void find_faults(ExprId id, const std::string& when, std::vector<std::string>& faults);
    void put_faults(CLines& lines);
    void open_guards(CLines& lines);
    void close_guards(CLines& lines);
    void put_shared(CLines& lines, size_t begin, size_t end) const;

    CFunction fill_map();
    std::vector<CFunction> fill_reduction();
    CFunction point_function();
    CFunction sequence();
    std::string tap(ExprPrinter& printer, const std::string& acc);
    std::string combined(ExprPrinter& printer, const std::string& acc, const std::string& value);
    std::string initial(ExprPrinter& printer);
    std::string in_kind(ExprPrinter& printer, ExprId id, Kind kind);
    std::string sum_definitions() const;
    std::string total(const std::string& start) const;
    CFunction filled(std::vector<CAxis> axes,
                     const std::string& value,
                     const std::string& condition,
                     const std::function<void(CLines&)>& body);

    const loop::StageGraph& graph_;
    const loop::StagePool& pool_;
    const Stage& stage_;
    const TensorNames& tensors_;
    const StageNames& names_;
    ExprPrinter c_, acsl_;
    ExprPrinter whole_c_, whole_acsl_;  // without shared parts, for texts outside of the steps
    std::vector<CAxis> outer_, inner_;  // of elements, and of the sum
    std::vector<CAxis> loops_;          // in the order of the formula
    std::unordered_map<loop::VarId, std::string, IdHash> var_names_;
    size_t c_guards_ = 0, acsl_guards_ = 0;  // shared parts of the guards
    Kind kind_ = Kind::F64;                  // of the accumulator
    std::vector<std::string> faults_;
    int open_ = 0;
};

// ---- What kind of stage -------------------------------------------------------------------------

bool StageWriter::reads_itself() const {
    bool result = false;
    loop::for_each_value(stage_, [&](ExprId value) {
        pool_.visit_reads(value, [&](ExprId, const Expr& e) {
            for (const StageWrite& write : stage_.writes) {
                result |= loop::tensor_of(e) == write.tensor;
            }
        });
    });
    return result;
}

bool StageWriter::is_map() const {
    if (loop::accumulates(stage_) || stage_.writes.size() != 1 || reads_itself()) return false;
    const loop::WriteShape shape = loop::write_shape(stage_, write(), pool_);
    return shape.injective && shape.vars.size() == stage_.loops.size();
}

bool StageWriter::is_reduction() const {
    if (!loop::accumulates(stage_) || stage_.writes.size() != 1 || !stage_.initial.valid()) {
        return false;
    }
    return loop::write_shape(stage_, write(), pool_).injective && !reads_itself();
}

// ---- Pieces -------------------------------------------------------------------------------------

void StageWriter::name_loops() {
    std::vector<loop::VarId> of_elements;
    if (stage_.writes.size() == 1) {
        of_elements = loop::write_shape(stage_, write(), pool_).vars;
    }
    for (const loop::StageLoop& loop : stage_.loops) {
        const bool element = !is_reduction() || has(of_elements, loop.var);
        std::vector<CAxis>& axes = element ? outer_ : inner_;
        CAxis axis{fmt::format("{}{}", element ? "i" : "k", axes.size()), loop.extent};
        var_names_[loop.var] = axis.index;
        for (ExprPrinter* const printer : {&c_, &acsl_, &whole_c_, &whole_acsl_}) {
            printer->name_var(loop.var, axis.index);
        }
        axes.push_back(axis);
        loops_.push_back(std::move(axis));
    }
}

// Guards may use shared parts as well. They come first, because the reads of values are inside of
// their tensors only where the guards hold.
void StageWriter::share() {
    std::vector<ExprId> of_guards, of_values;
    for (const loop::StageInverse& inverse : stage_.inverses) {
        of_guards.push_back(pool_[inverse.position].args[0]);
    }
    for (const loop::StageGuard& guard : stage_.guards) of_guards.push_back(guard.index);
    of_values.push_back(stage_.condition);
    for (const StageWrite& write : stage_.writes) {
        of_values.push_back(write.value);
        for (const ExprId index : write.index) of_values.push_back(index);
    }
    c_guards_ = c_.share(of_guards, of_values);
    acsl_guards_ = acsl_.share(of_guards, of_values);
}

std::vector<std::string> StageWriter::guards(ExprPrinter& printer) const {
    std::vector<std::string> parts;
    for (const loop::StageInverse& inverse : stage_.inverses) {
        parts.push_back(fmt::format(
            "(({} % {}) == 0)", printer.value(pool_[inverse.position].args[0]), inverse.factor));
    }
    for (const loop::StageGuard& guard : stage_.guards) {
        const loop::StagePool::Range range = pool_.range(guard.index);
        const std::string index = printer.value(guard.index);
        if (range.low < 0) parts.push_back(fmt::format("({} >= 0)", index));
        if (range.high >= guard.extent) {
            parts.push_back(fmt::format("({} < {})", index, guard.extent));
        }
    }
    return parts;
}

// Empty if there are none.
std::string StageWriter::guards_text(ExprPrinter& printer) const {
    return fmt::format("{}", fmt::join(guards(printer), " && "));
}

CBox StageWriter::box(const StageWrite& write) const {
    CBox box;
    const tensor::Shape& shape = graph_.shapes.at(write.tensor);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        const int64_t last = std::max<int64_t>(shape[axis] - 1, 0);
        const loop::StagePool::Range range = pool_.range(write.index[axis]);
        const int64_t low = std::clamp<int64_t>(range.low, 0, last);
        box.emplace_back(low, std::clamp<int64_t>(range.high, low, last));
    }
    return box;
}

// The elements that the stage writes, in the notation of contracts.
std::string StageWriter::written_text(const StageWrite& write) const {
    std::string text = tensors_.at(write.tensor);
    const tensor::Shape& shape = graph_.shapes.at(write.tensor);
    const CBox box = this->box(write);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        text += range_text(box[axis], shape[axis]);
    }
    return text;
}

std::vector<ir::TensorId> StageWriter::used() const {
    std::vector<ir::TensorId> result;
    const auto add = [&](ir::TensorId id) {
        if (!has(result, id)) result.push_back(id);
    };
    loop::for_each_value(stage_, [&](ExprId value) {
        pool_.visit_reads(value, [&](ExprId, const Expr& e) { add(loop::tensor_of(e)); });
    });
    for (const StageWrite& write : stage_.writes) add(write.tensor);
    return result;
}

void StageWriter::put_shared(CLines& lines, size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
        const Shared& each = c_.shared()[i];
        lines.put(fmt::format("const {} {} = {};", each.type, each.name, each.text));
    }
}

// The condition under which reads of the value leave their tensors.
void StageWriter::find_faults(ExprId id,
                              const std::string& when,
                              std::vector<std::string>& faults) {
    if (!id.valid() || c_.reads_inside(id)) return;
    const Expr& e = pool_[id];
    const auto add = [&](const std::string& inside) {
        if (!inside.empty()) {
            faults.push_back(when.empty() ? fmt::format("(!{})", inside)
                                          : fmt::format("({} && (!{}))", when, inside));
        }
    };
    if (e.op == Op::Select) {
        const std::string condition = c_.value(e.args[0]);
        const std::string before = when.empty() ? "" : when + " && ";
        find_faults(e.args[0], when, faults);
        const size_t mark = c_.assume(e.args[0], true);
        find_faults(e.args[1], before + condition, faults);
        c_.forget(mark);
        c_.assume(e.args[0], false);
        find_faults(e.args[2], fmt::format("{}(!{})", before, condition), faults);
        c_.forget(mark);
        return;
    }
    for (const ExprId arg : e.args) find_faults(arg, when, faults);
    if (e.op == Op::Read) add(c_.inside_text(loop::tensor_of(e), e.args));
}

void StageWriter::put_faults(CLines& lines) {
    if (faults_.empty()) return;
    lines.open(fmt::format("if ({}) {{", fmt::join(faults_, " || ")));
    lines.put(fmt::format("{} = 1;", names_.fault));
    lines.close();
}

void StageWriter::open_guards(CLines& lines) {
    put_shared(lines, 0, c_guards_);
    open_ = 0;
    if (const std::string text = guards_text(c_); !text.empty()) {
        lines.open(fmt::format("if ({}) {{", text));
        ++open_;
    }
    put_shared(lines, c_guards_, c_.shared().size());
    put_faults(lines);
    if (stage_.condition.valid()) {
        lines.open(fmt::format("if ({}) {{", c_.value(stage_.condition)));
        ++open_;
    }
}

void StageWriter::close_guards(CLines& lines) {
    for (; open_ > 0; --open_) lines.close();
}

// ---- Filling a tensor ---------------------------------------------------------------------------

// A loop assigns the elements whose indices the loops around it decide.
Filling StageWriter::loops_of(const std::vector<CAxis>& axes, const std::string& predicate) {
    Filling filling{.axes = axes, .predicate = predicate, .assigns = {}, .nested = true};
    const std::string also = faults_.empty() ? "" : ", " + names_.fault;
    const CBox box = this->box(write());
    const tensor::Shape& shape = graph_.shapes.at(write().tensor);
    size_t decided_before = 0;
    for (size_t depth = 0; depth < axes.size(); ++depth) {
        std::string text = tensors_.at(write().tensor);
        size_t decided = 0;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const ExprId index = write().index[axis];
            if (!depends_on(index, std::span(axes).subspan(depth)) && shape[axis] > 1) {
                text += whole_acsl_.element_index(index);
                ++decided;
            } else {
                text += range_text(box[axis], shape[axis]);
            }
        }
        filling.nested &= depth == 0 || decided > decided_before;
        decided_before = decided;
        filling.assigns.push_back(text + also);
    }
    return filling;
}

bool StageWriter::depends_on(ExprId index, std::span<const CAxis> axes) const {
    return std::ranges::any_of(stage_.loops, [&](const loop::StageLoop& loop) {
        const auto found = var_names_.find(loop.var);
        return found != var_names_.end() && pool_.depends(index, loop.var) &&
               std::ranges::any_of(axes,
                                   [&](const CAxis& axis) { return axis.index == found->second; });
    });
}

// The predicates of one element and of all, and the function with the loops. The value and the
// condition are ACSL.
CFunction StageWriter::filled(std::vector<CAxis> axes,
                              const std::string& value,
                              const std::string& condition,
                              const std::function<void(CLines&)>& body) {
    CFunction function{.name = names_.function,
                       .logic = {},
                       .contract = {},
                       .signature = fmt::format("static void {}(void)", names_.function),
                       .body = {}};
    const std::string at = names_.id + "_at";
    function.holds = names_.id + "_holds";
    std::string element =
        fmt::format("{} == {}", whole_acsl_.element(write().tensor, write().index), value);
    if (!condition.empty()) element = fmt::format("({}) ==> {}", condition, element);
    function.logic = fmt::format("/*@ predicate {}{{L}}{} =\n  @     {};\n",
                                 at,
                                 axes.empty() ? "" : "(" + parameters(axes, "integer") + ")",
                                 element);
    function.logic += fmt::format(
        "  @ predicate {}{{L}} =\n  @     {};\n  @*/\n", function.holds, for_all(axes, at));
    function.assigns = written_text(write());
    function.box = box(write());
    if (!faults_.empty()) function.assigns += ", " + names_.fault;
    function.faults = !faults_.empty();
    function.contract =
        fmt::format("/*@ assigns {};\n  @ ensures {};\n", function.assigns, function.holds);
    CLines lines;
    lines.open("{");
    open_loops(loops_of(axes, at), lines);
    body(lines);
    for (size_t i = 0; i < axes.size(); ++i) lines.close();
    lines.close();
    function.body = lines.take();
    function.tensors = used();
    function.written = {write().tensor};
    return function;
}

CFunction StageWriter::fill_map() {
    const DType dtype = graph_.dtypes.at(write().tensor);
    std::string condition = guards_text(acsl_);
    if (stage_.condition.valid()) {
        const std::string own = acsl_.value(stage_.condition);
        condition = condition.empty() ? own : condition + " && " + own;
    }
    const std::string value = acsl_.stored(write().value, dtype);
    std::string lets = acsl_.lets();
    if (!lets.empty() && !condition.empty()) {
        condition = fmt::format("({}{})", lets, condition);
    }
    const std::string whole = lets.empty() ? value : fmt::format("({}{})", lets, value);
    return filled(outer_, whole, condition, [&](CLines& lines) {
        open_guards(lines);
        lines.put(fmt::format("{} = {};",
                              whole_c_.element(write().tensor, write().index),
                              c_.stored(write().value, dtype)));
        close_guards(lines);
    });
}

// ---- Reductions ---------------------------------------------------------------------------------

std::string StageWriter::in_kind(ExprPrinter& printer, ExprId id, Kind kind) {
    const ExprId as = const_cast<loop::StagePool&>(pool_).build.cast(id, kind);
    return printer.value(as);
}

std::string StageWriter::combined(ExprPrinter& printer,
                                  const std::string& acc,
                                  const std::string& value) {
    const Op op = loop::combining_op(stage_.combine);
    if (op == Op::And) return fmt::format("((({} != 0) && {}) ? 1 : 0)", acc, value);
    if (op == Op::Or) return fmt::format("((({} != 0) || {}) ? 1 : 0)", acc, value);
    return printer.call(function_of(op, kind_), {acc, value});
}

std::string StageWriter::initial(ExprPrinter& printer) {
    const std::string text = in_kind(printer, stage_.initial, kind_);
    return kind_ == Kind::Bool ? fmt::format("({} ? 1 : 0)", text) : text;
}

// The accumulator after one step.
std::string StageWriter::tap(ExprPrinter& printer, const std::string& acc) {
    return combined(printer, acc, in_kind(printer, write().value, kind_));
}

// The logic functions: one for a step, and one for each axis of the sum.
std::string StageWriter::sum_definitions() const {
    StageWriter& self = const_cast<StageWriter&>(*this);
    const std::string& id = names_.id;
    const std::string_view type = logic_type(kind_);
    std::string step = self.tap(self.acsl_, "acc");
    if (stage_.condition.valid()) {
        step = fmt::format("({} ? {} : acc)", self.acsl_.value(stage_.condition), step);
    }
    std::string lets, outer_lets;
    for (size_t i = 0; i < acsl_.shared().size(); ++i) {
        const Shared& each = acsl_.shared()[i];
        (i < acsl_guards_ ? outer_lets : lets) +=
            fmt::format("\\let {} = {}; ", each.name, each.text);
    }
    if (!lets.empty()) step = fmt::format("({}{})", lets, step);
    if (const std::string when = guards_text(self.acsl_); !when.empty()) {
        step = fmt::format("(({}) ? {} : acc)", when, step);
    }
    std::string text = fmt::format("/*@ axiomatic {}_sums {{\n", id);
    const auto header = [&](std::string_view name, size_t inner) {
        std::string all = parameters(outer_, "integer");
        const std::string sums = parameters(std::span(inner_).first(inner), "integer");
        if (!all.empty() && !sums.empty()) all += ", ";
        all += sums;
        return fmt::format("  @ logic {} {}_{}{{L}}({} acc{}{}) =\n  @     ",
                           type,
                           id,
                           name,
                           type,
                           all.empty() ? "" : ", ",
                           all);
    };
    text += header("tap", inner_.size()) + outer_lets + step + ";\n";
    for (size_t level = inner_.size(); level-- > 0;) {
        std::string before = index_names(outer_);
        for (size_t i = 0; i < level; ++i) {
            before += fmt::format("{}{}", before.empty() ? "" : ", ", inner_[i].index);
        }
        const std::string& k = inner_[level].index;
        const std::string comma = before.empty() ? "" : ", ";
        const std::string previous =
            fmt::format("{}_sum{}(acc{}{}, {} - 1)", id, level, comma, before, k);
        const std::string inner =
            level + 1 == inner_.size()
                ? fmt::format("{}_tap({}{}{}, {} - 1)", id, previous, comma, before, k)
                : fmt::format("{}_sum{}({}{}{}, {} - 1, {})",
                              id,
                              level + 1,
                              previous,
                              comma,
                              before,
                              k,
                              inner_[level + 1].extent);
        text += header(fmt::format("sum{}", level), level + 1) +
                fmt::format("{} <= 0 ? acc : {};\n", k, inner);
    }
    return text + "  @ }\n  @*/\n";
}

std::string StageWriter::total(const std::string& start) const {
    const std::string outer = index_names(outer_);
    const std::string comma = outer.empty() ? "" : ", ";
    if (inner_.empty()) return fmt::format("{}_tap({}{}{})", names_.id, start, comma, outer);
    return fmt::format("{}_sum0({}{}{}, {})", names_.id, start, comma, outer, inner_[0].extent);
}

CFunction StageWriter::point_function() {
    const std::string name = names_.id + "_point";
    CFunction function{
        .name = name,
        .logic = sum_definitions(),
        .contract = {},
        .signature = fmt::format("static {} {}({})",
                                 value_type(kind_),
                                 name,
                                 outer_.empty() ? "void" : parameters(outer_, "int32_t")),
        .body = {}};
    const std::string start = initial(whole_acsl_);
    const std::string assigns = faults_.empty() ? "\\nothing" : names_.fault;
    function.contract = "/*@ ";
    if (!outer_.empty()) {
        function.contract += fmt::format("requires {};\n  @ ", index_ranges(outer_));
    }
    function.contract +=
        fmt::format("assigns {};\n  @ ensures \\result == {};\n", assigns, total(start));
    CLines lines;
    lines.open("{");
    lines.put(fmt::format("{} acc = {};", value_type(kind_), initial(whole_c_)));
    const std::string also = faults_.empty() ? "" : ", " + names_.fault;
    std::string before = start;
    std::string given = index_names(outer_);
    for (size_t level = 0; level < inner_.size(); ++level) {
        const CAxis& axis = inner_[level];
        if (level > 0) {
            before = fmt::format("before_{}", axis.index);
            lines.put(fmt::format("/*@ ghost {} {} = acc; */", value_type(kind_), before));
        }
        const std::string comma = given.empty() ? "" : ", ";
        lines.annotate({fmt::format("loop invariant 0 <= {} <= {};", axis.index, axis.extent),
                        fmt::format("loop invariant acc == {}_sum{}({}{}{}, {});",
                                    names_.id,
                                    level,
                                    before,
                                    comma,
                                    given,
                                    axis.index),
                        fmt::format("loop assigns {}, acc{};", axis.index, also),
                        fmt::format("loop variant {} - {};", axis.extent, axis.index)});
        lines.open(
            fmt::format("for (int32_t {0} = 0; {0} < {1}; {0}++) {{", axis.index, axis.extent));
        given += fmt::format("{}{}", given.empty() ? "" : ", ", axis.index);
    }
    open_guards(lines);
    lines.put(fmt::format("acc = {};", tap(c_, "acc")));
    close_guards(lines);
    for (size_t i = 0; i < inner_.size(); ++i) lines.close();
    lines.put("return acc;");
    lines.close();
    function.body = lines.take();
    function.tensors = used();
    std::erase(function.tensors, write().tensor);
    function.faults = !faults_.empty();
    return function;
}

std::vector<CFunction> StageWriter::fill_reduction() {
    const DType dtype = graph_.dtypes.at(write().tensor);
    CFunction point = point_function();
    const auto as_stored = [&](const ExprPrinter& printer, const std::string& value) {
        const std::string held = kind_ == Kind::Bool ? fmt::format("({} != 0)", value) : value;
        return printer.stored(held, kind_, dtype);
    };
    const std::string value = as_stored(acsl_, total(initial(whole_acsl_)));
    CFunction fill = filled(outer_, value, {}, [&](CLines& lines) {
        lines.put(
            fmt::format("{} = {};",
                        whole_c_.element(write().tensor, write().index),
                        as_stored(c_, fmt::format("{}({})", point.name, index_names(outer_)))));
    });
    fill.calls = {point.name};
    std::vector<CFunction> both;
    both.push_back(std::move(point));
    both.push_back(std::move(fill));
    return both;
}

// ---- Other stages -------------------------------------------------------------------------------

// The loops in the order of the formula. Its contract says what it may change, not what it
// computes.
CFunction StageWriter::sequence() {
    CFunction function{.name = names_.function,
                       .logic = {},
                       .contract = {},
                       .signature = fmt::format("static void {}(void)", names_.function),
                       .body = {}};
    std::vector<std::string> boxes;
    for (const StageWrite& write : stage_.writes) {
        boxes.push_back(written_text(write));
        if (!c_.is_inside(write.tensor, write.index)) function.faults = true;
        if (!has(function.written, write.tensor)) {
            function.written.push_back(write.tensor);
        }
    }
    function.faults |= !faults_.empty();
    if (function.faults) boxes.push_back(names_.fault);
    function.assigns = fmt::format("{}", fmt::join(boxes, ", "));
    function.contract = fmt::format("/*@ assigns {};\n", function.assigns);
    CLines lines;
    lines.open("{");
    const std::vector<std::string> assigns(loops_.size(), function.assigns);
    open_loops({.axes = loops_, .predicate = {}, .assigns = assigns}, lines);
    open_guards(lines);
    // All values are computed before the first one is stored.
    std::vector<std::string> values;
    const bool several = stage_.writes.size() > 1;
    for (const StageWrite& write : stage_.writes) {
        const DType dtype = graph_.dtypes.at(write.tensor);
        std::string text;
        if (loop::accumulates(stage_)) {
            kind_ = std::max(pool_[write.value].type.kind, loop::kind_of(dtype));
            loop::Builder& build = const_cast<loop::StagePool&>(pool_).build;
            const ExprId old = build.read(write.tensor.value, loop::kind_of(dtype), write.index);
            std::string acc = in_kind(c_, old, kind_);
            if (kind_ == Kind::Bool) acc = fmt::format("({} ? 1 : 0)", acc);
            text = combined(c_, acc, in_kind(c_, write.value, kind_));
            if (kind_ == Kind::Bool) text = fmt::format("({} != 0)", text);
            text = c_.stored(text, kind_, dtype);
        } else {
            text = c_.stored(write.value, dtype);
        }
        if (several) {
            const std::string name = fmt::format("value{}", values.size());
            lines.put(fmt::format("const {} {} = {};", c_type(dtype), name, text));
            text = name;
        }
        values.push_back(std::move(text));
    }
    for (size_t i = 0; i < values.size(); ++i) {
        const StageWrite& write = stage_.writes[i];
        const std::string inside = c_.inside_text(write.tensor, write.index);
        if (!inside.empty()) lines.open(fmt::format("if ({}) {{", inside));
        lines.put(fmt::format("{} = {};", c_.element(write.tensor, write.index), values[i]));
        if (inside.empty()) continue;
        lines.between("} else {");
        lines.put(fmt::format("{} = 1;", names_.fault));
        lines.close();
    }
    close_guards(lines);
    for (size_t i = 0; i < loops_.size(); ++i) lines.close();
    lines.close();
    function.body = lines.take();
    function.tensors = used();
    return function;
}

std::vector<CFunction> StageWriter::run() {
    name_loops();
    const bool inside = stage_.writes.size() == 1 && c_.is_inside(write().tensor, write().index);
    const bool map = inside && is_map(), reduction = inside && is_reduction();
    if (loop::accumulates(stage_) && !stage_.writes.empty()) {
        kind_ = std::max(pool_[write().value].type.kind,
                         loop::kind_of(graph_.dtypes.at(write().tensor)));
        const bool in_float = pool_.accumulate == ir::Accumulate::F32;
        if (kind_ == Kind::F32 && stage_.initial.valid() && !in_float) {
            kind_ = std::max(kind_, pool_[stage_.initial].type.kind);
        }
    }
    share();
    for (const StageWrite& write : stage_.writes) {
        find_faults(write.value, {}, faults_);
        for (const ExprId index : write.index) find_faults(index, {}, faults_);
    }
    find_faults(stage_.condition, {}, faults_);
    if (c_.too_long() || acsl_.too_long()) return {};
    if (map) return {fill_map()};
    if (reduction) return fill_reduction();
    return {sequence()};
}

}  // namespace

std::vector<CFunction> write_stage(const loop::StageGraph& graph,
                                   const Stage& stage,
                                   const TensorNames& tensors,
                                   const StageNames& names) {
    return StageWriter(graph, stage, tensors, names).run();
}

}  // namespace lemma::emit

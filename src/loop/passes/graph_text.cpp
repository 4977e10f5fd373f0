// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/graph_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/match.h"

namespace lemma::loop {

std::string name_of(const ir::Program& program, ir::TensorId id) {
    if (id.value >= program.tensors.size()) return fmt::format("made.{}", id.value);
    return program.tensors[id].name;
}

std::string head(const ir::Program& program, ir::OpId op, const std::string& label) {
    return fmt::format("{} {}", op.valid() ? program.operations[op].op : "", label);
}

namespace {

const char* combine_text(ir::FormulaOp op) {
    switch (op) {
        case ir::FormulaOp::Assign:
            return "=";
        case ir::FormulaOp::Update:
            return ":=";
        case ir::FormulaOp::Sum:
            return "+=";
        case ir::FormulaOp::Product:
            return "*=";
        case ir::FormulaOp::Min:
            return "<=";
        case ir::FormulaOp::Max:
            return ">=";
        case ir::FormulaOp::All:
            return "&=";
        case ir::FormulaOp::Any:
            return "|=";
    }
    return "?";
}

// Prints the expressions of one stage. An expression with several uses gets its own numbered line.
class StageText {
public:
    StageText(const StagePool& pool, const ir::Program& program) : pool_(pool), program_(program) {}

    std::string print(const Stage& stage);

private:
    void count(ExprId id) {
        if (!id.valid() || ++uses_[id] > 1) return;
        for (const ExprId arg : pool_[id].args) count(arg);
    }
    bool leaf(const Expr& e) const { return e.op == Op::Constant || e.op == Op::Var; }
    // The text of an expression; the lines that it needs are written first.
    std::string text(ExprId id);
    std::string made(ExprId id);
    std::string extent_text(int64_t extent, ExprId end) {
        return end.valid() ? text(end) : fmt::format("{}", extent);
    }
    std::string list(const std::vector<ExprId>& ids) {
        std::vector<std::string> texts;
        for (const ExprId id : ids) texts.push_back(text(id));
        return fmt::format("{}", fmt::join(texts, ", "));
    }

    const StagePool& pool_;
    const ir::Program& program_;
    std::unordered_map<ExprId, int, IdHash> uses_;
    std::unordered_map<ExprId, size_t, IdHash> names_;
    std::string lines_;
};

std::string StageText::text(ExprId id) {
    if (leaf(pool_[id]) || uses_[id] < 2) return made(id);
    if (const auto known = names_.find(id); known != names_.end()) {
        return fmt::format("%{}", known->second);
    }
    const std::string value = made(id);
    const size_t number = names_.size() + 1;
    names_[id] = number;
    lines_ += fmt::format("    %{} = {}\n", number, value);
    return fmt::format("%{}", number);
}

std::string StageText::made(ExprId id) {
    const Expr& e = pool_[id];
    const auto infix = [&](const char* op) {
        return fmt::format("({} {} {})", text(e.args[0]), op, text(e.args[1]));
    };
    switch (e.op) {
        case Op::Constant:
            return e.type.real() ? fmt::format("{}", e.real) : fmt::format("{}", e.integer);
        case Op::Var:
            return fmt::format("v{}", e.integer);
        case Op::Read:
            return fmt::format("{}[{}]", name_of(program_, tensor_of(e)), list(e.args));
        case Op::Assume:
            return text(e.args[0]);
        case Op::Add:
            return infix("+");
        case Op::Sub:
            return infix("-");
        case Op::Mul:
            return infix("*");
        case Op::Div:
            return infix("/");
        case Op::Mod:
            return infix("%");
        case Op::Less:
            return infix("<");
        case Op::LessEqual:
            return infix("<=");
        case Op::Equal:
            return infix("==");
        case Op::NotEqual:
            return infix("!=");
        default:
            break;
    }
    if (e.op == Op::Cast) return fmt::format("{}({})", type_text(e.type), list(e.args));
    return fmt::format("{}({})", e.name ? e.name : op_text(e.op), list(e.args));
}

std::string StageText::print(const Stage& stage) {
    for_each_value(stage, [&](ExprId id) { count(id); });
    std::vector<std::string> loops;
    for (const StageLoop& loop : stage.loops) {
        loops.push_back(
            fmt::format("v{} < {}", loop.var.value, extent_text(loop.extent, pool_.end(loop.var))));
    }
    std::string body;
    for (const StageGuard& guard : stage.guards) {
        body += fmt::format(
            "    only 0 <= {} < {}\n", text(guard.index), extent_text(guard.extent, guard.end));
    }
    if (stage.condition.valid()) body += fmt::format("    only {}\n", text(stage.condition));
    for (const StageWrite& write : stage.writes) {
        body += fmt::format("    {}[{}] {} {}\n",
                            name_of(program_, write.tensor),
                            list(write.index),
                            combine_text(stage.combine),
                            text(write.value));
    }
    if (stage.kept) {
        body += fmt::format("    keeping {}[{}] = {}\n",
                            name_of(program_, stage.kept->tensor),
                            list(stage.kept->index),
                            text(stage.kept->value));
    }
    if (stage.initial.valid()) body += fmt::format("    from {}\n", text(stage.initial));
    if (stage.finish.valid()) {
        const std::string total = stage.total.valid() ? text(stage.total) : "";
        body += fmt::format("    then {} with the total {}\n", text(stage.finish), total);
    }
    for (const StageWrite& write : stage.also) {
        body += fmt::format("    also {}[{}] = {}\n",
                            name_of(program_, write.tensor),
                            list(write.index),
                            text(write.value));
    }
    return fmt::format(
        "  for {}{}\n{}{}", fmt::join(loops, ", "), stage.empty ? " never" : "", lines_, body);
}

std::string vars_text(const std::vector<VarId>& vars) {
    std::vector<std::string> texts;
    for (const VarId var : vars) texts.push_back(fmt::format("v{}", var.value));
    return fmt::format("{}", fmt::join(texts, ", "));
}

std::string window_text(const Window& window) {
    std::vector<VarId> points;
    for (const Window::Axis& axis : window.axes) points.push_back(axis.point);
    return fmt::format(
        ", F({}, 3) of {} tiles along [{}]", window.outputs, window.tiles, vars_text(points));
}

std::string contraction_text(const Contraction& c) {
    return fmt::format(
        "  {}: lane v{}{}, points [{}], batch [{}], reduced [{}], tile {}x({}x{}){}\n",
        c.product ? "sum of products" : "pairs",
        c.lane.value,
        c.lane_in_a  ? " of both"
        : c.in_place ? " in place"
                     : "",
        vars_text(c.points),
        vars_text(c.batch),
        vars_text(c.reduced),
        c.vectors,
        c.rows,
        c.columns,
        c.kind == Kind::I32 ? " of bytes"
        : c.terms           ? " of terms"
        : c.window          ? window_text(*c.window)
                            : "");
}

std::string rows_text(const RowGroup& rows) {
    std::vector<VarId> vars;
    for (const StageLoop& loop : rows.loops) vars.push_back(loop.var);
    return fmt::format("  row by row: [{}]\n", vars_text(vars));
}

}  // namespace

std::string print(const StageGraph& graph, const ir::Program& program) {
    std::string text;
    for (const FusionGroup& group : graph.groups) {
        if (group.dead) continue;
        text += head(program, group.op, group.label);
        if (group.once) text += " once";
        text += match(
            group.kind,
            [](const CompiledGroup&) -> std::string { return ""; },
            [](const DynamicGroup&) -> std::string { return ": run-time extents"; },
            [](const InterpretedGroup& g) -> std::string { return ": interpreted, for " + g.why; },
            [](const CheckGroup&) -> std::string { return ": checks its results"; },
            [](const ControlGroup&) -> std::string { return ": control flow"; });
        text += "\n";
        if (group.contraction) text += contraction_text(*group.contraction);
        if (group.rows) text += rows_text(*group.rows);
        const auto* const dynamic = std::get_if<DynamicGroup>(&group.kind);
        for (const Stage& stage : dynamic ? dynamic->shape.stages : group.stages) {
            text += StageText(graph.pool, program).print(stage);
        }
    }
    return text;
}

std::string print(const RegionGraph& region) {
    std::map<std::string, std::string> lines;  // sorted by name, unlike a hash table
    const auto line = [&](ir::TensorId id) -> std::string& {
        return lines[name_of(region.program, id)];
    };
    for (const auto& [id, axis] : region.layouts.innermost) {
        line(id) += fmt::format(" axis {} innermost", axis);
    }
    for (const auto& [id, halo] : region.layouts.halos) {
        line(id) += fmt::format(" zeros [{}] below, [{}] above",
                                fmt::join(halo.below, ", "),
                                fmt::join(halo.above, ", "));
    }
    for (const auto& [id, whole] : region.inside) {
        line(id) += fmt::format(" inside {} at [{}]",
                                name_of(region.program, whole.first),
                                fmt::join(whole.second, ", "));
    }
    for (const auto& [id, parent] : region.parents) {
        line(id) += fmt::format(
            " inside {} from element {}", name_of(region.program, parent.first), parent.second);
    }
    for (const auto& [id, operand] : region.in_place) {
        line(id) += fmt::format(" in place of {}", name_of(region.program, operand));
    }
    for (const ir::TensorId id : region.lifted) line(id) += " before the loop";
    std::string text = print(region.graph, region.program);
    for (const auto& [name, what] : lines) text += fmt::format("layout {}:{}\n", name, what);
    return text;
}

}  // namespace lemma::loop

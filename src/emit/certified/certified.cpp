#include "emit/certified/certified.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/match.h"
#include "emit/certified/arithmetic.h"
#include "emit/certified/lower.h"
#include "emit/certified/nest.h"
#include "emit/certified/program_files.h"

namespace lemma::emit {

using tensor::DType;

namespace {

using TensorList = std::vector<ir::TensorId>;

void add_once(TensorList& list, ir::TensorId id) {
    if (!has(list, id)) list.push_back(id);
}

// Whether two functions write different elements of one tensor.
bool apart(const CBox& a, const CBox& b) {
    for (size_t axis = 0; axis < std::min(a.size(), b.size()); ++axis) {
        if (a[axis].second < b[axis].first || b[axis].second < a[axis].first) return true;
    }
    return false;
}

class ModelWriter {
public:
    ModelWriter(const CertifiedInput& input,
                LoweredProgram& lowered,
                std::vector<Obstacle>& obstacles)
        : input_(input),
          program_(input.program),
          lowered_(lowered),
          graph_(lowered.graph),
          obstacles_(obstacles) {}

    std::optional<CertifiedModel> run();

private:
    // What a step of the model does: a function without arguments.
    struct Call {
        std::string function;
        std::string holds;         // may be empty
        TensorList used, written;  // used: read or written
        CBox box;                  // as in CFunction
        std::vector<std::string> assigns;
        bool faults = false;
        ir::OpId op;
    };
    using Calls = std::vector<Call>;

    void find_arrays();
    void use_steps(const Steps& steps);
    void use(ir::TensorId id);
    CArray array_of(ir::TensorId id) const;
    std::string declaration(ir::TensorId id) const;
    std::optional<interpret::Array> constant_values(const ir::Tensor& tensor);

    void add(CFunction function, ir::OpId op);
    Call call_of(const CFunction& function, ir::OpId op) const;
    Call group_function(const loop::FusionGroup& group);
    Call copy_function(const CopyStep& step, ir::OpId op);
    Call loop_function(const LoopStep& step);
    Call branch_function(const BranchStep& step);
    Call sequence_function(const std::string& name,
                           const std::string& comment,
                           const Calls& calls,
                           ir::OpId op);
    Calls calls_of(const Steps& steps);
    std::string op_comment(const loop::FusionGroup& group) const;
    std::string short_name(ir::OpId id) const;
    std::string new_id() { return fmt::format("n{}", next_++); }
    void put_item_switch(const LoopStep::Item& item,
                         bool take,
                         int64_t count,
                         ir::OpId op,
                         CLines& lines,
                         Calls& all);
    static void put_calls(const Calls& calls, CLines& lines);
    Call finish_function(CFunction function, const Calls& inner, ir::OpId op);
    Calls in_blocks(Calls calls);
    void run_function(const Calls& calls);
    std::vector<CFile> files();

    const CertifiedInput& input_;
    const ir::Program& program_;
    LoweredProgram& lowered_;
    loop::StageGraph& graph_;
    std::vector<Obstacle>& obstacles_;
    TensorNames names_;
    CNames c_names_;
    TensorList arrays_;  // in the order of the program
    std::unordered_set<ir::TensorId, IdHash> used_;
    std::unordered_set<ir::TensorId, IdHash> changed_;  // variables with updates
    std::vector<CConstant> constants_;
    std::unordered_set<ir::TensorId, IdHash> constant_;
    CProgram c_program_;
    std::unordered_set<ir::TensorId, IdHash> ports_;
    std::vector<std::pair<std::string, CertifiedFunction>> functions_;  // with their comments
    std::string pending_comment_;
    std::vector<ir::OpId> unspecified_;
    std::string fault_;
    int next_ = 0;
};

// ---- Arrays -------------------------------------------------------------------------------------

void ModelWriter::use(ir::TensorId id) {
    if (id.valid()) used_.insert(id);
}

void ModelWriter::use_steps(const Steps& steps) {
    const auto copies = [&](const std::vector<CopyStep>& list) {
        for (const CopyStep& step : list) {
            use(step.from);
            use(step.to);
        }
    };
    for (const Step& step : steps) {
        match(
            step.kind,
            [&](const GroupStep& s) {
                for (const loop::Stage& stage : graph_.groups[s.group].stages) {
                    loop::for_each_value(stage, [&](loop::ExprId value) {
                        graph_.pool.visit_reads(value, [&](loop::ExprId, const loop::Expr& e) {
                            use(loop::tensor_of(e));
                        });
                    });
                    for (const loop::StageWrite& write : stage.writes) use(write.tensor);
                }
            },
            [&](const CopyStep& s) { copies({s}); },
            [&](const IntrinsicStep& s) {
                const ir::Operation& op = program_.operations[s.op];
                for (const auto* const ports : {&op.inputs, &op.outputs}) {
                    for (const ir::Port& port : *ports) {
                        for (const ir::TensorId id : port.operand.items) use(id);
                    }
                }
            },
            [&](const LoopStep& s) {
                use(s.dynamic_count);
                use(s.index);
                use(s.pre_value);
                use(s.post_value);
                copies(s.before);
                copies(s.after_body);
                copies(s.after);
                for (const auto* const items : {&s.taken, &s.collected}) {
                    for (const LoopStep::Item& item : *items) {
                        use(item.item);
                        for (const ir::TensorId id : item.pack) use(id);
                    }
                }
                use_steps(s.pre);
                use_steps(s.body);
                use_steps(s.post);
            },
            [&](const BranchStep& s) {
                for (const BranchStep::Arm& arm : s.arms) {
                    use(arm.value);
                    use_steps(arm.condition);
                    use_steps(arm.body);
                    copies(arm.results);
                }
            });
    }
}

std::optional<interpret::Array> ModelWriter::constant_values(const ir::Tensor& tensor) {
    tensor::Shape shape;
    for (const ir::SymId part : tensor.shape) {
        shape.push_back(program_.symbols.as_int(part).value_or(0));
    }
    auto array = interpret::Array::zeros(tensor.dtype, shape);
    if (!array || (tensor.items.empty() && array->size > 0)) return std::nullopt;
    for (int64_t i = 0; i < array->size; ++i) {
        const size_t at = tensor.items.size() == 1 ? 0 : static_cast<size_t>(i);
        if (at >= tensor.items.size()) return std::nullopt;
        ir::Scalar item = tensor.items[at];
        if (const auto* const symbol = std::get_if<ir::SymId>(&item)) {
            if (const auto number = program_.symbols.as_int(*symbol)) {
                item = *number;
            } else if (const auto real = program_.symbols.as_real(*symbol)) {
                item = *real;
            } else if (const auto flag = program_.symbols.as_bool(*symbol)) {
                item = *flag;
            } else {
                return std::nullopt;
            }
        }
        const auto* const number = std::get_if<int64_t>(&item);
        const auto* const real = std::get_if<double>(&item);
        const auto* const flag = std::get_if<bool>(&item);
        const auto element = static_cast<size_t>(i);
        if (tensor::is_real(tensor.dtype)) {
            array->reals[element] = real ? *real : number ? static_cast<double>(*number) : 0;
        } else {
            array->integers[element] = number ? *number : flag && *flag ? 1 : 0;
        }
    }
    array->round();
    return std::move(*array);
}

void ModelWriter::find_arrays() {
    for (const ir::Update& update : program_.updates) changed_.insert(update.variable);
    use_steps(lowered_.steps);
    use_steps(lowered_.updates);
    const ir::Graph& main = program_.graphs[program_.main];
    const auto ports = [&](const std::vector<ir::Port>& from, std::vector<CPort>& to) {
        for (const ir::Port& port : from) {
            for (size_t i = 0; i < port.operand.items.size(); ++i) {
                ir::TensorId id = port.operand.items[i];
                if (&to == &c_program_.outputs && lowered_.outputs.contains(id)) {
                    id = lowered_.outputs.at(id);
                }
                used_.insert(id);
                ports_.insert(id);
                to.push_back({port.operand.packed ? fmt::format("{}.{}", port.name, i) : port.name,
                              CArray{.name = fmt::format("{}", id.value)}});
            }
        }
    };
    ports(main.inputs, c_program_.inputs);
    ports(main.outputs, c_program_.outputs);
    for (const ir::TensorId id : used_) arrays_.push_back(id);
    std::ranges::sort(arrays_, {}, [](ir::TensorId id) { return id.value; });
    for (const ir::TensorId id : arrays_) {
        const bool own = id.value >= program_.tensors.size();
        const bool copy = std::ranges::any_of(
            lowered_.outputs, [&](const auto& output) { return output.second == id; });
        names_[id] = c_names_.make("t_",
                                   copy  ? "output"
                                   : own ? "inner"
                                         : program_.tensors[id].name);
    }
    for (auto* const list : {&c_program_.inputs, &c_program_.outputs}) {
        for (CPort& port : *list) {
            port.array = array_of(make_id<ir::TensorId>(std::stoul(port.array.name)));
        }
    }
    for (const ir::TensorId id : arrays_) {
        if (id.value >= program_.tensors.size()) continue;
        const ir::Tensor& tensor = program_.tensors[id];
        if (tensor.role == ir::TensorRole::Constant) {
            auto values = constant_values(tensor);
            if (!values) {
                obstacles_.push_back(
                    {{}, fmt::format("the constant `{}` is known only when it runs", tensor.name)});
                continue;
            }
            constants_.push_back({array_of(id), std::move(*values)});
            constant_.insert(id);
        } else if (tensor.role == ir::TensorRole::Variable) {
            const interpret::Array* const value = input_.variable(tensor);
            if (!value) {
                obstacles_.push_back(
                    {{}, fmt::format("the variable `{}` has no data", tensor.name)});
                continue;
            }
            CArray array = array_of(id);
            if (changed_.contains(id)) {
                c_program_.variables.push_back(array);
                array.name += "_start";
            } else {
                constant_.insert(id);
            }
            constants_.push_back({std::move(array), *value});
        }
    }
}

CArray ModelWriter::array_of(ir::TensorId id) const {
    const bool own = id.value >= program_.tensors.size();
    return {.name = names_.at(id),
            .tensor = own ? "inner" : program_.tensors[id].name,
            .dtype = graph_.dtypes.at(id),
            .shape = graph_.shapes.at(id)};
}

std::string ModelWriter::declaration(ir::TensorId id) const {
    const std::string text = array_of(id).declaration();
    if (constant_.contains(id)) return fmt::format("extern const {};", text);
    if (ports_.contains(id)) return fmt::format("extern {};", text);
    return fmt::format("static {};", text);
}

// ---- Functions ----------------------------------------------------------------------------------

void ModelWriter::add(CFunction function, ir::OpId op) {
    CertifiedFunction made{.code = std::move(function), .op = op, .declarations = {}};
    for (const ir::TensorId id : made.code.tensors) made.declarations.push_back(declaration(id));
    functions_.emplace_back(std::exchange(pending_comment_, {}), std::move(made));
}

ModelWriter::Call ModelWriter::call_of(const CFunction& function, ir::OpId op) const {
    Call call{.function = function.name,
              .holds = function.holds,
              .used = function.tensors,
              .written = function.written,
              .box = function.box,
              .assigns = {},
              .faults = function.faults,
              .op = op};
    if (!function.assigns.empty()) call.assigns.push_back(function.assigns);
    return call;
}

std::string ModelWriter::short_name(ir::OpId id) const {
    std::string name = program_.operations[id].op;
    if (const size_t dot = name.rfind('.'); dot != std::string::npos) name = name.substr(dot + 1);
    std::string text;
    for (const char c : name.substr(0, 20)) {
        const auto byte = static_cast<unsigned char>(c);
        text += std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : '_';
    }
    return text;
}

std::string ModelWriter::op_comment(const loop::FusionGroup& group) const {
    const ir::Operation& op = program_.operations[group.op];
    std::string text = fmt::format(
        "/* {}{}{}\n", comment_text(op.op), op.label.empty() ? "" : ": ", comment_text(op.label));
    const auto put = [&](std::string_view what, const std::vector<ir::Port>& ports) {
        for (const ir::Port& port : ports) {
            for (const ir::TensorId id : port.operand.items) {
                if (!names_.contains(id)) continue;
                text += fmt::format("   {} {}: {}\n",
                                    what,
                                    array_of(id).declaration(),
                                    comment_text(program_.tensors[id].name));
            }
        }
    };
    put("from", op.inputs);
    put("to", op.outputs);
    return text + " */\n";
}

ModelWriter::Call ModelWriter::group_function(const loop::FusionGroup& group) {
    const std::string id = new_id();
    const std::string name = fmt::format("{}_{}", id, short_name(group.op));
    pending_comment_ = op_comment(group);
    Calls calls;
    size_t stages = 0;
    for (const loop::Stage& stage : group.stages) stages += stage.empty ? 0 : 1;
    size_t number = 0;
    for (const loop::Stage& stage : group.stages) {
        if (stage.empty) continue;
        ++number;
        const StageNames names{.id = stages == 1 ? id : fmt::format("{}_{}", id, number),
                               .function = stages == 1 ? name : fmt::format("{}_{}", name, number),
                               .fault = fault_};
        auto functions = write_stage(graph_, stage, names_, names);
        if (functions.empty()) {
            obstacles_.push_back({group.op, "its formula is too long to be written as C"});
            return {};
        }
        for (size_t i = 0; i < functions.size(); ++i) {
            if (i + 1 == functions.size()) calls.push_back(call_of(functions[i], group.op));
            add(std::move(functions[i]), group.op);
        }
    }
    const bool specified =
        std::ranges::all_of(calls, [](const Call& call) { return !call.holds.empty(); });
    if (!specified) unspecified_.push_back(group.op);
    if (calls.size() == 1) return calls[0];
    if (calls.empty()) return {};
    return sequence_function(name, {}, calls, group.op);
}

// Copies are stages too.
ModelWriter::Call ModelWriter::copy_function(const CopyStep& step, ir::OpId op) {
    const std::string id = new_id();
    loop::Stage stage;
    stage.combine = ir::FormulaOp::Assign;
    loop::Builder& build = graph_.pool.build;
    std::vector<loop::ExprId> index;
    for (const int64_t extent : graph_.shapes.at(step.to)) {
        stage.empty |= extent == 0;
        if (extent <= 1) {
            index.push_back(build.integer(0));
            continue;
        }
        const loop::VarId var = graph_.pool.new_var(extent);
        stage.loops.push_back({var, extent});
        index.push_back(build.index(var));
    }
    if (stage.empty) return {};
    const loop::Kind kind = loop::kind_of(graph_.dtypes.at(step.from));
    const loop::ExprId value = build.read(step.from.value, kind, index);
    stage.writes.push_back({step.to, std::move(index), value});
    auto functions =
        write_stage(graph_, stage, names_, {.id = id, .function = id + "_copy", .fault = fault_});
    const Call call = call_of(functions[0], op);
    add(std::move(functions[0]), op);
    return call;
}

void ModelWriter::put_calls(const Calls& calls, CLines& lines) {
    for (const Call& call : calls) lines.put(call.function + "();");
}

// The function with its calls; its contract names everything that they assign.
ModelWriter::Call ModelWriter::finish_function(CFunction function,
                                               const Calls& inner,
                                               ir::OpId op) {
    Call call{.function = function.name,
              .holds = {},
              .used = {},
              .written = {},
              .assigns = {},
              .faults = false,
              .op = op};
    for (const Call& each : inner) {
        for (const ir::TensorId id : each.used) add_once(call.used, id);
        for (const ir::TensorId id : each.written) add_once(call.written, id);
        for (const std::string& assigned : each.assigns) {
            if (!has(call.assigns, assigned)) call.assigns.push_back(assigned);
        }
        call.faults |= each.faults;
        if (!has(function.calls, each.function)) {
            function.calls.push_back(each.function);
        }
    }
    function.tensors = call.used;
    function.written = call.written;
    function.faults = call.faults;
    function.assigns =
        call.assigns.empty() ? "\\nothing" : fmt::format("{}", fmt::join(call.assigns, ", "));
    function.contract = fmt::format("/*@ assigns {};\n{}", function.assigns, function.contract);
    call.holds = function.holds;
    add(std::move(function), op);
    return call;
}

// Calls one after another. What a call ensures still holds at the end if no later call writes a
// tensor of it, or only other elements, as the parts of a concatenation do.
ModelWriter::Call ModelWriter::sequence_function(const std::string& name,
                                                 const std::string& comment,
                                                 const Calls& calls,
                                                 ir::OpId op) {
    CFunction function{.name = name,
                       .logic = {},
                       .contract = {},
                       .signature = fmt::format("static void {}(void)", name),
                       .body = {}};
    std::vector<std::string> holding;
    for (size_t i = 0; i < calls.size(); ++i) {
        if (calls[i].holds.empty()) continue;
        bool kept = true;
        for (size_t k = i + 1; k < calls.size(); ++k) {
            if (calls[i].written == calls[k].written && apart(calls[i].box, calls[k].box)) continue;
            for (const ir::TensorId id : calls[k].written) {
                kept &= !has(calls[i].used, id);
            }
        }
        if (kept) holding.push_back(calls[i].holds);
    }
    function.composition = true;
    if (!holding.empty()) {
        function.holds = name + "_holds";
        function.logic = fmt::format("/*@ predicate {}{{L}} =\n  @     {};\n  @*/\n",
                                     function.holds,
                                     fmt::join(holding, " && "));
        function.contract += fmt::format("  @ ensures {};\n", function.holds);
    }
    CLines lines;
    lines.open("{");
    put_calls(calls, lines);
    lines.close();
    function.body = lines.take();
    if (!comment.empty()) pending_comment_ = comment;
    return finish_function(std::move(function), calls, op);
}

// ---- Control flow -------------------------------------------------------------------------------

ModelWriter::Calls ModelWriter::calls_of(const Steps& steps) {
    Calls calls;
    for (const Step& step : steps) {
        Call call;
        match(
            step.kind,
            [&](const GroupStep& s) { call = group_function(graph_.groups[s.group]); },
            [&](const CopyStep& s) { call = copy_function(s, {}); },
            [&](const IntrinsicStep& s) {
                obstacles_.push_back({s.op, "it has no formula, and no C function either"});
            },
            [&](const LoopStep& s) { call = loop_function(s); },
            [&](const BranchStep& s) { call = branch_function(s); });
        if (!call.function.empty()) calls.push_back(std::move(call));
    }
    return calls;
}

void ModelWriter::put_item_switch(
    const LoopStep::Item& item, bool take, int64_t count, ir::OpId op, CLines& lines, Calls& all) {
    lines.open("switch (step) {");
    for (int64_t i = 0; i < count; ++i) {
        const ir::TensorId each = item.pack[static_cast<size_t>(i)];
        const Call call =
            copy_function(take ? CopyStep{each, item.item} : CopyStep{item.item, each}, op);
        if (call.function.empty()) continue;
        lines.put(fmt::format("case {}:", i));
        lines.put(fmt::format("    {}();", call.function));
        lines.put("    break;");
        all.push_back(call);
    }
    lines.put("default:");
    lines.put("    break;");
    lines.close();
}

ModelWriter::Call ModelWriter::loop_function(const LoopStep& step) {
    const std::string name = new_id() + "_loop";
    CFunction function{.name = name,
                       .logic = {},
                       .contract = {},
                       .signature = fmt::format("static void {}(void)", name),
                       .body = {}};
    Calls all;
    const auto copies = [&](const std::vector<CopyStep>& list, CLines& lines) {
        for (const CopyStep& copy : list) {
            const Call call = copy_function(copy, step.op);
            if (call.function.empty()) continue;
            put_calls({call}, lines);
            all.push_back(call);
        }
    };
    const auto calls = [&](const Steps& steps, CLines& lines) {
        const Calls made = calls_of(steps);
        put_calls(made, lines);
        all.insert(all.end(), made.begin(), made.end());
    };
    CLines start, body, end;
    for (CLines* const lines : {&start, &body, &end}) lines->open("{");
    copies(step.before, start);
    body.open("");
    if (step.dynamic_count.valid()) {
        body.open(fmt::format("if (step >= {}) {{", names_.at(step.dynamic_count)));
        body.put("break;");
        body.close();
        all.push_back({.function = {},
                       .holds = {},
                       .used = {step.dynamic_count},
                       .written = {},
                       .assigns = {},
                       .faults = false,
                       .op = step.op});
    }
    if (step.index.valid()) {
        const std::string& index = names_.at(step.index);
        body.put(fmt::format("{} = {};", index, "step"));
        all.push_back({.function = {},
                       .holds = {},
                       .used = {step.index},
                       .written = {step.index},
                       .assigns = {index},
                       .faults = false,
                       .op = step.op});
    }
    for (const LoopStep::Item& item : step.taken) {
        put_item_switch(item, true, step.count, step.op, body, all);
    }
    const auto condition = [&](const Steps& steps, ir::TensorId value) {
        if (!value.valid()) return;
        calls(steps, body);
        body.open(fmt::format("if ({} == 0U) {{", names_.at(value)));
        body.put("break;");
        body.close();
        all.push_back({.function = {},
                       .holds = {},
                       .used = {value},
                       .written = {},
                       .assigns = {},
                       .faults = false,
                       .op = step.op});
    };
    condition(step.pre, step.pre_value);
    calls(step.body, body);
    for (const LoopStep::Item& item : step.collected) {
        put_item_switch(item, false, step.count, step.op, body, all);
    }
    copies(step.after_body, body);
    condition(step.post, step.post_value);
    copies(step.after, end);

    std::vector<std::string> assigned;
    for (const Call& call : all) {
        for (const std::string& each : call.assigns) {
            if (!has(assigned, each)) assigned.push_back(each);
        }
    }
    std::erase_if(all, [](const Call&) { return false; });
    const auto inner = [](CLines& lines) {
        std::string text = lines.take();
        return text.substr(text.find('\n') + 1);  // without the brace
    };
    std::string text = "{\n" + inner(start);
    text += fmt::format(
        "    /*@ loop invariant 0 <= step <= {0};\n      @ loop assigns step{1}{2};\n"
        "      @ loop variant {0} - step;\n      @*/\n    for (int32_t step = 0; step < {0}; "
        "step++) {{",
        step.count,
        assigned.empty() ? "" : ", ",
        fmt::join(assigned, ", "));
    text += inner(body) + "    }\n" + inner(end) + "}\n";
    function.body = std::move(text);
    unspecified_.push_back(step.op);
    Calls named;
    for (Call& call : all) named.push_back(std::move(call));
    Call result = finish_function(std::move(function), named, step.op);
    return result;
}

ModelWriter::Call ModelWriter::branch_function(const BranchStep& step) {
    const std::string name = new_id() + "_branch";
    CFunction function{.name = name,
                       .logic = {},
                       .contract = {},
                       .signature = fmt::format("static void {}(void)", name),
                       .body = {}};
    Calls all;
    CLines lines;
    lines.open("{");
    size_t open = 0;
    for (const BranchStep::Arm& arm : step.arms) {
        const auto calls = [&](const Steps& steps) {
            const Calls made = calls_of(steps);
            put_calls(made, lines);
            all.insert(all.end(), made.begin(), made.end());
        };
        if (arm.value.valid()) {
            calls(arm.condition);
            lines.open(fmt::format("if ({} != 0U) {{", names_.at(arm.value)));
            ++open;
            all.push_back({.function = {},
                           .holds = {},
                           .used = {arm.value},
                           .written = {},
                           .assigns = {},
                           .faults = false,
                           .op = step.op});
        }
        calls(arm.body);
        for (const CopyStep& copy : arm.results) {
            const Call call = copy_function(copy, step.op);
            if (call.function.empty()) continue;
            put_calls({call}, lines);
            all.push_back(call);
        }
        if (arm.value.valid()) lines.between("} else {");
    }
    for (; open > 0; --open) lines.close();
    lines.close();
    function.body = lines.take();
    unspecified_.push_back(step.op);
    return finish_function(std::move(function), all, step.op);
}

// ---- The model ----------------------------------------------------------------------------------

// Calls in blocks of a few, and blocks of blocks: a proof about many calls takes long.
ModelWriter::Calls ModelWriter::in_blocks(Calls calls) {
    constexpr size_t kMostCalls = 8;
    for (int level = 0; calls.size() > kMostCalls; ++level) {
        Calls blocks;
        for (size_t begin = 0; begin < calls.size(); begin += kMostCalls) {
            const size_t end = std::min(begin + kMostCalls, calls.size());
            const Calls part(calls.begin() + static_cast<ptrdiff_t>(begin),
                             calls.begin() + static_cast<ptrdiff_t>(end));
            blocks.push_back(sequence_function(
                fmt::format("{}_block{}_{}", input_.name, level, blocks.size()), {}, part, {}));
        }
        calls = std::move(blocks);
    }
    return calls;
}

void ModelWriter::run_function(const Calls& calls) {
    const std::string& name = input_.name;
    const Call step =
        sequence_function(name + "_compute",
                          "/* Every operation holds of the tensors as they are at the end. */\n",
                          in_blocks(calls),
                          {});
    const Calls updates = calls_of(lowered_.updates);
    CFunction run{.name = name + "_run",
                  .logic = {},
                  .contract = {},
                  .signature = fmt::format("int32_t {}_run(void)", name),
                  .body = {},
                  .composition = true};
    CLines lines;
    lines.open("{");
    const bool faults = step.faults;
    if (faults) lines.put(fmt::format("{} = 0;", fault_));
    put_calls({step}, lines);
    put_calls(updates, lines);
    lines.put(faults ? fmt::format("return {};", fault_) : "return 0;");
    lines.close();
    run.body = lines.take();
    if (updates.empty() && !step.holds.empty()) {
        run.contract = fmt::format("  @ ensures {};\n", step.holds);
    }
    if (!faults) run.contract += "  @ ensures \\result == 0;\n";
    Calls all = {step};
    all.insert(all.end(), updates.begin(), updates.end());
    finish_function(std::move(run), all, {});
}

std::vector<CFile> ModelWriter::files() {
    const std::string& name = input_.name;
    std::vector<CFile> files = weight_files(input_.origin, constants_);
    files.push_back({"sx.h", arithmetic_header()});
    files.push_back({"sx.c", arithmetic_source()});
    std::string text = fmt::format(
        "/* The model: one function for each operation, in the order of the run.\n   {}\n"
        "   Do not edit: write it again. */\n#include \"{}.h\"\n\n#include \"sx.h\"\n"
        "#include \"weights.h\"\n\n",
        input_.origin,
        name);
    bool faults = false;
    for (const auto& [comment, function] : functions_) faults |= function.code.faults;
    if (faults) text += fmt::format("static int32_t {};\n", fault_);
    for (const ir::TensorId id : arrays_) {
        if (constant_.contains(id)) continue;
        text += fmt::format(
            "{}{};\n", ports_.contains(id) ? "" : "static ", array_of(id).declaration());
    }
    text += "\n";
    for (const auto& [comment, function] : functions_) {
        text += comment + function.code.logic + function.code.definition() + "\n";
    }
    text += fmt::format("void {}_reset(void)\n{{\n", name);
    std::string copies;
    for (const CArray& array : c_program_.variables) {
        CLines lines;
        lines.open("{");
        std::string index;
        for (size_t axis = 0; axis < array.shape.size(); ++axis) {
            lines.open(fmt::format(
                "for (int32_t i{0} = 0; i{0} < {1}; i{0}++) {{", axis, array.shape[axis]));
            index += fmt::format("[i{}]", axis);
        }
        lines.put(fmt::format("{0}{1} = {0}_start{1};", array.name, index));
        for (size_t axis = 0; axis < array.shape.size(); ++axis) lines.close();
        const std::string all = lines.take();
        copies += all.substr(2);
    }
    text += copies + "}\n";
    files.push_back({name + ".c", std::move(text)});
    std::vector<std::string> sources;
    for (const CFile& file : files) {
        if (file.name.ends_with(".c")) sources.push_back(file.name);
    }
    files.push_back({name + ".h", header_text(c_program_)});
    files.push_back({"main.c", main_text(c_program_)});
    files.push_back({"Makefile", makefile_text(c_program_, sources)});
    files.push_back({name + ".json", description_json(c_program_, sources)});
    return files;
}

std::optional<CertifiedModel> ModelWriter::run() {
    fault_ = input_.name + "_fault";
    c_program_.name = input_.name;
    c_program_.origin = input_.origin;
    find_arrays();
    if (!obstacles_.empty()) return std::nullopt;
    const Calls calls = calls_of(lowered_.steps);
    if (!obstacles_.empty()) return std::nullopt;
    run_function(calls);
    CertifiedModel model;
    model.files = files();
    for (auto& [comment, function] : functions_) model.functions.push_back(std::move(function));
    model.unspecified = std::move(unspecified_);
    return model;
}

}  // namespace

std::optional<CertifiedModel> write_certified(const CertifiedInput& input,
                                              std::vector<Obstacle>& obstacles) {
    const auto lowered = lower(input.program, obstacles);
    if (!obstacles.empty()) {
        // Intrinsics are in the way as well; all of them are named at once.
        return std::nullopt;
    }
    return ModelWriter(input, *lowered, obstacles).run();
}

}  // namespace lemma::emit

// SPDX-License-Identifier: Apache-2.0
// Operations as calls.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sknd/eval/eval.h"
#include "sknd/export/writer.h"
#include "sknd/print/printer.h"

namespace lemma::sknd {

namespace {

constexpr int kMaxDepth = 400;  // nesting of compounds and blocks

class NothingKnown : public Environment {
public:
    const CompileValue* lookup(std::string_view) const override { return nullptr; }
    const CompileValue* member(std::string_view, MemberKind) const override { return nullptr; }
    std::optional<ir::ScalarType> type(std::string_view) const override { return std::nullopt; }
};

// Modules that define the operators of other formats.
bool is_foreign(const std::string& module) {
    return module.starts_with("nnef1.") || module.starts_with("onnx.");
}

std::vector<RegionId> bodies_of(const std::vector<Component>& components) {
    std::vector<RegionId> bodies;
    for (const Component& component : components) bodies.push_back(component.body);
    return bodies;
}

}  // namespace

void Writer::operations(const std::vector<ir::OpId>& list, int depth) {
    for (const ir::OpId id : list) operation(id, depth);
}

void Writer::operation(ir::OpId id, int depth) {
    const ir::Operation& op = program_.operations[id];
    span_ = op.span;
    if (depth > kMaxDepth) return cannot(&op, "operations are nested too deep to be written");
    if (const auto* control = std::get_if<ir::Branch>(&op.control)) {
        return branch(op, *control, depth + 1);
    }
    if (const auto* control = std::get_if<ir::Loop>(&op.control)) {
        return loop(op, *control, depth + 1);
    }
    const Callee callee = find_callee(op.op);
    if (is_called(op, callee)) return call(op, callee);
    if (op.compound()) {
        for (const ir::OpId part : op.parts) {
            if (is_live(program_.operations[part])) operation(part, depth + 1);
        }
        return;
    }
    // A constant by index symbols; most are only used inside a call.
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId tensor : port.operand.items) unwritten_.insert(tensor);
    }
}

Writer::Callee Writer::find_callee(const std::string& op) const {
    const size_t dot = op.rfind('.');
    const std::string of = dot == std::string::npos ? "" : op.substr(0, dot);
    for (size_t m = 0; m < package_.modules.size(); ++m) {
        const LoadedModule& module = package_.modules[m];
        if (m == 0 ? dot != std::string::npos : module.name != of) continue;
        const auto found = module.definition_index.find(op.substr(dot + 1));
        if (found == module.definition_index.end()) continue;
        return {&module, &module.module.definitions[found->second]};
    }
    return {};
}

// A private operator can be called only inside its module, so a compound with such parts is called
// itself.
bool Writer::is_called(const ir::Operation& op, const Callee& callee) const {
    if (!callee.definition) return false;
    if (!op.compound()) return true;
    if (!callee.module->standard || callee.definition->name.text.starts_with("_")) return false;
    if (quantizes_inside(op)) return false;
    return !is_foreign(callee.module->name) || !can_take_apart(op);
}

bool Writer::can_take_apart(const ir::Operation& op) const { return can_write(op.parts); }

bool Writer::can_write(const std::vector<ir::OpId>& list) const {
    const auto graph = [&](ir::GraphId id) {
        return !id.valid() || can_write(program_.graphs[id].operations);
    };
    return std::ranges::all_of(list, [&](ir::OpId id) {
        const ir::Operation& part = program_.operations[id];
        if (const auto* const branch = std::get_if<ir::Branch>(&part.control)) {
            return graph(branch->alternative) &&
                   std::ranges::all_of(branch->arms, [&](const ir::Branch::Arm& arm) {
                       return graph(arm.condition) && graph(arm.consequent);
                   });
        }
        if (const auto* const loop = std::get_if<ir::Loop>(&part.control)) {
            return graph(loop->pre_condition) && graph(loop->body) && graph(loop->post_condition);
        }
        const Callee callee = find_callee(part.op);
        if (!callee.definition) return false;
        const bool is_private = callee.definition->name.text.starts_with("_");
        if (part.compound() && (is_private || is_foreign(callee.module->name))) {
            return can_take_apart(part);
        }
        return !is_private;
    });
}

// Tensors inside a call have no name that could be quantised.
bool Writer::quantizes_inside(const ir::Operation& op) const {
    std::set<ir::TensorId> outside;
    for (const auto* ports : {&op.inputs, &op.outputs}) {
        for (const ir::Port& port : *ports)
            outside.insert(port.operand.items.begin(), port.operand.items.end());
    }
    return has_quantized_part(op, outside);
}

bool Writer::has_quantized_part(const ir::Operation& op,
                                const std::set<ir::TensorId>& outside) const {
    const auto quantized = [&](const ir::Port& port) {
        return std::ranges::any_of(port.operand.items, [&](ir::TensorId id) {
            return program_.tensors[id].quantizer && !outside.contains(id);
        });
    };
    return std::ranges::any_of(op.parts, [&](ir::OpId id) {
        const ir::Operation& part = program_.operations[id];
        return std::ranges::any_of(part.inputs, quantized) ||
               std::ranges::any_of(part.outputs, quantized) || has_quantized_part(part, outside);
    });
}

// Variables that the operator or its parts declare.
void Writer::find_variables(const ir::Operation& op, std::set<ir::TensorId>& found) const {
    const auto look = [&](ir::TensorId id) {
        if (program_.tensors[id].role == ir::TensorRole::Variable) found.insert(id);
    };
    for (const ir::Formula& formula : op.formulas) {
        for (const ir::Access& access : formula.accesses) look(access.tensor);
    }
    for (const ir::OpId id : op.parts) {
        const ir::Operation& part = program_.operations[id];
        for (const ir::Port& port : part.inputs) std::ranges::for_each(port.operand.items, look);
        find_variables(part, found);
    }
}

// Variables of an operator are named by its label, which is the name of a single result. Returns
// the label to write.
std::string Writer::take_variables(const ir::Operation& op) {
    std::set<ir::TensorId> found;
    find_variables(op, found);
    for (const ir::Port& port : op.inputs) {
        for (const ir::TensorId id : port.operand.items) found.erase(id);
    }
    if (found.empty()) return "";
    const bool single = op.outputs.size() == 1 && !op.outputs[0].operand.packed &&
                        op.outputs[0].operand.items.size() == 1;
    const std::string label = single ? name_of(op.outputs[0].operand.items[0])
                                     : identifiers_.make(op.label.substr(op.label.rfind('.') + 1));
    for (const ir::TensorId id : found) {
        const std::string& name = program_.tensors[id].name;
        if (!name.starts_with(op.label + ".")) {
            cannot(&op, fmt::format("the variable `{}` has no place in SkriptND", name));
            continue;
        }
        inner_.push_back({label + name.substr(op.label.size()), id, regions_ > 0});
    }
    return single ? "" : label + ": ";
}

namespace {

// Integers of SkriptND are signed and have 64 bits.
bool depends_on_width(const ir::Program& program, const ir::Operation& op) {
    if (op.op == "onnx.elementwise.BitCast") return true;
    if (op.op != "onnx.elementwise.BitwiseNot") return false;
    const ir::DType dtype = program.tensors[op.outputs.at(0).operand.items.at(0)].dtype;
    return dtype == ir::DType::U8 || dtype == ir::DType::U16 || dtype == ir::DType::U32 ||
           dtype == ir::DType::U64;
}

}  // namespace

void Writer::call(const ir::Operation& op, const Callee& callee) {
    if (depends_on_width(program_, op)) {
        const std::string_view name = std::string_view(op.op).substr(op.op.rfind('.') + 1);
        cannot(&op,
               fmt::format("`{}` depends on the widths of numbers, which SkriptND does not say",
                           name));
    }
    if (callee.module->standard) imports_.insert(callee.module->name);
    const std::string result = results(op);
    const std::string label = take_variables(op);
    line(fmt::format("{} = {}{}{}{}({});",
                     result,
                     label,
                     callee.module->standard ? op.op : own_name(callee),
                     types(op, callee),
                     attributes(op, callee),
                     arguments(op)));
}

const std::string& Writer::own_name(const Callee& callee) {
    const auto found = own_names_.find(callee.definition);
    if (found != own_names_.end()) return found->second;
    own_.push_back(callee);
    return own_names_[callee.definition] = identifiers_.make(callee.definition->name.text);
}

Writer::Callee Writer::find_callee(const QualifiedName& name, const LoadedModule& from) const {
    const std::string text = name.text();
    const size_t dot = text.rfind('.');
    const LoadedModule* module = &from;
    if (dot != std::string::npos) {
        const auto import = from.imports.find(text.substr(0, dot));
        if (import == from.imports.end()) return {};
        module = &package_[import->second];
    }
    const auto found = module->definition_index.find(text.substr(dot + 1));
    if (found == module->definition_index.end()) return {};
    return {module, &module->module.definitions[found->second]};
}

// Adds the operators that the definition calls.
void Writer::rename_calls(const Callee& callee, Module& module, RegionId id) {
    if (!id.valid()) return;
    auto& node = module.regions[id].node;
    if (auto* const call = std::get_if<Invocation>(&node)) {
        const Callee called = find_callee(call->callee, *callee.module);
        if (!called.definition) return;
        if (called.module->standard) {
            imports_.insert(called.module->name);
        } else {
            Name name = call->callee.parts.back();
            name.text = own_name(called);
            call->callee.parts = {name};
        }
    } else if (const auto* const block = std::get_if<Block>(&node)) {
        for (const RegionId inner : bodies_of(block->components))
            rename_calls(callee, module, inner);
    } else if (const auto* const branch = std::get_if<Branch>(&node)) {
        for (const Branch::Arm& arm : branch->arms) {
            rename_calls(callee, module, arm.condition);
            rename_calls(callee, module, arm.consequent);
        }
        rename_calls(callee, module, branch->alternative);
    } else if (const auto* const loop = std::get_if<Loop>(&node)) {
        for (const RegionId inner : {loop->pre_condition, loop->body, loop->post_condition})
            rename_calls(callee, module, inner);
    }
}

// Writes definitions together with those that they call.
std::string Writer::definitions() {
    std::string text;
    for (size_t i = 0; i < own_.size(); ++i) {
        const Callee callee = own_[i];
        Module module = callee.module->module;
        Definition definition = *callee.definition;
        definition.name.text = own_names_[callee.definition];
        for (const RegionId id : bodies_of(definition.composes)) rename_calls(callee, module, id);
        for (const RegionId id : bodies_of(definition.updates)) rename_calls(callee, module, id);
        module.imports.clear();
        module.comments.clear();
        module.definitions.clear();
        module.definitions.push_back(std::move(definition));
        text += print(module, diag::SourceMap{}) + "\n";
    }
    return text;
}

std::string Writer::results(const ir::Operation& op) {
    std::vector<std::string> parts;
    for (const ir::Port& port : op.outputs) {
        if (port.operand.null()) {
            parts.push_back("~");
        } else if (port.operand.packed && port.operand.length.valid()) {
            const std::string name = identifiers_.make(port.name);
            for (const ir::TensorId id : port.operand.items) names_[id] = name;
            parts.push_back(name + "..");
        } else if (port.operand.packed) {
            std::vector<std::string> items;
            for (const ir::TensorId id : port.operand.items) items.push_back(name_of(id));
            parts.push_back(fmt::format("[{}]", fmt::join(items, ", ")));
        } else {
            parts.push_back(name_of(port.operand.items[0]));
        }
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string Writer::arguments(const ir::Operation& op) {
    std::vector<std::string> parts;
    for (const ir::Port& port : op.inputs) parts.push_back(operand_text(port.operand));
    while (!parts.empty() && parts.back() == "~") parts.pop_back();
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string Writer::attributes(const ir::Operation& op, const Callee& callee) {
    std::vector<std::string> parts;
    for (const ir::Attribute& attribute : op.attributes) {
        if (std::holds_alternative<ir::Null>(attribute.value)) continue;
        if (is_default(callee, attribute)) continue;
        parts.push_back(fmt::format("{}={}", attribute.name, value_text(attribute.value)));
    }
    return parts.empty() ? "" : fmt::format("{{{}}}", fmt::join(parts, ", "));
}

// The default is a plain value, and the given value equals it.
bool Writer::is_default(const Callee& callee, const ir::Attribute& attribute) {
    const auto& attribs = callee.definition->attribs;
    const auto decl = std::find_if(attribs.begin(), attribs.end(), [&](const ParamDecl& d) {
        return d.name.text == attribute.name;
    });
    if (decl == attribs.end() || !decl->value.valid()) return false;
    ir::SymbolPool symbols;
    Diagnostics unheard(1);
    const NothingKnown nothing;
    const auto value =
        evaluate(callee.module->module, decl->value, nothing, symbols, EvalLimits{}, unheard);
    if (!value) return false;
    const auto* pack = std::get_if<ir::Pack>(&attribute.value);
    const auto* scalar = std::get_if<ir::Scalar>(&*value);
    if (pack && scalar) {
        return !pack->items.empty() &&
               std::all_of(pack->items.begin(), pack->items.end(), [&](const ir::Scalar& item) {
                   return item == *scalar;
               });
    }
    const auto* items = std::get_if<ir::Pack>(&*value);
    if (pack && items) return pack->items == items->items;
    const auto* given = std::get_if<ir::Scalar>(&attribute.value);
    return given && scalar && *given == *scalar;
}

// Generic types that follow from neither an input nor an attribute.
std::string Writer::types(const ir::Operation& op, const Callee& callee) {
    const Definition& definition = *callee.definition;
    bool told = true;
    for (const DtypeDecl& dtype : definition.dtypes) {
        bool found = false;
        for (size_t i = 0; i < definition.inputs.size() && i < op.inputs.size(); ++i) {
            found = found || (definition.inputs[i].type.base.text == dtype.name.text &&
                              !op.inputs[i].operand.items.empty());
        }
        for (const ParamDecl& decl : definition.attribs) {
            found = found || decl.type.base.text == dtype.name.text;
        }
        told = told && found;
    }
    if (told) return "";
    std::vector<std::string_view> names;
    for (const auto& [name, dtype] : op.dtypes) names.push_back(type_text(dtype));
    return fmt::format("<{}>", fmt::join(names, ", "));
}

}  // namespace lemma::sknd

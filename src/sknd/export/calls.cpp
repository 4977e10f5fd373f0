// Operations as calls.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sknd/eval/eval.h"
#include "sknd/export/writer.h"
#include "sknd/syntax/printer.h"

namespace lemma::sknd {

namespace {

constexpr int kMaxDepth = 400;  // of compounds and blocks inside one another

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
    if (op.compound()) return operations(op.parts, depth + 1);
    // A constant by index symbols: most are used inside of a call only.
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

// A private operator can be called inside of its module only; so a compound that has such parts is
// called itself.
bool Writer::is_called(const ir::Operation& op, const Callee& callee) const {
    if (!callee.definition) return false;
    if (!op.compound()) return true;
    if (!callee.module->standard || callee.definition->name.text.starts_with("_")) return false;
    return !is_foreign(callee.module->name) || !can_take_apart(op);
}

bool Writer::can_take_apart(const ir::Operation& op) const {
    return std::ranges::all_of(op.parts, [&](ir::OpId id) {
        const ir::Operation& part = program_.operations[id];
        if (part.kind == ir::OperationKind::Control) return true;
        const Callee callee = find_callee(part.op);
        if (!callee.definition) return false;
        const bool is_private = callee.definition->name.text.starts_with("_");
        if (part.compound() && (is_private || is_foreign(callee.module->name))) {
            return can_take_apart(part);
        }
        return !is_private;
    });
}

void Writer::call(const ir::Operation& op, const Callee& callee) {
    if (callee.module->standard) imports_.insert(callee.module->name);
    line(fmt::format("{} = {}{}{}({});",
                     results(op),
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

// A formula calls nothing, so that its definition stands by itself.
std::string Writer::definitions() {
    std::string text;
    for (const Callee& callee : own_) {
        Module module = callee.module->module;
        Definition definition = *callee.definition;
        definition.name.text = own_names_[callee.definition];
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

// The default is a plain value, and all that was given is that value.
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

// Generic types that neither an input nor an attribute tells.
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

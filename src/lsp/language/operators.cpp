// SPDX-License-Identifier: Apache-2.0
#include "lsp/language/operators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lemma::lsp {

namespace {

std::string one_line(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
        if (!blank)
            line += c;
        else if (!line.empty() && !line.ends_with(' '))
            line += ' ';
    }
    return line;
}

std::vector<ParamInfo> params(const View& view, const std::vector<sknd::ParamDecl>& decls) {
    std::vector<ParamInfo> infos;
    for (const sknd::ParamDecl& decl : decls) {
        const bool has_value = decl.value.valid();
        infos.push_back(
            {.name = std::string(decl.name.text),
             .type = one_line(view.source(decl.type.span)),
             .value = has_value ? one_line(view.source(view.module.exprs[decl.value].span)) : "",
             .optional = decl.type.optional,
             .place = {decl.name.span.begin, decl.name.span.end}});
    }
    return infos;
}

OperatorInfo describe(const View& view, const sknd::Definition& definition) {
    OperatorInfo op{.language = Language::SkriptND, .graph = definition.graph};
    op.documentation = view.comment_above(definition.span.begin);
    for (const sknd::DtypeDecl& decl : definition.dtypes) {
        op.types.push_back({.name = std::string(decl.name.text),
                            .type = std::string(decl.base.text),
                            .value = std::string(decl.fallback ? decl.fallback->text : ""),
                            .place = {decl.name.span.begin, decl.name.span.end}});
    }
    op.attributes = params(view, definition.attribs);
    op.inputs = params(view, definition.inputs);
    op.outputs = params(view, definition.outputs);
    op.place = {definition.name.span.begin, definition.name.span.end};
    return op;
}

bool is_tensor(const nnef1::Document& document, nnef1::TypeId id) {
    if (!id.valid()) return false;
    const nnef1::Type* type = &document.types[id];
    while (const auto* array = std::get_if<nnef1::ArrayType>(&type->node))
        type = &document.types[array->item];
    return std::holds_alternative<nnef1::TensorType>(type->node);
}

OperatorInfo describe(const View& view, const nnef1::Fragment& fragment) {
    OperatorInfo op{.language = Language::Nnef1};
    const nnef1::Document& document = view.document;
    const auto type_text = [&](nnef1::TypeId id) {
        return id.valid() ? one_line(view.source(document.types[id].span)) : std::string();
    };
    op.documentation = view.comment_above(fragment.span.begin);
    if (fragment.generic) op.types.push_back({.name = "?"});
    for (const nnef1::Param& param : fragment.params) {
        const bool has_value = param.default_value.valid();
        ParamInfo info{
            .name = std::string(param.name.text),
            .type = type_text(param.type),
            .value =
                has_value ? one_line(view.source(document.exprs[param.default_value].span)) : "",
            .place = {param.name.span.begin, param.name.span.end}};
        (is_tensor(document, param.type) ? op.inputs : op.attributes).push_back(std::move(info));
    }
    for (const nnef1::Result& result : fragment.results) {
        op.outputs.push_back({.name = std::string(result.name.text),
                              .type = type_text(result.type),
                              .place = {result.name.span.begin, result.name.span.end}});
    }
    op.place = {fragment.name.span.begin, fragment.name.span.end};
    return op;
}

std::string declaration(const ParamInfo& param) {
    std::string text = param.name;
    if (!param.type.empty()) text += ": " + param.type;
    if (!param.value.empty()) text += " = " + param.value;
    return text;
}

std::string nnef1_signature(const OperatorInfo& op) {
    const auto listed = [](const std::vector<ParamInfo>& params, std::string& text) {
        for (const ParamInfo& param : params) {
            if (!text.ends_with('(')) text += ',';
            text += "\n    " + declaration(param);
        }
    };
    std::string text = fmt::format("fragment {}{}(", op.name, op.types.empty() ? "" : "<?>");
    listed(op.inputs, text);
    listed(op.attributes, text);
    text += ")\n-> (";
    listed(op.outputs, text);
    return text + ")";
}

}  // namespace

const ParamInfo* OperatorInfo::attribute(std::string_view wanted) const {
    for (const auto* list : {&attributes, &inputs}) {
        if (list == &inputs && language != Language::Nnef1) break;
        for (const ParamInfo& param : *list) {
            if (param.name == wanted) return &param;
        }
    }
    return nullptr;
}

std::optional<OperatorInfo> describe_operator(const View& view,
                                              std::string_view name,
                                              const std::string& module) {
    const auto named = [&](OperatorInfo op) {
        op.name = module.empty() ? std::string(name) : fmt::format("{}.{}", module, name);
        return op;
    };
    if (view.language == Language::Nnef1) {
        for (const nnef1::Fragment& fragment : view.document.fragments) {
            if (fragment.name.text == name) return named(describe(view, fragment));
        }
        return std::nullopt;
    }
    for (const sknd::Definition& definition : view.module.definitions) {
        if (definition.name.text == name) return named(describe(view, definition));
    }
    return std::nullopt;
}

std::string call_line(const OperatorInfo& op) {
    const auto names = [](const std::vector<ParamInfo>& params) {
        std::vector<std::string> texts;
        for (const ParamInfo& param : params) {
            const bool may_miss = param.optional || !param.value.empty();
            texts.push_back(param.name + (may_miss ? "?" : ""));
        }
        return fmt::format("{}", fmt::join(texts, ", "));
    };
    std::vector<std::string> outputs;
    for (const ParamInfo& output : op.outputs) outputs.push_back(output.name);
    if (op.language == Language::Nnef1) {
        std::string all = names(op.inputs);
        if (!all.empty() && !op.attributes.empty()) all += ", ";
        return fmt::format(
            "{} = {}({}{})", fmt::join(outputs, ", "), op.name, all, names(op.attributes));
    }
    const std::string attributes =
        op.attributes.empty() ? "" : fmt::format("{{{}}}", names(op.attributes));
    return fmt::format(
        "{} = {}{}({})", fmt::join(outputs, ", "), op.name, attributes, names(op.inputs));
}

std::string signature_text(const OperatorInfo& op) {
    if (op.language == Language::Nnef1) return nnef1_signature(op);
    std::string text = fmt::format("{} {} {{\n", op.graph ? "graph" : "operator", op.name);
    const auto block = [&](const char* title, const std::vector<ParamInfo>& params) {
        if (params.empty()) return;
        text += fmt::format("    {} {{\n", title);
        for (const ParamInfo& param : params)
            text += fmt::format("        {};\n", declaration(param));
        text += "    }\n";
    };
    block("@dtype", op.types);
    block("@attrib", op.attributes);
    block("@input", op.inputs);
    block("@output", op.outputs);
    return text + "}";
}

}  // namespace lemma::lsp

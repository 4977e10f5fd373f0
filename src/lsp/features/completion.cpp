// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "lsp/features/call_site.h"
#include "lsp/features/requests.h"
#include "sknd/syntax/ast.h"
#include "sknd/syntax/functions.h"
#include "sknd/syntax/keywords.h"

namespace lemma::lsp {

namespace {

// Kinds of items of the protocol.
enum ItemKind : int {
    kFunction = 3,
    kField = 5,
    kVariable = 6,
    kClass = 7,
    kModule = 9,
    kProperty = 10,
    kKeyword = 14,
    kSnippet = 15,
    kConstant = 21,
    kTypeParameter = 25,
};

int item_kind(NameKind kind) {
    switch (kind) {
        case NameKind::Graph:
            return kClass;
        case NameKind::Operator:
            return kFunction;
        case NameKind::Type:
            return kTypeParameter;
        case NameKind::Attribute:
            return kProperty;
        case NameKind::Constant:
        case NameKind::Helper:
        case NameKind::Extent:
            return kConstant;
        default:
            return kVariable;
    }
}

class Items {
public:
    Items(const Query& query, Cursor cursor)
        : query_(query),
          cursor_(std::move(cursor)),
          range_(range_json(query.document.lines(), cursor_.word)) {}

    Json run() {
        if (cursor_.in_text) return finish();
        if (cursor_.prefix.starts_with('@'))
            add_blocks(true);
        else if (cursor_.in_import)
            add_modules();
        else if (query_.document.language() == Language::Nnef1)
            add_nnef1();
        else
            add_sknd();
        return finish();
    }

private:
    struct Text {
        std::string plain;
        std::string snippet;  // may be empty
    };

    // Whether the item may be what is being written: its characters appear in the label in this
    // order, the first one at the beginning of a word. There is room for so many.
    bool wanted(std::string_view label) {
        if (items_.size() >= kMaxItems) {
            full_ = true;
            return false;
        }
        const std::string& prefix = cursor_.prefix;
        if (prefix.empty() || !std::isalpha(static_cast<unsigned char>(prefix[0]))) return true;
        const auto same = [](char a, char b) {
            return std::tolower(static_cast<unsigned char>(a)) ==
                   std::tolower(static_cast<unsigned char>(b));
        };
        for (size_t begin = 0; begin < label.size(); ++begin) {
            const bool starts = begin == 0 || label[begin - 1] == '.' || label[begin - 1] == '_';
            if (!starts || !same(label[begin], prefix[0])) continue;
            size_t next = 1;
            for (size_t i = begin + 1; i < label.size() && next < prefix.size(); ++i) {
                if (same(label[i], prefix[next])) ++next;
            }
            if (next == prefix.size()) return true;
        }
        return false;
    }

    void add(std::string label, int kind, std::string detail, Text text, std::string order = "5") {
        if (!wanted(label) || !seen_.insert(label).second) return;
        const bool snippet = !text.snippet.empty() && query_.workspace.client.snippets;
        Json item = {
            {"label", label},
            {"kind", kind},
            {"sortText", order + label},
            {"textEdit", {{"range", range_}, {"newText", snippet ? text.snippet : text.plain}}}};
        if (!detail.empty()) item["detail"] = std::move(detail);
        if (snippet) item["insertTextFormat"] = 2;
        items_.push_back(std::move(item));
    }
    void add_word(const std::string& word, int kind, const char* detail, const char* order = "6") {
        add(word, kind, detail, {word, ""}, order);
    }
    void add_snippet(const std::string& label, const std::string& text, const char* detail) {
        if (query_.workspace.client.snippets) add(label, kSnippet, detail, {"", text}, "8");
    }
    void document(const std::string& text) {
        if (!text.empty() && !items_.empty())
            items_.back()["documentation"] = {{"kind", "markdown"}, {"value", text}};
    }

    // The arguments that a call must give, as fields of a snippet.
    class Fields {
    public:
        void add(const std::vector<ParamInfo>& params, const char* join) {
            for (const ParamInfo& param : params) {
                if (param.optional || !param.value.empty()) continue;
                ++count_;
                texts_.push_back(*join ? fmt::format("{}{}${{{}}}", param.name, join, count_)
                                       : fmt::format("${{{}:{}}}", count_, param.name));
            }
        }
        std::string take() {
            const std::string text = fmt::format("{}", fmt::join(texts_, ", "));
            texts_.clear();
            return text;
        }

    private:
        int count_ = 0;
        std::vector<std::string> texts_;
    };
    void add_operator(const OperatorInfo& op, const std::string& label, const char* order) {
        if (seen_.contains(label)) return;
        const bool sknd = op.language == Language::SkriptND;
        Fields fields;
        if (sknd) fields.add(op.attributes, "=");
        const std::string attributes = fields.take();
        fields.add(op.inputs, "");
        if (!sknd) fields.add(op.attributes, " = ");
        const std::string list = attributes.empty() ? "" : fmt::format("{{{}}}", attributes);
        add(label,
            kFunction,
            call_line(op),
            {label, fmt::format("{}{}({})", label, list, fields.take())},
            order);
        document(op.documentation);
    }
    void add_module_operators(const std::string& module, bool qualified) {
        for (const ViewedFile& file :
             query_.views.module(query_.workspace, query_.document.path(), module)) {
            if (!file.view) continue;
            for (const sknd::Definition& definition : file.view->module.definitions) {
                if (definition.graph || definition.name.text.starts_with('_')) continue;
                const std::string name(definition.name.text);
                const std::string label = qualified ? module + "." + name : name;
                if (!wanted(label)) continue;
                const auto op = describe_operator(*file.view, name, module);
                if (op) add_operator(*op, label, "3");
            }
        }
    }
    void add_modules() {
        const std::string before = cursor_.qualifier.empty() ? "" : cursor_.qualifier + ".";
        for (const std::string& name :
             query_.views.module_names(query_.workspace, query_.document.path())) {
            if (name.starts_with(before))
                add_word(name.substr(before.size()), kModule, "module", "4");
        }
    }
    void add_blocks(bool with_sign) {
        constexpr auto kLast = static_cast<uint8_t>(sknd::BlockKind::Quantize);
        for (uint8_t kind = 0; kind <= kLast; ++kind) {
            const std::string text(sknd::block_name(static_cast<sknd::BlockKind>(kind)));
            add(text,
                kKeyword,
                "block",
                {text, fmt::format("{} {{\n    $0\n}}", text)},
                with_sign ? "1" : "7");
        }
    }

    // ---- SkriptND -------------------------------------------------------------------------------

    void add_sknd() {
        const auto view = query_.view();
        if (!cursor_.qualifier.empty()) {
            add_members();
            return;
        }
        if (cursor_.block.empty()) {
            if (cursor_.in_definition)
                add_blocks(false);
            else
                add_top_level();
            return;
        }
        if (cursor_.call && cursor_.call->in_attributes && is_list_start()) {
            add_attributes();
            return;
        }
        if (cursor_.before == ":" && is_declaration_block()) {
            add_types(*view);
            return;
        }
        add_scope(*view);
        const bool composes = cursor_.block == "@compose" || cursor_.block == "@update" ||
                              cursor_.block == "@quantize";
        if (composes)
            add_callables(*view);
        else
            for (const std::string_view name : sknd::builtin_functions())
                add_word(std::string(name), kFunction, "function");
        for (const char* word : {"true", "false", "inf", "pi"})
            add_word(word, kConstant, "constant", "7");
    }
    bool is_list_start() const { return cursor_.before == "{" || cursor_.before == ","; }
    bool is_declaration_block() const {
        for (const char* name :
             {"@attrib", "@input", "@output", "@constant", "@variable", "@dtype"})
            if (cursor_.block == name) return true;
        return false;
    }
    void add_members() {
        add_module_operators(cursor_.qualifier, false);
        const auto view = query_.view();
        for (const Thing* thing : view->names.of_definition(view->definition_at(query_.offset()))) {
            if (thing->name != cursor_.qualifier) continue;
            for (const char* word : {"shape", "rank", "size"})
                add_word(word, kProperty, "of a tensor", "2");
        }
        // `onnx.` of `onnx.conv.Conv`
        const std::string before = cursor_.qualifier + ".";
        std::set<std::string> imported;
        for (const sknd::Import& import : view->module.imports) {
            for (const sknd::QualifiedName& name : import.modules) imported.insert(name.text());
        }
        for (const std::string& name : imported) {
            if (name.starts_with(before))
                add_word(name.substr(before.size()), kModule, "module", "4");
        }
    }
    void add_attributes() {
        const auto op = called_operator(query_, cursor_.call->callee);
        if (!op) return;
        for (const ParamInfo& param : op->attributes) {
            const auto& given = cursor_.call->given;
            if (std::ranges::find(given, param.name) != given.end()) continue;
            const std::string value = param.value.empty() ? "" : " = " + param.value;
            add(param.name,
                kField,
                param.type + value,
                {param.name + "=", fmt::format("{}=${{1:{}}}", param.name, escaped(param.value))},
                param.optional || !param.value.empty() ? "2" : "1");
            if (!param.value.empty()) document(fmt::format("Default: `{}`", param.value));
        }
    }
    static std::string escaped(const std::string& text) {
        std::string result;
        for (const char c : text) {
            if (c == '$' || c == '}' || c == '\\') result += '\\';
            result += c;
        }
        return result;
    }
    void add_types(const View& view) {
        for (const char* word : {"real", "int", "bool", "str"})
            add_word(word, kKeyword, "type", "1");
        for (const char* word : {"optional", "type", "arith", "num"})
            add_word(word, kKeyword, "", "3");
        for (const Thing* thing : view.names.of_definition(view.definition_at(query_.offset()))) {
            if (thing->kind == NameKind::Type)
                add_word(std::string(thing->name), kTypeParameter, "type", "1");
        }
    }
    void add_scope(const View& view) {
        for (const Thing* thing : view.names.of_definition(view.definition_at(query_.offset()))) {
            // A name that is being written is no use.
            if (thing->place.begin == cursor_.word.begin) continue;
            add(std::string(thing->name),
                item_kind(thing->kind),
                std::string(kind_text(thing->kind)),
                {std::string(thing->name), ""},
                thing->place.begin <= cursor_.word.begin ? "1" : "2");
        }
    }
    void add_callables(const View& view) {
        for (const sknd::Definition& definition : view.module.definitions) {
            if (definition.graph || !wanted(definition.name.text)) continue;
            const auto op = describe_operator(view, definition.name.text, "");
            if (op) add_operator(*op, op->name, "2");
        }
        for (const sknd::Import& import : view.module.imports) {
            for (const sknd::QualifiedName& module : import.modules) {
                add_word(module.text(), kModule, "module", "3");
                add_module_operators(module.text(), true);
            }
        }
        for (const char* word :
             {"if", "then", "elif", "else", "with", "for", "while", "do", "unroll", "yield"})
            add_word(word, kKeyword, "", "6");
        add_snippet("if … then … else", "if ${1:condition} then ${2:a} else ${3:b}", "a branch");
        add_snippet("with … do",
                    "with ${1:state} = ${2:initial} do..(${3:count}) {\n    ${4:next} = $0;\n"
                    "    yield ${4:next};\n}",
                    "a loop that carries a tensor");
    }
    void add_top_level() {
        for (const char* word : {"import", "graph", "operator", "public"})
            add_word(word, kKeyword, "", "2");
        add_snippet("graph …",
                    "graph ${1:main} {\n    @input {\n        ${2:x}: real[${3:1, 3, 224, 224}];\n"
                    "    }\n    @output {\n        ${4:y}: real[${5:1, 1000}];\n    }\n"
                    "    @compose {\n        ${4:y} = $0;\n    }\n}",
                    "a graph");
        add_snippet("operator …",
                    "operator ${1:name} {\n    @input {\n        ${2:x}: real[${3:s..}];\n    }\n"
                    "    @output {\n        ${4:y}: real[${3:s..}];\n    }\n"
                    "    @lower {\n        ${4:y}[i..] = ${0:x[i..]}, i < s;\n    }\n}",
                    "an operator with a formula");
    }

    // ---- NNEF 1.0 -------------------------------------------------------------------------------

    void add_nnef1() {
        const auto view = query_.view();
        if (!cursor_.in_definition) {
            for (const char* word : {"version", "extension", "graph", "fragment"})
                add_word(word, kKeyword, "", "1");
            add_snippet("graph …",
                        "graph ${1:net}( ${2:input} ) -> ( ${3:output} )\n{\n"
                        "    ${2:input} = external<scalar>(shape = [${4:1, 3, 224, 224}]);\n"
                        "    ${3:output} = $0;\n}",
                        "a graph");
            for (const char* word : {"tensor", "integer", "scalar", "logical", "string"})
                add_word(word, kKeyword, "type", "5");
            return;
        }
        if (cursor_.call) add_nnef1_arguments();
        add_scope(*view);
        for (const nnef1::Fragment& fragment : view->document.fragments) {
            const auto op = describe_operator(*view, fragment.name.text, "");
            if (op) add_operator(*op, op->name, "3");
        }
        const ViewedFile standard = query_.views.nnef1_standard();
        for (const nnef1::Fragment& fragment : standard.view->document.fragments) {
            if (!wanted(fragment.name.text)) continue;
            const auto op = describe_operator(*standard.view, fragment.name.text, "");
            if (op) add_operator(*op, op->name, "4");
        }
        for (const char* word : {"true",
                                 "false",
                                 "for",
                                 "in",
                                 "if",
                                 "else",
                                 "yield",
                                 "shape_of",
                                 "length_of",
                                 "range_of"})
            add_word(word, kKeyword, "", "6");
    }
    void add_nnef1_arguments() {
        const auto op = called_operator(query_, cursor_.call->callee);
        const bool start = cursor_.before == "(" || cursor_.before == ",";
        if (!op || !start) return;
        for (const auto* list : {&op->attributes, &op->inputs}) {
            for (const ParamInfo& param : *list) {
                const auto& given = cursor_.call->given;
                if (std::ranges::find(given, param.name) != given.end()) continue;
                const std::string value = param.value.empty() ? "" : " = " + param.value;
                add(param.name + " =",
                    kField,
                    param.type + value,
                    {param.name + " = ",
                     fmt::format("{} = ${{1:{}}}", param.name, escaped(param.value))},
                    list == &op->attributes ? "0" : "1");
                if (!param.value.empty()) document(fmt::format("Default: `{}`", param.value));
            }
        }
    }

    Json finish() { return {{"isIncomplete", full_}, {"items", std::move(items_)}}; }

    static constexpr size_t kMaxItems = 500;
    const Query& query_;
    Cursor cursor_;
    Json range_;
    std::set<std::string> seen_;
    Json items_ = Json::array();
    bool full_ = false;
};

}  // namespace

Answer completion(const Query& query) {
    const auto view = query.view();
    return Items(query, cursor_at(*view, query.offset())).run();
}

}  // namespace lemma::lsp

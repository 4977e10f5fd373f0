#include "sonnx/reference/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "diag/utf8.h"
#include "onnx/import.h"
#include "sonnx/defaults.h"
#include "sonnx/reference/arithmetic.h"
#include "sonnx/reference/node.h"
#include "sonnx/reference/weights.h"

namespace lemma::sonnx {

namespace reference {

std::string as_double(const CTensor& tensor, const std::string& value) {
    return tensor.type->bytes == 8 ? value : "(double)" + value;
}

std::string rounded(const CTensor& tensor, const std::string& value, std::string_view suffix) {
    return tensor.type->bytes == 8 ? value : fmt::format("sx_float{}({})", suffix, value);
}

std::optional<std::string> extents_problem(const Extents& extents) {
    for (const int64_t extent : extents) {
        if (extent < 1)
            return fmt::format("its shape is {}, expected extents of 1 or more",
                               shape_text(extents));
    }
    const auto count = element_count(extents);
    if (count && *count <= INT32_MAX) return std::nullopt;
    return fmt::format("its shape {} has more than 2^31-1 elements", shape_text(extents));
}

namespace {

struct Operator {
    std::string_view name;
    NodeResult (*code)(const NodeContext&);
    size_t tensors = 0;  // number of inputs that are tensors in C; 0: all
};
constexpr std::array<Operator, 7> kOperators = {{{"Add", arithmetic_code},
                                                 {"Concat", concat_code},
                                                 {"Conv", conv_code},
                                                 {"Div", arithmetic_code},
                                                 {"Expand", expand_code, 1},
                                                 {"Mul", arithmetic_code},
                                                 {"Sub", arithmetic_code}}};

const Operator* operator_of(const onnx::Node& node) {
    if (!onnx::is_default_domain(node.domain)) return nullptr;
    const auto found = std::ranges::find(kOperators, node.op, &Operator::name);
    return found == kOperators.end() ? nullptr : &*found;
}

class Writer {
public:
    Writer(const ReferenceInput& input, Diagnostics& diag)
        : input_(input), view_(input.subject), diag_(diag) {}

    std::optional<std::vector<SourceFile>> write() {
        const onnx::Graph& graph = view_.graph();
        for (const onnx::Node& node : graph.nodes) add_node_tensors(node);
        for (const onnx::ValueInfo& output : graph.outputs) check_output(output);
        for (size_t i = 0; i < graph.nodes.size(); ++i) {
            if (has_tensors(graph.nodes[i])) add_node(graph.nodes[i], i);
        }
        std::string constants = define_constants();
        if (diag_.has_errors()) return std::nullopt;
        return std::vector<SourceFile>{{"sx.h", arithmetic_header()},
                                       {"sx.c", arithmetic_source()},
                                       {"model.h", model_header()},
                                       {"model.c", model_source()},
                                       {"weights.h", constants_header()},
                                       {"weights.c", std::move(constants)}};
    }

private:
    void fail(onnx::PathSpan place, const std::string& message) {
        diag_.error({input_.file, place.begin, place.end}, DiagKind::NotSupported, message);
    }

    // ---- Tensors

    // The number of inputs that are tensors in C; the others are attributes there.
    static size_t tensor_inputs(const Operator& op, const onnx::Node& node) {
        const size_t count = node.inputs.size();
        return op.tensors == 0 ? count : std::min(op.tensors, count);
    }

    void add_node_tensors(const onnx::Node& node) {
        const Operator* op = operator_of(node);
        if (!op) {
            diag_
                .error({input_.file, node.place.begin, node.place.end},
                       DiagKind::NotSupported,
                       fmt::format("there is no reference of the operator `{}`",
                                   diag::printable(node.op)))
                .note(fmt::format("there are references of {}",
                                  fmt::join(reference_operators(), ", ")));
            return;
        }
        for (size_t i = 0; i < tensor_inputs(*op, node); ++i)
            if (has_input(node, i)) add_tensor(node.inputs[i], node);
        for (const std::string& output : node.outputs) add_tensor(output, node);
    }

    // False if a problem was reported.
    bool has_tensors(const onnx::Node& node) const {
        const Operator* op = operator_of(node);
        if (!op) return false;
        for (size_t i = 0; i < tensor_inputs(*op, node); ++i)
            if (has_input(node, i) && !tensors_.contains(node.inputs[i])) return false;
        return std::ranges::all_of(node.outputs, [&](const std::string& output) {
            return output.empty() || tensors_.contains(output);
        });
    }

    void add_tensor(const std::string& name, const onnx::Node& node) {
        if (name.empty() || tensors_.contains(name)) return;
        const auto type = view_.type(name);
        const std::string shown = diag::printable(name);
        if (!type || !type->shape) {
            return fail(
                node.place,
                fmt::format("the shape of `{}` is not static, but C needs its extents", shown));
        }
        const CType* c = c_type(type->elem_type);
        if (!c) {
            return fail(
                node.place,
                fmt::format("the elements of `{}` have a type that C99 does not have", shown));
        }
        if (const auto problem = extents_problem(*type->shape))
            return fail(node.place, fmt::format("`{}` has no reference: {}", shown, *problem));
        tensors_[name] = {names_.tensor_name(name), c, *type->shape};
        order_.push_back(name);
    }

    // A node must make the output.
    void check_output(const onnx::ValueInfo& output) {
        if (view_.maker(output.name)) return;
        fail(output.place,
             fmt::format("the output `{}` is made by no node", diag::printable(output.name)));
    }

    enum class Role : uint8_t { Input, Output, Constant, Between };
    Role role(const std::string& name) const {
        if (view_.initializer(name)) return Role::Constant;
        const auto is_listed = [&](const std::vector<onnx::ValueInfo>& list) {
            return std::ranges::find(list, name, &onnx::ValueInfo::name) != list.end();
        };
        if (is_listed(view_.graph().inputs)) return Role::Input;
        return is_listed(view_.graph().outputs) ? Role::Output : Role::Between;
    }

    // ---- Nodes

    void add_node(const onnx::Node& node, size_t index) {
        const NodeContext context{
            .node = node, .view = view_, .tensors = tensors_, .id = fmt::format("n{}", index)};
        auto code = operator_of(node)->code(context);
        if (!code) {
            return fail(node.place,
                        fmt::format("this `{}` has no reference: {}", node.op, code.error()));
        }
        code->definition = node_comment(node, index) + code->definition;
        nodes_.push_back(std::move(*code));
    }

    std::string tensor_line(std::string_view role, const std::string& name) const {
        const auto found = tensors_.find(name);
        if (found == tensors_.end()) return "";
        return fmt::format("   {} {}: {}\n", role, declaration(found->second), safe_text(name));
    }

    // Names the part of the model, so that a reviewer can find it.
    std::string node_comment(const onnx::Node& node, size_t index) const {
        std::string text = fmt::format("\n/* graph/node[{}]: {}{}{}, opset {}\n",
                                       index,
                                       node.op,
                                       node.name.empty() ? "" : " ",
                                       safe_text(node.name),
                                       view_.opset());
        for (const onnx::Attribute& attribute : node.attributes) {
            text += fmt::format(
                "   {} = {}\n", safe_text(attribute.name), safe_text(value_text(attribute)));
        }
        for (const std::string& name : node.inputs) text += tensor_line("from", name);
        for (const std::string& name : node.outputs) text += tensor_line("to", name);
        return text + " */\n";
    }

    // ---- Files

    std::string banner(std::string_view what) const {
        return fmt::format(
            "/* {}\n   {}\n   Do not edit: write it again. */\n", what, safe_text(input_.origin));
    }

    std::string declared(Role wanted, std::string_view before) const {
        std::string text;
        for (const std::string& name : order_) {
            if (role(name) == wanted)
                text += fmt::format("{}{};\n", before, declaration(tensors_.at(name)));
        }
        return text;
    }

    std::string model_header() const {
        return banner("A model as provable C: fill the inputs, run it, read the outputs.") +
               "#ifndef MODEL_H\n#define MODEL_H\n\n#include <stdint.h>\n\n/* Inputs */\n" +
               declared(Role::Input, "extern ") + "\n/* Outputs */\n" +
               declared(Role::Output, "extern ") + "\nvoid model_run(void);\n\n#endif\n";
    }

    std::string constants_header() const {
        return banner("The constants of the model.") +
               "#ifndef WEIGHTS_H\n#define WEIGHTS_H\n\n#include <stdint.h>\n\n" +
               declared(Role::Constant, "extern const ") + "\n#endif\n";
    }

    std::string model_source() const {
        std::string text =
            banner("The model: one function for each node, in the order of the file.");
        text += "#include \"model.h\"\n\n#include \"sx.h\"\n#include \"weights.h\"\n\n";
        text += declared(Role::Input, "") + declared(Role::Output, "") +
                declared(Role::Between, "static ");
        for (const NodeCode& node : nodes_) text += node.definition;
        std::vector<std::string> assigned;
        for (const NodeCode& node : nodes_) assigned.push_back(node.assigned);
        text += "\n/* Every node holds of the tensors as they are at the end. */\n";
        text += fmt::format("/*@ assigns {};\n", fmt::join(assigned, ", "));
        for (const NodeCode& node : nodes_)
            text += fmt::format("  @ ensures {};\n", node.predicate);
        text += "  @*/\nvoid model_run(void)\n{\n";
        for (const NodeCode& node : nodes_) text += fmt::format("    {}();\n", node.function);
        return text + "}\n";
    }

    std::string define_constants() {
        std::string text = banner("The constants of the model, bit by bit.");
        text += "#include \"weights.h\"\n\n#include <math.h>\n";
        for (const std::string& name : order_) {
            const onnx::TensorData* data = view_.initializer(name);
            if (!data) continue;
            const auto tensor = onnx::decode_tensor(*data, input_.read_external);
            if (!tensor) {
                diag_.error({input_.file, data->place.begin, data->place.end},
                            DiagKind::BadData,
                            tensor.error().message);
                continue;
            }
            const auto definition = constant_definition(tensors_.at(name), *tensor);
            if (!definition)
                fail(data->place,
                     fmt::format("`{}` has a nan, which C cannot write", diag::printable(name)));
            text += "\n" + definition.value_or("");
        }
        return text;
    }

    const ReferenceInput& input_;
    const View view_;
    Diagnostics& diag_;
    NameMaker names_;
    CTensors tensors_;
    std::vector<std::string> order_;  // names in tensors_, in the order of first use
    std::vector<NodeCode> nodes_;
};

}  // namespace

}  // namespace reference

std::optional<std::vector<SourceFile>> write_reference(const ReferenceInput& input,
                                                       Diagnostics& diag) {
    return reference::Writer(input, diag).write();
}

const std::vector<std::string_view>& reference_operators() {
    static const std::vector<std::string_view> kNames = [] {
        std::vector<std::string_view> names;
        for (const auto& each : reference::kOperators) names.push_back(each.name);
        return names;
    }();
    return kNames;
}

}  // namespace lemma::sonnx

// Concat (document 001) and the operators that broadcast (document 004). Each element of the output
// comes from elements of the inputs; their indices follow from shapes alone.
#include <fmt/format.h>

#include "base/checked.h"
#include "sonnx/broadcast.h"
#include "sonnx/reference/node.h"

namespace lemma::sonnx::reference {

namespace {

std::vector<Axis> output_axes(const CTensor& output) {
    std::vector<Axis> axes;
    for (size_t i = 0; i < output.extents.size(); ++i)
        axes.push_back({fmt::format("i{}", i), output.extents[i]});
    return axes;
}

std::vector<std::string> index_names(const std::vector<Axis>& axes) {
    std::vector<std::string> names;
    for (const Axis& axis : axes) names.push_back(axis.index);
    return names;
}

// Missing axes are leading axes, and an axis of extent 1 is read at 0 (resolutions 62 to 66).
std::string broadcast_element(const CTensor& input, const std::vector<Axis>& axes) {
    const size_t shift = axes.size() - input.extents.size();
    std::vector<std::string> indices;
    for (size_t i = 0; i < input.extents.size(); ++i)
        indices.push_back(input.extents[i] == axes[shift + i].extent ? axes[shift + i].index : "0");
    return element(input, indices);
}

std::string wrong_shape(const CTensor& output, const Extents& expected) {
    return fmt::format("its output is declared as {}, but is {}",
                       shape_text(output.extents),
                       shape_text(expected));
}

// ---- Concat -------------------------------------------------------------------------------------

struct Part {
    const CTensor& tensor;
    int64_t begin = 0;  // s_k of the document
    int64_t end = 0;
};

// The element of the part for the indices of the output.
std::string part_element(const Part& part, const std::vector<Axis>& axes, size_t joined) {
    std::vector<std::string> indices = index_names(axes);
    if (part.begin > 0) indices[joined] = fmt::format("{} - {}", indices[joined], part.begin);
    return element(part.tensor, indices);
}

// The parts of the output, one for each input.
std::expected<std::vector<Part>, std::string> parts_of(const NodeContext& context, size_t joined) {
    std::vector<Part> parts;
    Extents shape = context.input(0).extents;
    int64_t begin = 0;
    for (size_t k = 0; k < context.node.inputs.size(); ++k) {
        const CTensor& input = context.input(k);
        Extents other = input.extents;
        if (other.size() != shape.size()) return std::unexpected("its inputs differ in rank");
        const auto end = checked_add(begin, other[joined]);
        other[joined] = shape[joined];
        if (other != shape || !end) return std::unexpected("its inputs do not fit");
        parts.push_back({input, begin, *end});
        begin = *end;
    }
    shape[joined] = begin;
    if (shape != context.output().extents)
        return std::unexpected(wrong_shape(context.output(), shape));
    return parts;
}

// T2 to T6 of the document, for input k; the contract with the conditional over all inputs implies
// it.
std::string part_clause(const Part& part,
                        const CTensor& output,
                        const std::vector<Axis>& axes,
                        size_t joined) {
    std::vector<Axis> others = axes;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(joined));
    std::string within = fmt::format("{} <= {} < {}", part.begin, axes[joined].index, part.end);
    if (!others.empty()) within += " && " + ranges(others);
    return fmt::format("\\forall {}; {} ==> {} == {}",
                       parameters(axes, "integer"),
                       within,
                       element(output, index_names(axes)),
                       part_element(part, axes, joined));
}

}  // namespace

NodeResult concat_code(const NodeContext& context) {
    const auto rank = static_cast<int64_t>(context.input(0).extents.size());
    const auto axis = int_attribute(context.node, "axis");
    if (!axis || *axis < -rank || *axis >= rank) return std::unexpected("its axis does not fit");
    const auto joined = static_cast<size_t>(*axis < 0 ? *axis + rank : *axis);
    const auto parts = parts_of(context, joined);
    if (!parts) return std::unexpected(parts.error());
    const CTensor& output = context.output();
    const auto axes = output_axes(output);
    const std::string target = element(output, index_names(axes));

    Filling filling{
        .id = context.id, .function = context.id + "_concat", .output = output, .axes = axes};
    for (const Part& part : *parts) {
        const bool last = &part == &parts->back();
        const std::string source = part_element(part, axes, joined);
        const std::string inside = fmt::format("{} < {}", axes[joined].index, part.end);
        filling.value += last ? source : fmt::format("({}) ? {} : ", inside, source);
        filling.also.push_back(part_clause(part, output, axes, joined));
        if (parts->size() > 1) {
            filling.body.push_back(last ? "} else {"
                                   : &part == &parts->front()
                                       ? fmt::format("if ({}) {{", inside)
                                       : fmt::format("}} else if ({}) {{", inside));
        }
        filling.body.push_back(
            fmt::format("{}{} = {};", parts->size() > 1 ? "    " : "", target, source));
    }
    filling.value = fmt::format("({})", filling.value);
    if (parts->size() > 1) filling.body.emplace_back("}");
    return fill_tensor(filling);
}

NodeResult expand_code(const NodeContext& context) {
    const CTensor& input = context.input(0);
    const CTensor& output = context.output();
    const auto target = context.view.constant_ints(context.node.inputs[1]);
    if (!target) return std::unexpected("its shape is not a constant");
    const auto shape = common_shape({input.extents, *target});
    if (!shape) return std::unexpected("its shapes do not fit");
    if (*shape != output.extents) return std::unexpected(wrong_shape(output, *shape));
    const auto axes = output_axes(output);
    const std::string source = broadcast_element(input, axes);
    return fill_tensor(
        {.id = context.id,
         .function = context.id + "_expand",
         .output = output,
         .axes = axes,
         .value = source,
         .body = {fmt::format("{} = {};", element(output, index_names(axes)), source)}});
}

NodeResult arithmetic_code(const NodeContext& context) {
    const CTensor& a = context.input(0);
    const CTensor& b = context.input(1);
    const CTensor& output = context.output();
    if (!output.type->real) return std::unexpected("there is arithmetic for float and double only");
    const auto shape = common_shape({a.extents, b.extents});
    if (!shape) return std::unexpected("its shapes do not fit");
    if (*shape != output.extents) return std::unexpected(wrong_shape(output, *shape));
    const auto axes = output_axes(output);
    const std::string left = broadcast_element(a, axes);
    const std::string right = broadcast_element(b, axes);
    std::string name = context.node.op;
    for (char& c : name) c = static_cast<char>(c | 0x20);  // `Add` is `add`
    const std::string call =
        fmt::format("sx_{}({}, {})", name, as_double(a, left), as_double(b, right));
    return fill_tensor(
        {.id = context.id,
         .function = fmt::format("{}_{}", context.id, name),
         .output = output,
         .axes = axes,
         .value = rounded(output, fmt::format("sx_{}_of({}, {})", name, left, right), "_of"),
         .body = {fmt::format(
             "{} = {};", element(output, index_names(axes)), rounded(output, call, ""))}});
}

}  // namespace lemma::sonnx::reference

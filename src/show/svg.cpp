// SPDX-License-Identifier: Apache-2.0
#include "show/svg.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "diag/page.h"
#include "diag/utf8.h"
#include "show/cost.h"
#include "show/layers.h"
#include "show/types.h"
#include "show/values.h"

namespace lemma::show {

namespace {

constexpr double kColumn = 7.0;       // width of a character
constexpr double kLine = 15;          // height of a line
constexpr size_t kMostColumns = 34;   // of a line in a box
constexpr size_t kMostTypes = 36;     // columns of the type at an arrow
constexpr size_t kMostLabels = 4;     // types below a box
constexpr double kLabelGap = 6;       // between an arrow and the type beside it
constexpr size_t kMostTooltip = 600;  // columns of all details

constexpr const char* kStyle = R"(<style>
svg { background: #ffffff; color: #1b1f24; }
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: currentColor; }
.title { font-weight: bold; }
.small, .edge { fill: #57606a; font-size: 11px; }
.edge { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
rect { fill: #f3f5f8; stroke: #8c959f; }
.port rect { fill: #ddf4ff; stroke: #54aeff; }
.control rect { fill: #fff8c5; stroke: #bf8700; stroke-dasharray: 5 3; }
.heavy rect { fill: #dafbe1; stroke: #4ac26b; }
path { fill: none; stroke: #8c959f; }
marker path { fill: #8c959f; stroke: none; }
@media (prefers-color-scheme: dark) {
svg { background: #0d1117; color: #e6edf3; }
.small, .edge { fill: #9198a1; }
.edge { stroke: #0d1117; }
rect { fill: #161b22; stroke: #6e7681; }
.port rect { fill: #0c2d6b; stroke: #388bfd; }
.control rect { fill: #3b2300; stroke: #bb8009; }
.heavy rect { fill: #033a16; stroke: #2ea043; }
path { stroke: #6e7681; }
marker path { fill: #6e7681; }
}
</style>
<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>
)";

// What a box shows.
struct BoxText {
    std::string style;               // a class of the style sheet
    std::vector<std::string> lines;  // the first is the title
    std::string tooltip;
};

class SvgWriter {
public:
    SvgWriter(const ir::Program& program, Level level)
        : program_(program), level_(level), types_(program), costs_(program) {}

    std::string write();

private:
    size_t add_box(BoxText text);
    void add_operation(ir::OpId id);
    void add_ports();
    void add_arrows(const ir::Operand& operand, size_t to);
    void read_inside(const ir::Operation& op, size_t to);
    std::string box(size_t index) const;
    std::string arrow(size_t index) const;

    const ir::Program& program_;
    Level level_;
    TypeNames types_;
    CostModel costs_;
    Drawing drawing_;
    std::vector<BoxText> texts_;
    std::map<ir::TensorId, size_t> makers_;
    std::vector<std::vector<std::string>> labels_;  // types below each box
    std::set<std::pair<size_t, size_t>> joined_;    // boxes that an arrow joins
};

size_t SvgWriter::add_box(BoxText text) {
    size_t columns = 6;
    for (std::string& line : text.lines) {
        line = cut_text(line, kMostColumns, Cut::Middle);
        columns = std::max(columns, diag::printable_columns(line));
    }
    drawing_.boxes.push_back({.width = static_cast<double>(columns) * kColumn + 20,
                              .height = static_cast<double>(text.lines.size()) * kLine + 12});
    texts_.push_back(std::move(text));
    labels_.emplace_back();
    return texts_.size() - 1;
}

// One arrow for all tensors from the same box; their types stand below it.
void SvgWriter::add_arrows(const ir::Operand& operand, size_t to) {
    for (const ir::TensorId id : operand.items) {
        const auto maker = makers_.find(id);
        if (maker == makers_.end() || maker->second >= to) continue;
        const size_t from = maker->second;
        std::string type = cut_text(types_.tensor(id), kMostTypes);
        if (std::ranges::find(labels_[from], type) == labels_[from].end())
            labels_[from].push_back(std::move(type));
        if (joined_.insert({from, to}).second)
            drawing_.arrows.push_back({.from = from, .to = to, .points = {}});
    }
}

// The tensors that the bodies of control flow read from outside.
void SvgWriter::read_inside(const ir::Operation& op, size_t to) {
    for (const Body& body : bodies(op)) {
        const ir::Graph& graph = program_.graphs[body.graph];
        for (const ir::OpId id : graph.operations) {
            const ir::Operation& inner = program_.operations[id];
            for (const ir::Port& port : inner.inputs) add_arrows(port.operand, to);
            read_inside(inner, to);
        }
        for (const ir::Port& port : graph.outputs) add_arrows(port.operand, to);
    }
}

void SvgWriter::add_operation(ir::OpId id) {
    const ir::Operation& op = program_.operations[id];
    const Cost cost = costs_.cost(id);
    BoxText text;
    text.lines.push_back(shown_operator(program_, op));
    const std::string name = shown_name(program_, op);
    if (!name.empty()) text.lines.push_back(name);
    if (cost.parameters.value > 0)
        text.lines.push_back(count_text(cost.parameters) + " parameters");
    if (cost.macs.value > 0) {
        text.lines.push_back(count_text(cost.macs) + " MACs");
        text.style = "heavy";
    }
    for (const Body& body : bodies(op)) {
        const size_t count = program_.graphs[body.graph].operations.size();
        if (count > 0)
            text.lines.push_back(
                fmt::format("{}: {} operation{}", body.role, count, count == 1 ? "" : "s"));
        text.style = "control";
    }
    text.tooltip = cut_text(
        fmt::format("{} {} {}", op.op, name, fmt::join(attribute_texts(program_, op), ", ")),
        kMostTooltip);
    const size_t box = add_box(std::move(text));
    for (const ir::Port& port : op.inputs) add_arrows(port.operand, box);
    read_inside(op, box);
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId item : port.operand.items) makers_.try_emplace(item, box);
    }
}

void SvgWriter::add_ports() {
    const ir::Graph& main = program_.graphs[program_.main];
    for (const ir::Port& port : main.inputs) {
        const size_t box = add_box({.style = "port", .lines = {"input", port.name}, .tooltip = ""});
        for (const ir::TensorId id : port.operand.items) makers_.try_emplace(id, box);
    }
    for (const ir::OpId id : shown_operations(program_, main.operations, level_)) add_operation(id);
    for (const ir::Port& port : main.outputs) {
        const size_t box =
            add_box({.style = "port", .lines = {"output", port.name}, .tooltip = ""});
        add_arrows(port.operand, box);
    }
}

std::string SvgWriter::box(size_t index) const {
    const Box& place = drawing_.boxes[index];
    const BoxText& text = texts_[index];
    std::string result = fmt::format("<g class=\"{}\">", text.style);
    if (!text.tooltip.empty())
        result += fmt::format("<title>{}</title>", diag::html_escaped(text.tooltip));
    result +=
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"5\"/>",
                    place.top.x - place.width / 2,
                    place.top.y,
                    place.width,
                    place.height);
    double y = place.top.y + kLine + 2;
    for (size_t i = 0; i < text.lines.size(); ++i, y += kLine) {
        result += fmt::format(
            "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" class=\"{}\">{}</text>",
            place.top.x,
            y,
            i == 0 ? "title" : "small",
            diag::html_escaped(text.lines[i]));
    }
    double below = place.top.y + place.height + kLine - 2;
    for (size_t i = 0; i < std::min(labels_[index].size(), kMostLabels); ++i, below += kLine) {
        result += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"edge\">{}</text>",
                              place.top.x + kLabelGap,
                              below,
                              diag::html_escaped(labels_[index][i]));
    }
    return result + "</g>\n";
}

std::string SvgWriter::arrow(size_t index) const {
    const auto& points = drawing_.arrows[index].points;
    std::string path = fmt::format("M{:.1f} {:.1f}", points[0].x, points[0].y);
    for (size_t i = 1; i < points.size(); ++i) {
        const Point& a = points[i - 1];
        const Point& b = points[i];
        const double middle = (a.y + b.y) / 2;
        path += fmt::format(
            "C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", a.x, middle, b.x, middle, b.x, b.y);
    }
    return fmt::format("<path d=\"{}\" marker-end=\"url(#end)\"/>\n", path);
}

std::string SvgWriter::write() {
    add_ports();
    for (size_t i = 0; i < labels_.size(); ++i)
        drawing_.boxes[i].room =
            kLine * static_cast<double>(std::min(labels_[i].size(), kMostLabels));
    lay_out(drawing_);
    // The last labels may be wider than their boxes.
    for (size_t i = 0; i < labels_.size(); ++i) {
        for (const std::string& label : labels_[i]) {
            const auto columns = static_cast<double>(diag::printable_columns(label) + 1);
            drawing_.width =
                std::max(drawing_.width, drawing_.boxes[i].top.x + kLabelGap + columns * kColumn);
        }
    }
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n{3}",
        drawing_.width,
        drawing_.height,
        diag::html_escaped(cut_text(program_.name, kMostTooltip)),
        kStyle);
    for (size_t i = 0; i < drawing_.arrows.size(); ++i) text += arrow(i);
    for (size_t i = 0; i < drawing_.boxes.size(); ++i) text += box(i);
    return text + "</svg>\n";
}

}  // namespace

Result<std::string> show_svg(const ir::Program& program, Level level) {
    const ir::Graph& main = program.graphs[program.main];
    const size_t count = shown_operations(program, main.operations, level).size();
    if (count > kMostDrawn)
        return std::unexpected(Error{fmt::format(
            "a drawing has at most {} operations, and this graph has {}; `--tree --depth=2` shows "
            "its structure",
            kMostDrawn,
            count)});
    return SvgWriter(program, level).write();
}

}  // namespace lemma::show

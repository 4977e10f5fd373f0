// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "diag/utf8.h"
#include "diff/report.h"
#include "ir/program/display_name.h"
#include "show/columns.h"

namespace lemma::diff {

namespace {

using diag::printable;

constexpr const char* kRed = "\033[31m";
constexpr const char* kGreen = "\033[32m";
constexpr const char* kYellow = "\033[33m";
constexpr const char* kBold = "\033[1m";
constexpr const char* kPlain = "\033[0m";

std::string counted(size_t count, const char* one, const char* many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

size_t changed_operations(const Comparison& comparison) {
    std::set<size_t> nodes;
    for (const Change& change : comparison.changes)
        if (change.a != kNone) nodes.insert(change.a);
    return nodes.size();
}

size_t changed_terminals(const Comparison& comparison) {
    std::set<std::string> names;
    for (const Change& change : comparison.changes)
        if (change.a == kNone) names.insert(change.name);
    return names.size() + comparison.terminals_a.size() + comparison.terminals_b.size();
}

std::string amount_text(const WeightChange& amount) {
    std::string text = fmt::format("{} of {} elements differ", amount.changed, amount.elements);
    if (amount.max_abs > 0) {
        text += fmt::format(", max abs {:.3g}, max rel {:.3g}, most at {}: {} → {}",
                            amount.max_abs,
                            amount.max_rel,
                            amount.where,
                            amount.before,
                            amount.after);
    } else {
        text += fmt::format(", first at {}: {} → {}", amount.where, amount.before, amount.after);
    }
    return text;
}

class TextWriter {
public:
    TextWriter(const Comparison& comparison, const Numbers* numbers, const ReportOptions& options)
        : comparison_(comparison), numbers_(numbers), options_(options) {}

    std::string run() {
        const bool equal = is_equal(comparison_, numbers_, options_);
        text_ = coloured(equal ? kGreen : kBold, summary(comparison_, numbers_, options_)) + "\n";
        if (!comparison_.equal()) {
            text_ += fmt::format("A  {}\nB  {}\n", printable(options_.a), printable(options_.b));
            add_changes();
            add_ones();
        }
        if (options_.names) add_renames();
        if (options_.order) add_moves();
        if (numbers_ != nullptr) add_numbers();
        for (const std::string& remark : comparison_.remarks) text_ += "note: " + remark + "\n";
        return std::move(text_);
    }

private:
    std::string coloured(const char* colour, const std::string& text) const {
        return options_.colour ? colour + text + kPlain : text;
    }
    std::string node_text(const Node& node) const {
        return fmt::format("{} {}", printable(ir::display_name(node.kind)), printable(node.name));
    }
    // Changes of one operation stand together.
    void add_changes() {
        size_t at = 0;
        const std::vector<Change>& changes = comparison_.changes;
        while (at < changes.size()) {
            size_t end = at;
            while (end < changes.size() && changes[end].a == changes[at].a) ++end;
            add_group(at, end);
            at = end;
        }
    }
    void add_group(size_t begin, size_t end) {
        const Change& first = comparison_.changes[begin];
        std::string head = "inputs and outputs";
        if (first.a != kNone) {
            const Node& a = comparison_.a.nodes[first.a];
            const Node& b = comparison_.b.nodes[first.b];
            head = node_text(a);
            if (a.name != b.name) head += fmt::format(" ({})", printable(b.name));
        }
        text_ += "\n" + coloured(kYellow, "~ " + head) + "\n";
        show::Columns columns({show::Align::Left, show::Align::Left, show::Align::Left});
        for (size_t i = begin; i < end; ++i) {
            const Change& change = comparison_.changes[i];
            const bool operators = change.what == What::Operator;
            const auto shown = [&](const std::string& text) {
                return operators ? ir::display_name(text) : text;
            };
            const std::string detail =
                change.amount ? amount_text(*change.amount)
                              : fmt::format("{} → {}", shown(change.before), shown(change.after));
            columns.add({fmt::format("    {}", what_text(change.what)), change.name, detail});
        }
        text_ += columns.text();
    }
    void add_ones() {
        if (!comparison_.only_a.empty() || !comparison_.only_b.empty() ||
            !comparison_.terminals_a.empty() || !comparison_.terminals_b.empty())
            text_ += "\n";
        add_ones("-", kRed, comparison_.terminals_a, comparison_.a, comparison_.only_a);
        add_ones("+", kGreen, comparison_.terminals_b, comparison_.b, comparison_.only_b);
    }
    void add_ones(const char* sign,
                  const char* colour,
                  const std::vector<std::string>& terminals,
                  const Graph& graph,
                  const std::vector<size_t>& nodes) {
        for (const std::string& terminal : terminals)
            text_ += coloured(colour, fmt::format("{} {}", sign, printable(terminal))) + "\n";
        for (const size_t n : nodes) {
            const Node& node = graph.nodes[n];
            std::string type;
            if (!node.outputs.empty())
                type = ": " + type_text(*graph.program, node.outputs.front().tensor);
            text_ += coloured(colour, fmt::format("{} {}{}", sign, node_text(node), type)) + "\n";
        }
    }
    void add_renames() {
        if (comparison_.renames.empty()) return;
        text_ += "\nNames\n";
        show::Columns columns({show::Align::Left, show::Align::Left, show::Align::Left});
        for (const Rename& rename : comparison_.renames)
            columns.add({fmt::format("  {}", rename.role),
                         printable(rename.before),
                         "→ " + printable(rename.after)});
        text_ += columns.text();
    }
    void add_moves() {
        if (comparison_.moved.empty()) return;
        text_ += "\nOrder\n";
        for (const size_t i : comparison_.moved) {
            const auto& [a, b] = comparison_.pairs[i];
            text_ +=
                fmt::format("  {}: from place {} to {}\n", node_text(comparison_.a.nodes[a]), a, b);
        }
    }
    void add_numbers() {
        text_ += fmt::format("\nNumbers: A by {}, B by {}, rtol {:g}, atol {:g}\n",
                             numbers_->engine_a,
                             numbers_->engine_b,
                             numbers_->tolerance.relative,
                             numbers_->tolerance.absolute);
        using show::Align;
        show::Columns columns({Align::Left,
                               Align::Left,
                               Align::Left,
                               Align::Right,
                               Align::Right,
                               Align::Right,
                               Align::Left});
        columns.add({"", "tensor", "type", "max abs", "max rel", "differ", "most at"});
        for (size_t i = 0; i < numbers_->pairs.size(); ++i) {
            const NumberPair& pair = numbers_->pairs[i];
            std::string name = printable(pair.a);
            if (options_.names && pair.a != pair.b) name += " / " + printable(pair.b);
            const char* mark = pair.equal ? (pair.output ? "=" : "") : "≠";
            if (!pair.trouble.empty()) {
                columns.add({mark, name, pair.type, "", "", "", pair.trouble});
                continue;
            }
            columns.add({mark,
                         name,
                         pair.type,
                         fmt::format("{:.3g}", pair.max_abs),
                         fmt::format("{:.3g}", pair.max_rel),
                         std::to_string(pair.differing),
                         pair.where});
        }
        text_ += columns.text();
        if (!numbers_->first) return;
        const NumberPair& first = numbers_->pairs[*numbers_->first];
        text_ += coloured(kRed, fmt::format("first difference: {}", printable(first.a)));
        if (first.trouble.empty()) {
            text_ +=
                fmt::format("{}: {:.9g} and {:.9g}", first.where, first.value_a, first.value_b);
        } else {
            text_ += ": " + first.trouble;
        }
        text_ += "\n";
    }

    const Comparison& comparison_;
    const Numbers* numbers_;
    const ReportOptions& options_;
    std::string text_;
};

}  // namespace

bool is_equal(const Comparison& comparison, const Numbers* numbers, const ReportOptions& options) {
    return comparison.equal() && (numbers == nullptr || numbers->equal()) &&
           (!options.names || comparison.renames.empty()) &&
           (!options.order || (comparison.moved.empty() && !comparison.terminals_moved));
}

std::string summary(const Comparison& comparison,
                    const Numbers* numbers,
                    const ReportOptions& options) {
    std::string parts;
    const auto add = [&](const std::string& part) { parts += (parts.empty() ? "" : ", ") + part; };
    if (const size_t count = changed_operations(comparison))
        add(counted(count, "operation changed", "operations changed"));
    if (!comparison.only_a.empty())
        add(counted(comparison.only_a.size(), "operation only in A", "operations only in A"));
    if (!comparison.only_b.empty())
        add(counted(comparison.only_b.size(), "operation only in B", "operations only in B"));
    if (const size_t count = changed_terminals(comparison))
        add(counted(count, "input or output changed", "inputs and outputs changed"));
    if (options.names && !comparison.renames.empty())
        add(counted(comparison.renames.size(), "name changed", "names changed"));
    if (options.order && !comparison.moved.empty())
        add(counted(comparison.moved.size(), "operation moved", "operations moved"));
    if (options.order && comparison.terminals_moved) add("inputs or outputs in another order");
    if (numbers != nullptr && !numbers->equal()) {
        size_t count = 0;
        for (const NumberPair& pair : numbers->pairs) count += pair.equal ? 0 : 1;
        add(fmt::format("numbers differ in {}", counted(count, "tensor", "tensors")));
    }
    if (!parts.empty()) return parts;
    const bool names = !comparison.renames.empty() && !options.names;
    const bool order = (!comparison.moved.empty() || comparison.terminals_moved) && !options.order;
    if (names && order) return "equal up to names and order";
    if (names) return "equal up to names";
    return order ? "equal up to order" : "equal";
}

std::string report_text(const Comparison& comparison,
                        const Numbers* numbers,
                        const ReportOptions& options) {
    return TextWriter(comparison, numbers, options).run();
}

}  // namespace lemma::diff

// SPDX-License-Identifier: Apache-2.0
#include "certify/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "ir/program/display_name.h"
#include "tensor/shape.h"

namespace lemma::certify {

namespace {

using Json = nlohmann::ordered_json;

// ---- Text ---------------------------------------------------------------------------------------

// Names of tensors come from the model.
std::string cell(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '|' || c == '`' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
    }
    return out;
}

std::string range_text(const Range& range) {
    return fmt::format("[{}, {}]", text_below(range.low), text_above(range.high));
}

class Table {
public:
    explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    bool empty() const { return rows_.size() == 1; }

    std::string text() const {
        std::vector<size_t> widths(rows_[0].size(), 3);
        for (const auto& row : rows_) {
            for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
        }
        std::string out;
        for (size_t r = 0; r < rows_.size(); ++r) {
            for (size_t i = 0; i < widths.size(); ++i)
                out += fmt::format("| {:<{}} ", rows_[r][i], widths[i]);
            out += "|\n";
            if (r > 0) continue;
            for (const size_t width : widths) out += fmt::format("|{:-<{}}", "", width + 2);
            out += "|\n";
        }
        return out;
    }

private:
    std::vector<std::vector<std::string>> rows_;
};

std::string type_text(const TensorBound& bound) {
    return fmt::format("{}{}", tensor::dtype_name(bound.dtype), tensor::shape_text(bound.shape));
}

std::string tensor_table(const std::vector<TensorBound>& bounds, bool inner) {
    Table table({"tensor", "type", "range", "error", "relative"});
    for (const TensorBound& bound : bounds) {
        if (bound.inner && !inner) continue;
        table.add({cell(bound.name),
                   type_text(bound),
                   range_text(bound.computed),
                   text_above(bound.error),
                   bound.relative < 1 ? text_above(bound.relative) : "-"});
    }
    return table.text();
}

std::string short_verdict(const Disposition& disposition) {
    switch (disposition.verdict) {
        case Verdict::NotApplicable:
            return "-";
        case Verdict::Proved:
            return "absent";
        case Verdict::NotEstablished:
            return disposition.inherited ? "open (inherited)" : "open";
        case Verdict::Refuted:
            return "OCCURS";
    }
    return "";
}

std::string node_table(const Certificate& certificate) {
    std::vector<std::string> header = {"operation", "result", "introduced", "propagated"};
    for (size_t i = 0; i < kHazards; ++i) header.emplace_back(hazard_name(static_cast<Hazard>(i)));
    Table table(std::move(header));
    for (const NodeRecord& node : certificate.nodes) {
        std::vector<std::string> row = {cell(ir::display_name(node.op)),
                                        node.outputs.empty() ? "" : cell(node.outputs[0]),
                                        text_above(node.introduced),
                                        text_above(node.propagated)};
        for (const Disposition& disposition : node.dispositions)
            row.push_back(short_verdict(disposition));
        table.add(std::move(row));
    }
    return table.text();
}

// What is open, operation by operation; those with a cause of their own first.
std::string open_list(const Certificate& certificate) {
    std::string own, inherited;
    for (const NodeRecord& node : certificate.nodes) {
        for (size_t i = 0; i < kHazards; ++i) {
            const Disposition& disposition = node.dispositions[i];
            if (disposition.verdict < Verdict::NotEstablished) continue;
            std::string line =
                fmt::format("- `{}` ({}): {} {}: {}",
                            cell(node.outputs.empty() ? node.label : node.outputs[0]),
                            cell(ir::display_name(node.op)),
                            hazard_name(static_cast<Hazard>(i)),
                            verdict_name(disposition.verdict),
                            cell(disposition.reason));
            if (disposition.witness) line += fmt::format("; {}", range_text(*disposition.witness));
            (disposition.inherited ? inherited : own) += line + "\n";
        }
    }
    return own + inherited;
}

// ---- JSON ---------------------------------------------------------------------------------------

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }
Json range_json(const Range& range) { return Json::array({number(range.low), number(range.high)}); }

Json tensor_json(const TensorBound& bound, bool elements) {
    Json out = {{"name", bound.name},
                {"dtype", tensor::dtype_name(bound.dtype)},
                {"shape", bound.shape},
                {"ideal", range_json(bound.ideal)},
                {"computed", range_json(bound.computed)},
                {"error", number(bound.error)},
                {"relative", number(bound.relative)}};
    if (bound.inner) out["inner"] = true;
    if (!elements || bound.elements.empty()) return out;
    Json low = Json::array(), high = Json::array(), clow = Json::array(), chigh = Json::array(),
         error = Json::array();
    for (const ElementBound& element : bound.elements) {
        low.push_back(number(element.ideal.low));
        high.push_back(number(element.ideal.high));
        clow.push_back(number(element.computed.low));
        chigh.push_back(number(element.computed.high));
        error.push_back(number(element.error));
    }
    out["elements"] = {{"ideal_low", std::move(low)},
                       {"ideal_high", std::move(high)},
                       {"computed_low", std::move(clow)},
                       {"computed_high", std::move(chigh)},
                       {"error", std::move(error)}};
    return out;
}

Json node_json(const NodeRecord& node) {
    Json out = {{"op", node.op},
                {"label", node.label},
                {"outputs", node.outputs},
                {"introduced", number(node.introduced)},
                {"propagated", number(node.propagated)}};
    if (!node.remark.empty()) out["remark"] = node.remark;
    Json& dispositions = out["dispositions"];
    for (size_t i = 0; i < kHazards; ++i) {
        const Disposition& disposition = node.dispositions[i];
        if (disposition.verdict == Verdict::NotApplicable) continue;
        Json one = {{"verdict", verdict_name(disposition.verdict)}};
        if (!disposition.reason.empty()) one["reason"] = disposition.reason;
        if (disposition.witness) one["witness"] = range_json(*disposition.witness);
        if (disposition.inherited) one["inherited"] = true;
        dispositions[std::string(hazard_key(static_cast<Hazard>(i)))] = std::move(one);
    }
    if (dispositions.is_null()) dispositions = Json::object();
    return out;
}

}  // namespace

std::string text_above(double x) {
    if (!std::isfinite(x)) return x < 0 ? "-inf" : "inf";
    std::string text = fmt::format("{:.4g}", x);
    if (std::strtod(text.c_str(), nullptr) >= x) return text;
    return fmt::format("{:.4g}", x + std::fabs(x) * 1e-4);
}

std::string text_below(double x) {
    const std::string above = text_above(-x);
    return above.starts_with('-') ? above.substr(1) : x == 0 ? "0" : "-" + above;
}

std::string as_markdown(const Certificate& certificate) {
    std::string out = "# Error and range certificate\n\n";
    out += fmt::format("- Model: `{}`\n- SHA-256: {}\n- Arithmetic: {}\n",
                       cell(certificate.model),
                       certificate.sha256,
                       certificate.arithmetic);
    const bool established = certificate.established();
    out += established
               ? "- Result: **established**. No operation overflows, gives NaN, divides by zero "
                 "or leaves a domain.\n"
               : "- Result: **not established** for some operations (see Open points).\n";
    out +=
        "\nAll bounds are rounded outwards. `error` bounds the distance of a computed element from "
        "exact\narithmetic on the same inputs.\n";
    out += "\n## Inputs\n\n" + tensor_table(certificate.inputs, true);
    out += "\n## Outputs\n\n" + tensor_table(certificate.outputs, true);
    if (const std::string open = open_list(certificate); !open.empty())
        out += "\n## Open points\n\n" + open;
    out += "\n## Operations\n\n" + node_table(certificate);
    out += "\n## Tensors\n\n" + tensor_table(certificate.tensors, false);
    out += "\n## Hypotheses\n\n";
    for (const std::string& hypothesis : certificate.hypotheses)
        out += "- " + cell(hypothesis) + "\n";
    if (certificate.library.empty()) return out;
    out += "\n## Claims about the C library\n\n";
    Table table({"function", "error in ulp of double"});
    for (const LibraryClaim& claim : certificate.library)
        table.add({claim.function, fmt::format("{:g}", claim.ulp)});
    return out + table.text();
}

Json as_json(const Certificate& certificate, JsonOptions options) {
    Json out = {{"model", certificate.model},
                {"sha256", certificate.sha256},
                {"accumulate", certificate.arithmetic},
                {"established", certificate.established()},
                {"steps", certificate.steps}};
    const auto list = [&](const std::vector<TensorBound>& bounds) {
        Json items = Json::array();
        for (const TensorBound& bound : bounds) {
            if (!bound.inner || options.inner || &bounds != &certificate.tensors)
                items.push_back(tensor_json(bound, options.elements));
        }
        return items;
    };
    out["inputs"] = list(certificate.inputs);
    out["outputs"] = list(certificate.outputs);
    out["operations"] = Json::array();
    for (const NodeRecord& node : certificate.nodes) out["operations"].push_back(node_json(node));
    out["tensors"] = list(certificate.tensors);
    out["hypotheses"] = certificate.hypotheses;
    out["library"] = Json::array();
    for (const LibraryClaim& claim : certificate.library)
        out["library"].push_back({{"function", claim.function}, {"ulp", claim.ulp}});
    return out;
}

}  // namespace lemma::certify

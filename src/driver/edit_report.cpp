// SPDX-License-Identifier: Apache-2.0
#include "driver/edit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "diag/json_text.h"
#include "diag/utf8.h"
#include "driver/options.h"

namespace lemma::driver {

void declare_edit(Arguments& arguments,
                  convert::ConvertRequest& files,
                  EditOptions& options,
                  const std::string& format) {
    using convert::OutputFormat;
    convert::ConvertOptions& write = files.options;
    model::LoadOptions& load = files.load;
    arguments.group("Output");
    const Choices<OutputFormat> formats = {{"sknd", OutputFormat::SkriptND},
                                           {"nnef1", OutputFormat::Nnef1},
                                           {"onnx", OutputFormat::Onnx}};
    arguments.choice(format, files.format, formats, "format to write (from the name of OUT)");
    arguments.number(
        "--opset",
        write.opset,
        {convert::kOldestOpset, convert::kNewestOpset},
        "ONNX: operator set to write (the lowest that can express the model, from 13)");
    arguments.flag("--external-data",
                   write.external_data,
                   "ONNX: write the data to OUT.data (always for models over 2 GB)");
    arguments.flag(
        "--no-data", options.no_data, "write the graph without the data of its variables");
    arguments.flag(
        "--force", write.overwrite, "overwrite files, and write into folders that are not empty");
    arguments.group("Input");
    arguments.texts("-i",
                    load.inputs,
                    "[NAME=]FILE",
                    "ONNX: values of inputs that decide shapes; specialises the model");
    declare_graph_options(arguments, load.check.graph);
    declare_real(arguments, load.check.graph);
    declare_problem_style(arguments, options.style);
    declare_dialect(arguments, load.check);
    declare_limits(arguments, load.check);
    declare_source_limits(arguments, load.source);
}

void prepare(convert::ConvertRequest& files, const EditOptions& options) {
    files.options.data = !options.no_data;
}

namespace {

// `batch norms` in text is `batch_norms` in JSON.
std::string key_of(std::string name) {
    std::ranges::replace(name, ' ', '_');
    return name;
}

}  // namespace

EditReport::EditReport() : json_(std::make_unique<nlohmann::ordered_json>()) {}
EditReport::~EditReport() = default;

void EditReport::line(const std::string& name, const std::string& value) {
    rows_.emplace_back(name, diag::printable(value));
    (*json_)[key_of(name)] = value;
}

void EditReport::size(const std::string& name, int64_t before, int64_t after) {
    rows_.emplace_back(name, fmt::format("{} → {}", before, after));
    (*json_)[key_of(name)] = {{"before", before}, {"after", after}};
}

void EditReport::number(const std::string& name, int64_t value) {
    rows_.emplace_back(name, fmt::format("{}", value));
    (*json_)[key_of(name)] = value;
}

void EditReport::real(const std::string& name, double value) {
    rows_.emplace_back(name, fmt::format("{:.3g}", value));
    (*json_)[key_of(name)] = value;
}

void EditReport::list(const std::string& name, const std::vector<std::string>& values) {
    bool first = true;
    for (const std::string& value : values) {
        rows_.emplace_back(first ? name : "", diag::printable(value));
        first = false;
    }
    (*json_)[key_of(name)] = values;
}

Outcome EditReport::outcome(model::Finding finding,
                            const EditOptions& options,
                            Terminal terminal) const {
    const bool good = finding.status == model::kGood;
    if (options.style.json && good) {
        std::vector<model::Finding> findings;
        findings.push_back(std::move(finding));
        auto document = nlohmann::ordered_json::parse(model::as_json(findings), nullptr, false);
        document["result"] = *json_;
        return {.status = model::kGood, .out = diag::json_text(document)};
    }
    Outcome outcome = problems_of(std::move(finding), options.style, terminal);
    if (!good || terminal.quiet) return outcome;
    size_t width = 0;
    for (const auto& [name, value] : rows_) width = std::max(width, name.size());
    for (const auto& [name, value] : rows_)
        outcome.out += fmt::format("{:<{}}  {}\n", name, width, value);
    return outcome;
}

}  // namespace lemma::driver

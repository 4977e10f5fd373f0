// SPDX-License-Identifier: Apache-2.0
#include "convert/written.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>

#include "diag/utf8.h"

namespace lemma::convert {

namespace {

using diag::printable;

model::LoadOptions without_limits(bool data) {
    model::LoadOptions load;
    load.check.parse.max_tokens = SIZE_MAX;
    load.check.eval.max_pack_length = SIZE_MAX / 4;
    load.check.eval.max_string_bytes = SIZE_MAX / 4;
    load.check.eval.max_work = SIZE_MAX / 4;
    load.check.parse.max_depth = model::kMaxDepth;
    sknd::ComposeOptions& compose = load.check.graph.compose;
    compose.limits = load.check.eval;
    compose.max_operations = SIZE_MAX / 4;
    compose.max_unroll = INT64_MAX / 4;
    compose.max_rank = INT64_MAX / 4;
    load.check.data = data ? model::DataMode::Require : model::DataMode::Ignore;
    load.data = load.check.data;
    load.source.max_files = INT64_MAX / 4;
    load.source.max_file_bytes = INT64_MAX / 4;
    load.source.max_archive_bytes = INT64_MAX / 4;
    return load;
}

// The names of the tensors of the ports, item by item for packs.
std::vector<std::string> names_of(const std::vector<ir::Port>& ports) {
    std::vector<std::string> names;
    for (const ir::Port& port : ports) {
        for (size_t i = 0; i < port.operand.items.size(); ++i)
            names.push_back(port.operand.packed ? fmt::format("{}.{}", port.name, i) : port.name);
    }
    return names;
}

std::string_view format_name(model::Format format) {
    switch (format) {
        case model::Format::SkriptND:
            return "SkriptND";
        case model::Format::Nnef1:
            return "NNEF 1.0";
        case model::Format::Onnx:
            return "ONNX";
    }
    return "";
}

// Why a name was changed.
std::string reason(const std::string& name,
                   const std::vector<std::string>& others,
                   model::Format format) {
    if (std::ranges::count(others, name) > 1) return "the model has that name more than once";
    if (format == model::Format::Onnx) return "another tensor has that name";
    const bool plain = std::ranges::all_of(
        name, [](unsigned char c) { return c < 128 && (std::isalnum(c) != 0 || c == '_'); });
    if (!plain || name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0)
        return fmt::format("names of {} are letters, digits and `_`", format_name(format));
    return fmt::format("{} has that name for something else", format_name(format));
}

}  // namespace

Written load_written(const std::string& path, bool data, model::Finding& finding) {
    const model::LoadOptions load = without_limits(data);
    model::Finding check{.model = path, .diag = Diagnostics()};
    Written written{.good = true, .model = model::load_model(path, load, check)};
    if (!written.model && check.unusable && !check.diag.has_errors()) {
        // A valid model can be unloadable without values of its inputs.
        check.unusable.reset();
        if (const auto done = model::check_model(path, load, check); !done)
            check.unusable = done.error();
    }
    if (!check.unusable && !check.diag.has_errors()) return written;
    std::string why = check.unusable ? check.unusable->message : "";
    const auto& items = check.diag.items();
    const auto wrong = std::ranges::find(items, diag::Severity::Error, &diag::Diagnostic::severity);
    if (wrong != items.end()) why = wrong->message;
    finding.status = model::kFault;
    finding.diag
        .error(Span{},
               DiagKind::NotSupported,
               fmt::format("what was written does not check, so nothing is kept: {}", why))
        .note("this is a defect of lemma, not of the model");
    return {};
}

void tell_renamed(const ir::Program& from, const model::LoadedModel& to, model::Finding& finding) {
    const ir::Graph& before = from.graphs[from.main];
    const ir::Graph& after = to.program.graphs[to.program.main];
    std::vector<std::string> all = names_of(before.inputs);
    std::ranges::copy(names_of(before.outputs), std::back_inserter(all));
    const auto tell = [&](std::string_view what,
                          const std::vector<std::string>& old_names,
                          const std::vector<std::string>& new_names) {
        for (size_t i = 0; i < std::min(old_names.size(), new_names.size()); ++i) {
            if (old_names[i] == new_names[i]) continue;
            finding.remarks.push_back({Span{},
                                       fmt::format("the {} `{}` is called `{}`: {}",
                                                   what,
                                                   printable(old_names[i]),
                                                   printable(new_names[i]),
                                                   reason(old_names[i], all, to.file.format))});
        }
    };
    tell("input", names_of(before.inputs), names_of(after.inputs));
    tell("output", names_of(before.outputs), names_of(after.outputs));
}

Result<void> finish_output(const model::LoadedModel& model,
                           const ConvertOptions& options,
                           Output output,
                           model::Finding& finding) {
    LEMMA_TRY(output.finish());
    const Written written = load_written(output.model(), options.data, finding);
    if (!written.good) return {};
    if (options.accept && !options.accept(output.model(), finding)) return {};
    LEMMA_TRY(output.commit());
    if (written.model) tell_renamed(model.program, *written.model, finding);
    return {};
}

}  // namespace lemma::convert

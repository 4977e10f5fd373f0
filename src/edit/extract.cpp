// SPDX-License-Identifier: Apache-2.0
#include "edit/extract.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "diag/utf8.h"
#include "edit/part.h"

namespace lemma::edit {

namespace {

Result<Cut> find_cut(const ExtractRequest& request, const model::LoadedModel& model) {
    const Names names(model);
    const ir::Graph& main = model.program.graphs[model.program.main];
    Cut cut{.add_inputs = request.add_inputs};
    if (request.from.empty()) {
        cut.from = port_tensors(main.inputs);
        cut.own_inputs = true;
    } else {
        LEMMA_TRY(cut.from, names.find(request.from, Side::From));
    }
    if (request.to.empty()) {
        cut.to = port_tensors(main.outputs);
    } else {
        LEMMA_TRY(cut.to, names.find(request.to, Side::To));
    }
    return cut;
}

Result<Extracted> extract(const ExtractRequest& request, model::Finding& finding) {
    LEMMA_TRY(check_apart(request.files.out, {request.files.model}));
    if (auto good = convert::check_output(request.files); !good) {
        // `--to` names tensors here.
        std::string message = good.error().message;
        if (message.ends_with("--to")) message.replace(message.size() - 2, 2, "format");
        return std::unexpected(Error{std::move(message), good.error().kind});
    }
    auto model = model::load_model(request.files.model, request.files.load, finding);
    if (!model) return Extracted{};
    LEMMA_TRY(const Cut cut, find_cut(request, *model));
    LEMMA_TRY(Part part, cut_part(model->program, cut));
    for (const std::string& name : part.unread) {
        finding.remarks.push_back(
            {Span{}, fmt::format("the part does not read `{}`", diag::printable(name))});
    }
    if (!part.added.empty()) {
        finding.remarks.push_back(
            {Span{},
             fmt::format("added the input{} `{}`",
                         part.added.size() == 1 ? "" : "s",
                         diag::printable(fmt::format("{}", fmt::join(part.added, "`, `"))))});
    }
    Extracted done{.before = size_of(model->program), .after = size_of(part.program)};
    const ir::Graph& main = part.program.graphs[part.program.main];
    done.inputs = port_texts(part.program, main.inputs);
    done.outputs = port_texts(part.program, main.outputs);
    model->program = std::move(part.program);
    LEMMA_TRY(convert::write_model(*model, request.files, finding));
    return done;
}

}  // namespace

Extracted extract_model(const ExtractRequest& request, model::Finding& finding) {
    auto done = extract(request, finding);
    if (done) return std::move(*done);
    finding.fail(std::move(done).error());
    return {};
}

}  // namespace lemma::edit

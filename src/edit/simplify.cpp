// SPDX-License-Identifier: Apache-2.0
#include "edit/simplify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "convert/output.h"
#include "diag/diagnostic.h"
#include "diag/utf8.h"
#include "edit/batch_norm.h"
#include "edit/compare_runs.h"
#include "edit/linear.h"
#include "edit/slice.h"
#include "show/types.h"

namespace lemma::edit {

namespace {

using diag::printable;

constexpr int kMaxRounds = 8;

// ---- Extents ------------------------------------------------------------------------------------

Result<std::vector<std::optional<int64_t>>> read_extents(const std::string& text) {
    std::vector<std::optional<int64_t>> extents;
    for (size_t begin = 0; begin <= text.size() && !text.empty();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view word = std::string_view(text).substr(begin, end - begin);
        int64_t number = 0;
        const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
        const bool good = read.ec == std::errc() && read.ptr == word.data() + word.size();
        if (word != "?" && (!good || number < 0)) {
            return std::unexpected(Error{fmt::format(
                "--set: `{}` is no extent: give a number, or `?` to keep it", printable(word))});
        }
        extents.push_back(word == "?" ? std::nullopt : std::optional(number));
        begin = end + 1;
    }
    return extents;
}

// `x=1,3,224,224`
Result<void> add_extents(const ir::Program& program, const std::string& text, Changes& changes) {
    const size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0)
        return std::unexpected(
            Error{fmt::format("--set takes NAME=EXTENT,…, got `{}`", printable(text))});
    const std::string name = text.substr(0, at);
    LEMMA_TRY(const auto extents, read_extents(text.substr(at + 1)));
    std::vector<std::string_view> known;
    const auto inputs = port_tensors(program.graphs[program.main].inputs);
    for (const NamedTensor& item : inputs) {
        known.push_back(item.name);
        if (item.name != name) continue;
        const auto& shape = program.tensors[item.tensor].shape;
        const auto wrong = [&] {
            return std::unexpected(Error{fmt::format("--set: `{}` is {}, which does not fit [{}]",
                                                     printable(name),
                                                     show::TypeNames(program).tensor(item.tensor),
                                                     text.substr(at + 1))});
        };
        if (shape.size() != extents.size()) return wrong();
        for (size_t i = 0; i < shape.size(); ++i) {
            if (!extents[i]) continue;
            if (const auto number = program.symbols.as_int(shape[i])) {
                if (*number != *extents[i]) return wrong();
                continue;
            }
            const auto form = linear_form(program.symbols, shape[i]);
            if (!form || program.symbols.node(form->atom).kind != ir::SymKind::Symbol)
                return wrong();
            ir::SymbolPool numbers;
            const auto solved = solve(numbers, *form, numbers.integer(*extents[i]));
            const auto value = solved ? numbers.as_int(*solved) : std::nullopt;
            const ir::Interval range = program.symbols.range(form->atom);
            if (!value || *value < range.low || *value > range.high) return wrong();
            const auto [old, fresh] = changes.extents.emplace(form->atom, *value);
            if (!fresh && old->second != *value) return wrong();
        }
        return {};
    }
    const std::string_view near = diag::nearest_name(name, known);
    return std::unexpected(Error{
        fmt::format("--set: the model has no input `{}`{}",
                    printable(name),
                    near.empty() ? "" : fmt::format("; did you mean `{}`?", printable(near)))});
}

// ---- Steps --------------------------------------------------------------------------------------

// Data that takes the place of, or is added to, that of the model.
void add_data(model::LoadedModel& model, std::map<std::string, tensor::Tensor> added) {
    if (added.empty()) return;
    const auto values =
        std::make_shared<const std::map<std::string, tensor::Tensor>>(std::move(added));
    model.data = [values, data = model.data](
                     const ir::Tensor& variable) -> Result<std::optional<tensor::Tensor>> {
        const auto found = values->find(variable.name);
        if (found != values->end()) return found->second;
        return data(variable);
    };
    model.data_name = [values, name = model.data_name](const ir::Tensor& variable) {
        return values->contains(variable.name) ? variable.name + ".dat" : name(variable);
    };
}

// Operations with new ports get new formulas when the model is written and read again.
Result<bool> fold_norms(model::LoadedModel& model,
                        const SimplifyRequest& request,
                        Simplified& done,
                        model::Finding& finding) {
    LEMMA_TRY(FoldedNorms folded, fold_batch_norms(model));
    done.batch_norms = folded.count;
    if (folded.count == 0) return true;
    add_data(model, std::move(folded.data));
    LEMMA_TRY(const convert::Output draft, convert::Output::draft());
    const bool onnx = model.file.format == model::Format::Onnx;
    convert::ConvertRequest write{.model = {}, .out = draft.path_of(onnx ? "model.onnx" : "model")};
    write.format = onnx                                        ? convert::OutputFormat::Onnx
                   : model.file.format == model::Format::Nnef1 ? convert::OutputFormat::Nnef1
                                                               : convert::OutputFormat::SkriptND;
    LEMMA_TRY(convert::write_model(model, write, finding));
    if (finding.status != model::kGood) return false;
    model::LoadOptions load = request.files.load;
    load.memory.clear();
    load.inputs.clear();
    load.values.clear();
    load.check.graph.graph.clear();
    load.check.graph.attributes.clear();
    auto again = model::load_model(write.out, load, finding);
    if (!again) return false;
    // The draft is gone afterwards, so its data is read now.
    std::map<std::string, tensor::Tensor> data;
    for (const ir::Tensor& tensor : again->program.tensors) {
        if (tensor.role != ir::TensorRole::Variable) continue;
        LEMMA_TRY(auto value, again->data(tensor));
        if (value) data.emplace(tensor.name, std::move(*value));
    }
    model = std::move(*again);
    add_data(model, std::move(data));
    return true;
}

// Removes identities and folds constants, until nothing changes.
Result<void> fold(model::LoadedModel& model, const SimplifyRequest& request, Simplified& done) {
    for (int round = 0; round < kMaxRounds; ++round) {
        Changes changes;
        changes.same = find_identities(model.program);
        LEMMA_TRY(Part shorter, cut_part(model.program, whole_model(model.program), changes));
        model.program = std::move(shorter.program);
        if (!request.files.options.data) return {};
        LEMMA_TRY(Folded folded, fold_constants(model, request.limits));
        done.left = folded.left;
        if (folded.operations == 0) return {};
        done.folded += folded.operations;
        changes = {.stored = std::move(folded.stored)};
        LEMMA_TRY(Part rest, cut_part(model.program, whole_model(model.program), changes));
        model.program = std::move(rest.program);
        add_data(model, std::move(folded.data));
    }
    return {};
}

bool verify(const SimplifyRequest& request,
            const std::string& path,
            Simplified& done,
            model::Finding& finding) {
    session::SessionOptions options;
    options.check = request.files.load.check;
    options.source = request.files.load.source;
    options.memory = request.files.load.memory;
    options.inputs = request.files.load.inputs;
    const auto compared = compare_runs(request.files.model, options, path, request.verify_runs);
    std::string trouble;
    if (!compared) trouble = compared.error().message + " (--no-verify writes it all the same)";
    if (compared && !compared->trouble.empty())
        trouble = "the result is not the same, so nothing is written: " + compared->trouble;
    if (compared) done.difference = compared->difference;
    if (trouble.empty()) return true;
    finding.diag.error(Span{}, DiagKind::NotSupported, trouble);
    finding.status = model::kWrong;
    return false;
}

Result<Simplified> simplify(const SimplifyRequest& request, model::Finding& finding) {
    LEMMA_TRY(check_apart(request.files.out, {request.files.model}));
    LEMMA_TRY(convert::check_output(request.files));
    auto model = model::load_model(request.files.model, request.files.load, finding);
    if (!model) return Simplified{};
    Simplified done{.before = size_of(model->program)};
    Changes changes;
    for (const std::string& text : request.set) {
        LEMMA_TRY(add_extents(model->program, text, changes));
    }
    if (!changes.extents.empty()) {
        LEMMA_TRY(Part fixed, cut_part(model->program, whole_model(model->program), changes));
        model->program = std::move(fixed.program);
    }
    if (request.fold_batch_norm) {
        LEMMA_TRY(const bool good, fold_norms(*model, request, done, finding));
        if (!good) return done;
    }
    LEMMA_TRY(fold(*model, request, done));
    done.after = size_of(model->program);
    done.removed = done.before.operations - done.after.operations - done.folded - done.batch_norms;
    const ir::Graph& main = model->program.graphs[model->program.main];
    done.inputs = port_texts(model->program, main.inputs);
    done.outputs = port_texts(model->program, main.outputs);
    convert::ConvertRequest files = request.files;
    const bool runs = request.verify_runs > 0 && request.files.options.data;
    if (runs && model->deciding.empty()) {
        files.options.accept = [&](const std::string& path, model::Finding& found) {
            return verify(request, path, done, found);
        };
    } else if (runs) {
        finding.remarks.push_back(
            {Span{},
             fmt::format("the result is not verified, because the values of `{}` decide shapes",
                         fmt::join(model->deciding, "`, `"))});
    }
    LEMMA_TRY(convert::write_model(*model, files, finding));
    return done;
}

}  // namespace

Simplified simplify_model(const SimplifyRequest& request, model::Finding& finding) {
    auto done = simplify(request, finding);
    if (done) return std::move(*done);
    finding.fail(std::move(done).error());
    return {};
}

}  // namespace lemma::edit

// SPDX-License-Identifier: Apache-2.0
#include "api/tool_options.h"

#include <fmt/format.h>

#include "api/options.h"

namespace lemma::api {

namespace {

template <class T>
using Choices = std::vector<std::pair<const char*, T>>;

// The value of a field that is one of several words; NULL is the first.
template <class T>
Result<T> choice(const char* field, const char* given, const Choices<T>& choices) {
    if (!given) return choices.front().second;
    std::string words;
    for (const auto& [word, value] : choices) {
        if (std::string_view(given) == word) return value;
        words += fmt::format("{}\"{}\"", words.empty() ? "" : ", ", word);
    }
    return bad(fmt::format("`{}` is \"{}\", not one of {}", field, given, words));
}

Result<nnef1::Dialect> dialect_of(const char* given) {
    using nnef1::Dialect;
    return choice<Dialect>(
        "dialect",
        given,
        {{"strict", Dialect::Strict}, {"khronos", Dialect::Khronos}, {"tract", Dialect::Tract}});
}

Result<bool> profile_of(const char* given) {
    if (!given) return false;
    return choice<bool>("profile", given, {{"sonnx", true}});
}

// The fields that all options with a graph have.
template <class Options>
Result<void> set_graph(const Options& given, model::GraphOptions& graph) {
    graph.graph = text_of(given.graph);
    LEMMA_TRY(graph.attributes, attributes_of(given.attributes, given.attribute_count));
    return {};
}

// A profile writes files and reads evidence only if it is applied.
Result<void> set_profile(const lemma_check_options& given, model::ProfileOptions& profile) {
    LEMMA_TRY(profile.sonnx, profile_of(given.profile));
    profile.relax_broadcast = given.relax_broadcast != 0;
    profile.report = text_of(given.report);
    profile.trace = text_of(given.trace);
    profile.fix = text_of(given.fix);
    profile.proofs = text_of(given.proofs);
    profile.tests = text_of(given.tests);
    profile.certificate = text_of(given.certificate);
    if (profile.sonnx) return {};
    for (const auto& [field, value] : {std::pair{"report", &profile.report},
                                       {"trace", &profile.trace},
                                       {"fix", &profile.fix},
                                       {"proofs", &profile.proofs},
                                       {"tests", &profile.tests},
                                       {"certificate", &profile.certificate}}) {
        if (!value->empty()) return bad(fmt::format("`{}` needs a `profile`", field));
    }
    if (profile.relax_broadcast) return bad("`relax_broadcast` needs a `profile`");
    return {};
}

}  // namespace

Result<CheckRequest> check_request(const lemma_check_options* options) {
    LEMMA_TRY(const auto given, options_of(options, "lemma_check_options"));
    CheckRequest request;
    model::CheckOptions& check = request.load.check;
    LEMMA_TRY(set_graph(given, check.graph));
    LEMMA_TRY(check.dialect, dialect_of(given.dialect));
    LEMMA_TRY(check.data,
              choice<model::DataMode>("data",
                                      given.data,
                                      {{"auto", model::DataMode::Auto},
                                       {"require", model::DataMode::Require},
                                       {"ignore", model::DataMode::Ignore}}));
    check.syntax_only = given.syntax_only != 0;
    check.types_only = given.types_only != 0;
    check.library = given.module != 0;
    if (given.max_errors < -1) return bad("`max_errors` is a count, 0 or -1");
    if (given.max_errors > 0) request.limits.max_errors = static_cast<size_t>(given.max_errors);
    if (given.max_errors == -1) request.limits.max_errors = 0;
    request.limits.werror = given.werror != 0;
    LEMMA_TRY(set_profile(given, request.load.profile));
    return request;
}

Result<convert::ConvertRequest> convert_request(const lemma_convert_options* options) {
    using convert::OutputFormat;
    LEMMA_TRY(const auto given, options_of(options, "lemma_convert_options"));
    convert::ConvertRequest request;
    if (given.to) {
        LEMMA_TRY(request.format,
                  choice<OutputFormat>("to",
                                       given.to,
                                       {{"sknd", OutputFormat::SkriptND},
                                        {"nnef1", OutputFormat::Nnef1},
                                        {"onnx", OutputFormat::Onnx}}));
    }
    model::GraphOptions& graph = request.load.check.graph;
    LEMMA_TRY(set_graph(given, graph));
    LEMMA_TRY(graph.compose.real, real_of(given.real));
    LEMMA_TRY(request.load.inputs, texts_of(given.inputs, given.input_count, "input"));
    LEMMA_TRY(request.load.check.dialect, dialect_of(given.dialect));
    LEMMA_TRY(request.options.keep, texts_of(given.keep, given.keep_count, "operation to keep"));
    request.options.flat = given.flat != 0;
    if (!request.options.flat && given.keep_count > 0) return bad("`keep` needs `flat`");
    if (given.opset != 0 &&
        (given.opset < convert::kOldestOpset || given.opset > convert::kNewestOpset)) {
        return bad(fmt::format("`opset` is {}, not one of {} to {}",
                               given.opset,
                               convert::kOldestOpset,
                               convert::kNewestOpset));
    }
    request.options.opset = given.opset;
    request.options.external_data = given.external_data != 0;
    request.options.data = given.no_data == 0;
    request.options.overwrite = given.overwrite != 0;
    return request;
}

Result<compile::Request> compile_request(const lemma_compile_options* options) {
    using compile::Form;
    LEMMA_TRY(const auto given, options_of(options, "lemma_compile_options"));
    compile::Request request;
    LEMMA_TRY(
        request.form,
        choice<Form>("form", given.form, {{"certified", Form::Certified}, {"fast", Form::Fast}}));
    if (given.name) request.name = given.name;
    LEMMA_TRY(request.certified.profile, profile_of(given.profile));
    if (given.accumulate_f32 != 0) request.certified.accumulate = ir::Accumulate::F32;
    LEMMA_TRY(request.shapes, texts_of(given.shapes, given.shape_count, "shape"));
    session::SessionOptions& session = request.session;
    session.compile.target = text_of(given.target);
    LEMMA_TRY(session.compile.numerics, numerics_of(given.numerics));
    LEMMA_TRY(session.inputs, texts_of(given.inputs, given.input_count, "input"));
    LEMMA_TRY(set_graph(given, session.check.graph));
    LEMMA_TRY(session.check.graph.compose.real, real_of(given.real));
    LEMMA_TRY(session.check.dialect, dialect_of(given.dialect));
    session.quantize = given.quantize != 0;
    if (given.random_weights != 0) session.random_weights = given.weights_seed;
    session.weights = text_of(given.weights);
    return request;
}

Result<FormatRequest> format_request(const lemma_format_options* options, std::string_view text) {
    using model::TextDialect;
    using model::TextLanguage;
    LEMMA_TRY(const auto given, options_of(options, "lemma_format_options"));
    FormatRequest request{.name = given.name ? given.name : "<text>", .options = {}};
    request.options.language = model::language_of(text);
    if (given.language) {
        LEMMA_TRY(request.options.language,
                  choice<TextLanguage>(
                      "language",
                      given.language,
                      {{"sknd", TextLanguage::SkriptND}, {"nnef1", TextLanguage::Nnef1}}));
    }
    LEMMA_TRY(request.options.dialect,
              choice<TextDialect>("dialect",
                                  given.dialect,
                                  {{"spec", TextDialect::Spec},
                                   {"khronos", TextDialect::Khronos},
                                   {"tract", TextDialect::Tract}}));
    return request;
}

}  // namespace lemma::api

// SPDX-License-Identifier: Apache-2.0
// Bytes as an NNEF 1.0 document and as a quantisation file, in every dialect: parsing and printing
// must end without a fault. A valid document must read back as the same document.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "diag/render.h"
#include "nnef1/syntax/parser.h"
#include "nnef1/syntax/printer.h"
#include "nnef1/syntax/quant_file.h"

namespace {

using namespace lemma;

constexpr nnef1::ParseLimits kLimits = {.max_depth = 64, .max_tokens = 100'000};
constexpr nnef1::ParseLimits kReadBackLimits = {.max_depth = 256, .max_tokens = 400'000};

void check_document(const std::string& text, nnef1::Dialect dialect, nnef1::DocumentKind kind) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("main.nnef", text);
    const nnef1::Document document = nnef1::parse_document(
        sources, file, {.dialect = dialect, .kind = kind, .limits = kLimits}, diag);
    const std::string printed = nnef1::print(document, sources, {.dialect = dialect});
    if (diag.has_errors()) {
        diag.sort_by_place();
        diag::render(sources, diag, {});
        diag::render_json(sources, diag);
        return;
    }
    diag::SourceMap again_sources;
    Diagnostics again_diag;
    const diag::FileId again_file = again_sources.add("main.nnef", printed);
    const nnef1::Document again =
        nnef1::parse_document(again_sources,
                              again_file,
                              {.dialect = dialect, .kind = kind, .limits = kReadBackLimits},
                              again_diag);
    LEMMA_CHECK(!again_diag.has_errors());
    LEMMA_CHECK(nnef1::dump_tree(again) == nnef1::dump_tree(document));
    LEMMA_CHECK(nnef1::print(again, again_sources, {.dialect = dialect}) == printed);
}

void check_quant_file(const std::string& text, nnef1::Dialect dialect) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("graph.quant", text);
    const nnef1::QuantFile quant =
        nnef1::parse_quant_file(sources, file, {.dialect = dialect, .limits = kLimits}, diag);
    for (const nnef1::QuantEntry& entry : quant.entries) {
        nnef1::print(quant, entry.quantizer, sources, {.dialect = dialect});
    }
    diag::render(sources, diag, {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    using enum nnef1::Dialect;
    for (const nnef1::Dialect dialect : {Strict, Khronos, Tract}) {
        check_document(text, dialect, nnef1::DocumentKind::Model);
        check_quant_file(text, dialect);
    }
    check_document(text, Strict, nnef1::DocumentKind::Library);
    return 0;
}

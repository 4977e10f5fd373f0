// SPDX-License-Identifier: Apache-2.0
// Bytes as a main module: parsing, printing and the type check must end without a fault. A text
// without syntax errors must read back as the same program.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "diag/render.h"
#include "sknd/modules/modules.h"
#include "sknd/print/printer.h"
#include "sknd/syntax/parser.h"
#include "sknd/types/types.h"

namespace {

using namespace lemma;

constexpr sknd::ParseLimits kParseLimits = {.max_depth = 64, .max_tokens = 100'000};
constexpr sknd::ParseLimits kReadBackLimits = {.max_depth = 256, .max_tokens = 400'000};
constexpr sknd::EvalLimits kEvalLimits = {.max_pack_length = 4096, .max_depth = 128};

sknd::Module parse(diag::SourceMap& sources,
                   std::string text,
                   const sknd::ParseLimits& limits,
                   Diagnostics& diag) {
    const diag::FileId file = sources.add("main.sknd", std::move(text));
    return sknd::parse_module(sources, file, limits, diag);
}

void check_round_trip(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    const sknd::Module module = parse(sources, text, kParseLimits, diag);
    if (diag.has_errors()) return;
    for (const sknd::Spelling spelling : {sknd::Spelling::Spec, sknd::Spelling::Khronos}) {
        const std::string printed = sknd::print(module, sources, {.spelling = spelling});
        diag::SourceMap again_sources;
        Diagnostics again_diag;
        const sknd::Module again = parse(again_sources, printed, kReadBackLimits, again_diag);
        LEMMA_CHECK(!again_diag.has_errors());
        LEMMA_CHECK(sknd::dump_tree(again) == sknd::dump_tree(module));
        LEMMA_CHECK(sknd::print(again, again_sources, {.spelling = spelling}) == printed);
    }
}

void check_types(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("main.sknd", text);
    const sknd::Package package = sknd::load_package(
        sources, file, "main", sknd::no_reader(), {.limits = kParseLimits}, diag);
    sknd::check_types(package, {.limits = kEvalLimits}, diag);
    diag.sort_by_place();
    diag::render(sources, diag, {});
    diag::render_json(sources, diag);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    check_round_trip(text);
    check_types(text);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Bytes as a main module: a module that passes the type check is composed within tight limits. The
// program must pass the verifier, and its text must read back as the same program.
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/check.h"
#include "diag/render.h"
#include "ir/text/print.h"
#include "ir/text/read.h"
#include "ir/verify/verify.h"
#include "sknd/compose/compose.h"

namespace {

using namespace lemma;

constexpr sknd::ParseLimits kParseLimits = {.max_depth = 64, .max_tokens = 100'000};
constexpr sknd::EvalLimits kEvalLimits = {
    .max_pack_length = 1000, .max_string_bytes = 100'000, .max_depth = 128, .max_work = 500'000};

sknd::ComposeOptions options() {
    sknd::ComposeOptions result;
    result.limits = kEvalLimits;
    result.max_operations = 500;
    result.max_unroll = 100;
    result.max_rank = 50;
    result.max_call_depth = 50;
    return result;
}

void check_program(const ir::Program& program) {
    const auto problems = ir::verify(program);
    if (!problems.empty()) std::fprintf(stderr, "%s\n", problems.front().c_str());
    const std::string text = ir::print(program);
    if (!problems.empty()) std::fprintf(stderr, "%s\n", text.c_str());
    LEMMA_CHECK(problems.empty());
    diag::SourceMap sources;
    Diagnostics diag;
    const auto again = ir::read_program(sources, sources.add("program.ir", text), diag);
    if (!again) std::fprintf(stderr, "%s\n", diag::render(sources, diag, {}).c_str());
    LEMMA_CHECK(again);
    const std::string second = ir::print(*again);
    if (second != text) std::fprintf(stderr, "%s\n%s\n", text.c_str(), second.c_str());
    LEMMA_CHECK(second == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file =
        sources.add("main.sknd", std::string(reinterpret_cast<const char*>(data), size));
    const sknd::Package package = sknd::load_package(
        sources, file, "main", sknd::no_reader(), {.limits = kParseLimits}, diag);
    sknd::check_types(package, {.limits = kEvalLimits}, diag);
    if (diag.has_errors()) return 0;
    const auto program = sknd::compose(package, options(), diag);
    LEMMA_CHECK(program.has_value() != diag.has_errors());
    if (program) check_program(*program);
    diag::render(sources, diag, {});
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Bytes as the text of a program: reading must end without a fault. A readable program must print,
// and read back as the same text.
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/check.h"
#include "diag/render.h"
#include "ir/text/print.h"
#include "ir/text/read.h"
#include "ir/verify/verify.h"

using namespace lemma;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    diag::SourceMap sources;
    Diagnostics diag;
    const auto file = sources.add("p.ir", std::string(reinterpret_cast<const char*>(data), size));
    const auto program = ir::read_program(sources, file, diag);
    LEMMA_CHECK(program.has_value() != diag.has_errors());
    diag::render(sources, diag, {});
    if (!program) return 0;
    ir::verify(*program);
    const std::string text = ir::print(*program);
    const auto again = ir::read_program(sources, sources.add("q.ir", text), diag);
    if (!again)
        std::fprintf(stderr, "%s\n%s", text.c_str(), diag::render(sources, diag, {}).c_str());
    LEMMA_CHECK(again);
    const std::string second = ir::print(*again);
    if (second != text) std::fprintf(stderr, "%s\n%s\n", text.c_str(), second.c_str());
    LEMMA_CHECK(second == text);
    return 0;
}

// session/compile_options.h — arguments about compiled code: for which processor, how exact, and
// where it is kept.
#pragma once

#include <string>

#include "codegen/compiler.h"

namespace lemma::session {

struct CompileOptions {
    std::string target;
    loop::Numerics numerics = loop::Numerics::Default;
    std::string cache_folder;  // empty: the default one
    int64_t cache_megabytes = 512;
    bool no_cache = false;
    std::string dump_pass;  // of loop/passes/pipeline.h
};

// `loop:PASS`, an argument of `--dump`; an error if there is no such pass.
bool is_pass_dump(const std::string& argument);
Result<std::string> dumped_pass(const std::string& argument);

codegen::CompilerOptions compiler_options(const CompileOptions& options);

// LEMMA_CACHE, or `lemma` in XDG_CACHE_HOME, or ~/.cache/lemma; empty if there is none of them, or
// LEMMA_CACHE is there and empty.
std::string default_cache_folder();

}  // namespace lemma::session

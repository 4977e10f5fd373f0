// SPDX-License-Identifier: Apache-2.0
// session/compile_options.h — options of compiled code: the processor, the numerics, and the cache.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "codegen/compiler.h"
#include "ir/program/accumulate.h"
#include "runtime/device.h"

namespace lemma::session {

struct CompileOptions {
    std::string target;
    // `cpu`, `cuda`, `cuda:N` or `auto`; empty: that of LEMMA_DEVICE, or the processor.
    std::string device;
    // Missing: default; strict if reals are accumulated in f32, which other code cannot do.
    std::optional<loop::Numerics> numerics;
    std::string cache_folder;  // empty: the default one
    int64_t cache_megabytes = 512;
    bool no_cache = false;
    std::string dump_pass;                            // a name of loop/passes/pipeline.h
    std::function<void(size_t, size_t)> on_progress;  // see codegen::CompilerOptions
};

// `loop:PASS`, an argument of `--dump`; an error if there is no such pass.
bool is_pass_dump(const std::string& argument);
Result<std::string> dumped_pass(const std::string& argument);

codegen::CompilerOptions compiler_options(const CompileOptions& options,
                                          ir::Accumulate accumulate = ir::Accumulate::F64);

// The device of the options. Null: the processor. An error if there is no such device; if any will
// do, `trouble` gets it.
Result<std::shared_ptr<runtime::Device>> open_device(const CompileOptions& options,
                                                     std::string* trouble = nullptr);

// LEMMA_CACHE, or `lemma` in XDG_CACHE_HOME, or ~/.cache/lemma. Empty if none of them is set, or if
// LEMMA_CACHE is set and empty.
std::string default_cache_folder();

}  // namespace lemma::session

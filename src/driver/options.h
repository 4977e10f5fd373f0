// SPDX-License-Identifier: Apache-2.0
// driver/options.h — options that several commands share, as arguments of the command line.
#pragma once

#include "compile/certified.h"
#include "driver/arguments.h"
#include "session/session.h"

namespace lemma::driver {

// --graph, -a and the limits of composing.
void declare_graph_options(Arguments& arguments, model::GraphOptions& options);
// --real, for commands that compute or write numbers.
void declare_real(Arguments& arguments, model::GraphOptions& options);
// Limits of the language, such as --max-depth.
void declare_limits(Arguments& arguments, model::CheckOptions& options);
// --dialect of NNEF 1.0.
void declare_dialect(Arguments& arguments, model::CheckOptions& options);
// Limits of folders and archives, such as --max-files.
void declare_source_limits(Arguments& arguments, tensor::SourceLimits& limits);
void declare_numerics(Arguments& arguments,
                      std::optional<loop::Numerics>& numerics,
                      const std::string& text);
// --accumulate, as an ir::Accumulate or an optional one.
inline constexpr const char* kAccumulateHelp =
    "round each real operation to f32, or compute in f64 (f64)";
template <class T>
void declare_accumulate(Arguments& arguments,
                        T& accumulate,
                        const std::string& text = kAccumulateHelp) {
    const Arguments::Group group(arguments, "Engine");
    const Choices<T> choices = {{"f32", ir::Accumulate::F32}, {"f64", ir::Accumulate::F64}};
    arguments.choice("--accumulate", accumulate, choices, text);
}
// --profile and --accumulate, for certified C.
void declare_certified(Arguments& arguments, compile::CertifiedOptions& options);
// --numerics, --target and the cache of compiled code.
void declare_compile_options(Arguments& arguments, session::CompileOptions& options);
// What decides the program and the data of its variables.
void declare_loading(Arguments& arguments, session::SessionOptions& options);
// All of these, for commands that run models.
// With `thread_counts`, `--threads` is a list.
void declare_session(Arguments& arguments,
                     session::SessionOptions& options,
                     std::vector<int>* thread_counts = nullptr);

}  // namespace lemma::driver

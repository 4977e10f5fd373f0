// SPDX-License-Identifier: Apache-2.0
#include "driver/options.h"

namespace lemma::driver {

void declare_graph_options(Arguments& arguments, model::GraphOptions& options) {
    const Arguments::Group group(arguments, "Model");
    arguments.text(
        "--graph", options.graph, "NAME", "select a graph of a model with several graphs");
    arguments.pairs("-a", options.attributes, "set a graph attribute; can be repeated");
    const Arguments::Group limits(arguments, "Limits");
    arguments.number("--max-operations",
                     options.compose.max_operations,
                     {1, kAnyNumber},
                     "limit on the operations of a graph (250000)");
    arguments.number("--max-unroll",
                     options.compose.max_unroll,
                     {1, kAnyNumber},
                     "limit on the iterations of an unrolled loop (100000)");
    arguments.number("--max-rank",
                     options.compose.max_rank,
                     {1, kAnyNumber},
                     "limit on the axes of a tensor (1024)");
    arguments.number("--max-call-depth",
                     options.compose.max_call_depth,
                     {1, model::kMaxCallDepth},
                     "limit on the depth of operator calls (200)");
}

void declare_real(Arguments& arguments, model::GraphOptions& options) {
    const Arguments::Group group(arguments, "Model");
    const Choices<ir::DType> reals = {{"f32", ir::DType::F32},
                                      {"f64", ir::DType::F64},
                                      {"f16", ir::DType::F16},
                                      {"bf16", ir::DType::BF16}};
    arguments.choice("--real", options.compose.real, reals, "type of `real` (f32)");
}

void declare_limits(Arguments& arguments, model::CheckOptions& options) {
    const Arguments::Group group(arguments, "Limits");
    const NumberRange range = {1, kAnyNumber};
    arguments.number(
        "--max-depth", options.parse.max_depth, {1, model::kMaxDepth}, "limit on nesting (256)");
    arguments.number("--max-pack-length",
                     options.eval.max_pack_length,
                     range,
                     "limit on the items of a pack (1048576)");
    arguments.number("--max-string-bytes",
                     options.eval.max_string_bytes,
                     range,
                     "limit on the bytes of a string, or of all strings of a pack (16777216)");
    arguments.number("--max-work",
                     options.eval.max_work,
                     range,
                     "limit on evaluated pack items and graph parts (64000000)");
}

void declare_dialect(Arguments& arguments, model::CheckOptions& options) {
    const Arguments::Group group(arguments, "Model");
    using nnef1::Dialect;
    const Choices<Dialect> dialects = {
        {"strict", Dialect::Strict}, {"khronos", Dialect::Khronos}, {"tract", Dialect::Tract}};
    arguments.choice("--dialect",
                     options.dialect,
                     dialects,
                     "dialect of NNEF 1.0; other formats ignore it (strict)");
}

void declare_source_limits(Arguments& arguments, tensor::SourceLimits& limits) {
    const Arguments::Group group(arguments, "Limits");
    const NumberRange range = {1, kAnyNumber};
    arguments.number(
        "--max-files", limits.max_files, range, "limit on the files of a model (100000)");
    arguments.number("--max-file-bytes",
                     limits.max_file_bytes,
                     range,
                     "limit on the bytes of a file (a little over 4 GiB)");
    arguments.number("--max-archive-bytes",
                     limits.max_archive_bytes,
                     range,
                     "limit on the unpacked bytes of an archive (1 GiB, or 100 times its size)");
}

void declare_numerics(Arguments& arguments,
                      std::optional<loop::Numerics>& numerics,
                      const std::string& text) {
    const Arguments::Group group(arguments, "Engine");
    const Choices<std::optional<loop::Numerics>> choices = {{"strict", loop::Numerics::Strict},
                                                            {"default", loop::Numerics::Default},
                                                            {"fast", loop::Numerics::Fast}};
    arguments.choice("--numerics", numerics, choices, text);
}

void declare_certified(Arguments& arguments, compile::CertifiedOptions& options) {
    const Arguments::Group group(arguments, "Model");
    const Choices<bool> profiles = {{"sonnx", true}};
    arguments.choice("--profile",
                     options.profile,
                     profiles,
                     "the model must conform to the safety profile (ONNX), which sums in f32");
    declare_accumulate(
        arguments, options.accumulate, "round each real operation to f32, or compute in f64 (f64)");
}

void declare_compile_options(Arguments& arguments, session::CompileOptions& options) {
    const Arguments::Group group(arguments, "Engine");
    declare_numerics(arguments,
                     options.numerics,
                     "precision of compiled code (default; strict with --accumulate=f32)");
    arguments.text("--target",
                   options.target,
                   "NAME",
                   "instruction set of compiled code: avx512, avx2 or sse2 (that of this machine)");
    arguments.text("--cache", options.cache_folder, "DIR", "folder of the object cache");
    arguments.number("--cache-size",
                     options.cache_megabytes,
                     {1, int64_t{1} << 40},
                     "limit of the object cache in MB (512)");
    arguments.flag("--no-cache", options.no_cache, "do not use the object cache");
    arguments.exclude("--cache", "--no-cache");
}

void declare_loading(Arguments& arguments, session::SessionOptions& options) {
    const Arguments::Group group(arguments, "Model");
    declare_graph_options(arguments, options.check.graph);
    declare_real(arguments, options.check.graph);
    arguments.text("--weights",
                   options.weights,
                   "FILE.safetensors",
                   "replace the model's data by the tensors of this file, by name");
    arguments.seed(
        "--random-weights", options.random_weights, "use random values for variables without data");
    arguments.flag(
        "--quantize", options.quantize, "apply the quantisation of `@quantize` or graph.quant");
    declare_dialect(arguments, options.check);
    declare_limits(arguments, options.check);
    declare_source_limits(arguments, options.source);
}

void declare_session(Arguments& arguments,
                     session::SessionOptions& options,
                     std::vector<int>* thread_counts) {
    declare_loading(arguments, options);
    const Arguments::Group group(arguments, "Engine");
    using session::EngineKind;
    const Choices<EngineKind> engines = {
        {"auto", EngineKind::Auto}, {"interpret", EngineKind::Interpret}, {"jit", EngineKind::Jit}};
    arguments.choice(
        "--engine",
        options.engine,
        engines,
        "run in the interpreter or as compiled code; auto: small models in the interpreter (auto)");
    const NumberRange threads{1, 1024};
    if (thread_counts) {
        arguments.numbers("--threads",
                          *thread_counts,
                          threads,
                          "number of threads of compiled code (1); several: print how runs scale");
    } else {
        arguments.number(
            "--threads", options.threads, threads, "number of threads of compiled code (1)");
    }
    arguments.text(
        "--device",
        options.compile.device,
        "NAME",
        "where compiled code runs: cpu, cuda, cuda:N, or auto, a GPU if there is one (cpu)");
    declare_compile_options(arguments, options.compile);
    declare_accumulate(arguments, options.run.accumulate);
    arguments.number("--seed", options.run.seed, {0, kAnyNumber}, "seed of random operators (0)");
}

}  // namespace lemma::driver

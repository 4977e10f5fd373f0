#include "driver/run/compile_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "loop/graph_text.h"

namespace lemma::driver {

namespace {

constexpr std::string_view kLoop = "loop:";

}  // namespace

void declare_compile_options(Arguments& arguments, CompileOptions& options) {
    const Choices<loop::Numerics> numerics = {{"strict", loop::Numerics::Strict},
                                              {"default", loop::Numerics::Default},
                                              {"fast", loop::Numerics::Fast}};
    arguments.choice(
        "--numerics", options.numerics, numerics, "how exact compiled code is (default)");
    arguments.text("--target",
                   options.target,
                   "NAME",
                   "processor of compiled code: avx512, avx2 or sse2 (this one)");
    arguments.text("--cache", options.cache_folder, "DIR", "keep compiled code in DIR");
    arguments.number("--cache-size",
                     options.cache_megabytes,
                     {1, int64_t{1} << 40},
                     "at most so many MB of it (512)");
    arguments.flag("--no-cache", options.no_cache, "keep no compiled code");
    arguments.exclude("--cache", "--no-cache");
}

bool is_pass_dump(const std::string& argument) { return argument.starts_with(kLoop); }

Result<std::string> dumped_pass(const std::string& argument) {
    const auto& passes = loop::dump_passes();
    if (is_pass_dump(argument)) {
        std::string pass = argument.substr(kLoop.size());
        if (std::ranges::find(passes, pass) != passes.end()) return pass;
    }
    return std::unexpected(
        Error{fmt::format("there is nothing to dump as `{}`: it is `loop:` and one of `{}`",
                          argument,
                          fmt::join(passes, "`, `"))});
}

std::string default_cache_folder() {
    if (const char* const own = std::getenv("LEMMA_CACHE")) return own;
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    if (cache && cache[0] == '/') return std::string(cache) + "/lemma";
    const char* const home = std::getenv("HOME");
    return home && home[0] == '/' ? std::string(home) + "/.cache/lemma" : std::string();
}

codegen::CompilerOptions compiler_options(const CompileOptions& options) {
    codegen::CompilerOptions result;
    result.target = options.target;
    result.numerics = options.numerics;
    result.cache_bytes = options.cache_megabytes << 20;
    if (!options.no_cache) {
        result.cache_folder =
            options.cache_folder.empty() ? default_cache_folder() : options.cache_folder;
    }
    return result;
}

}  // namespace lemma::driver

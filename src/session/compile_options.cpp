// SPDX-License-Identifier: Apache-2.0
#include "session/compile_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "device/device.h"
#include "loop/passes/pipeline.h"

namespace lemma::session {

namespace {

constexpr std::string_view kLoop = "loop:";

}  // namespace

bool is_pass_dump(const std::string& argument) { return argument.starts_with(kLoop); }

Result<std::string> dumped_pass(const std::string& argument) {
    const auto passes = loop::dump_passes();
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

Result<std::shared_ptr<runtime::Device>> open_device(const CompileOptions& options,
                                                     std::string* trouble) {
    const char* const named = std::getenv("LEMMA_DEVICE");
    const std::string name = options.device.empty() && named ? named : options.device;
    LEMMA_TRY(const device::ChosenDevice chosen, device::parse_device(name));
    return device::open_device(chosen, trouble);
}

codegen::CompilerOptions compiler_options(const CompileOptions& options,
                                          ir::Accumulate accumulate) {
    codegen::CompilerOptions result;
    result.target = options.target;
    const bool strict = accumulate == ir::Accumulate::F32;
    result.numerics =
        options.numerics.value_or(strict ? loop::Numerics::Strict : loop::Numerics::Default);
    result.on_progress = options.on_progress;
    result.cache_bytes = options.cache_megabytes << 20;
    if (!options.no_cache) {
        result.cache_folder =
            options.cache_folder.empty() ? default_cache_folder() : options.cache_folder;
    }
    return result;
}

}  // namespace lemma::session

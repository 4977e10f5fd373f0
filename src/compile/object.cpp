// SPDX-License-Identifier: Apache-2.0
#include "compile/object.h"

#include <algorithm>
#include <filesystem>

#include "base/processors.h"
#include "codegen/shared_object.h"
#include "emit/fast/fast.h"
#include "tensor/files/file_io.h"

namespace lemma::compile {

namespace {

namespace fs = std::filesystem;

bool is_library(const fs::path& path) { return path.extension() == ".so"; }

}  // namespace

bool is_object_file(const std::string& path) {
    return is_library(path) || fs::path(path).extension() == ".o";
}

Result<void> write_object(loop::FrozenPlan& plan,
                          const codegen::MachineTarget& target,
                          const ObjectOptions& options) {
    const auto compiler = codegen::Compiler::create_for(target, options.compiler);
    const int threads = std::min(usable_processors(), 64);
    LEMMA_TRY(std::string bytes, compiler->object(plan, options.name, threads));
    const fs::path path(options.path);
    if (is_library(path)) {
        LEMMA_TRY(bytes, codegen::link_shared(bytes, path.filename().string()));
    }
    const std::string header =
        emit::fast_header(plan, {.name = options.name, .origin = options.origin});
    LEMMA_TRY(tensor::write_file(fs::path(path).replace_extension(".h").string(), header));
    return tensor::write_file(options.path, bytes);
}

}  // namespace lemma::compile

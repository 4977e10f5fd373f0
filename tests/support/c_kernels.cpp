// SPDX-License-Identifier: Apache-2.0
#include "support/c_kernels.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "emit/fast/fast.h"
#include "emit/fast/kernel.h"

namespace lemma::testing {

CKernels::CKernels(codegen::MachineTarget target)
    : target_(std::move(target)), support_(emit::fast_target(target_.name), target_.has_fma) {
    std::string path = (std::filesystem::temp_directory_path() / "c_kernels_XXXXXX").string();
    if (::mkdtemp(path.data())) folder_ = path;
}

CKernels::~CKernels() {
    if (library_) ::dlclose(library_);
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void CKernels::add(const loop::Function& function) {
    const auto [found, fresh] =
        names_.try_emplace(loop::print(function), fmt::format("k{}", names_.size()));
    if (fresh) functions_ += emit::print_kernel(function, found->second, support_);
}

std::string CKernels::build(const std::string& compiler) {
    if (folder_.empty()) return "there is no temporary folder";
    const std::string source = folder_ + "/kernels.c";
    std::ofstream file(source);
    file << emit::fast_prologue(target_.name) << support_.definitions() << functions_
         << "kernel find_kernel(int i) {\n    static const kernel all[] = {";
    for (size_t i = 0; i < names_.size(); ++i) file << "k" << i << ", ";
    file << "};\n    return all[i];\n}\n";
    file.close();
    const std::string command = fmt::format(
        "{} -std=gnu11 -O1 -Wall -Wextra -Werror -Wno-psabi {} -ffp-contract=off -fPIC -shared -o "
        "{}/kernels.so {} -lm",
        compiler,
        emit::fast_flags(target_.name),
        folder_,
        source);
    if (std::system(command.c_str()) != 0) return "this failed: " + command;
    library_ = ::dlopen((folder_ + "/kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    return library_ ? "" : ::dlerror();
}

runtime::KernelFunction CKernels::find(const loop::Function& function) const {
    const auto found = names_.find(loop::print(function));
    if (!library_ || found == names_.end()) return nullptr;
    using Find = runtime::KernelFunction (*)(int);
    const auto all = reinterpret_cast<Find>(::dlsym(library_, "find_kernel"));
    return all ? all(std::atoi(found->second.c_str() + 1)) : nullptr;
}

}  // namespace lemma::testing

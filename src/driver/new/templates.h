// SPDX-License-Identifier: Apache-2.0
// driver/new/templates.h — the files that `lemma new` writes. They are in templates/, a folder per
// kind, and become part of the program. `template_name` stands for the name in them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lemma::driver {

struct TemplateFile {
    std::string_view kind;  // the folder: `operator`, `model_sknd`
    std::string_view name;
    std::string_view text;
};
std::span<const TemplateFile> template_files();

struct NewFile {
    std::string path;
    std::string text;
};
// The files of a kind under a name, in a folder. The name is an identifier.
std::vector<NewFile> new_files(std::string_view kind,
                               const std::string& folder,
                               const std::string& name);
// Whether SkriptND takes it as the name of an operator or a module.
bool is_new_name(std::string_view name);
// The nearest identifier: `my_net` for `my-net`.
std::string as_identifier(std::string_view name);

// Writes all of them, or none if one exists.
Result<void> write_new(const std::vector<NewFile>& files);

}  // namespace lemma::driver

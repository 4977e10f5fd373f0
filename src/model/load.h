// SPDX-License-Identifier: Apache-2.0
// model/load.h — the pipeline of a MODEL of any format. Code that checks, shows, runs or converts
// models needs only this header.
#pragma once

#include <optional>
#include <string>

#include "model/finding.h"
#include "model/loaded_model.h"
#include "model/options.h"

namespace lemma::model {

// Empty if there is a fault, which `finding` then reports.
std::optional<LoadedModel> load_model(const std::string& argument,
                                      const LoadOptions& options,
                                      Finding& finding);

// The same for a model that was found, or why it was not.
std::optional<LoadedModel> load_model(const Result<ModelFile>& file,
                                      const LoadOptions& options,
                                      Finding& finding);

// Checks every validity rule of the format, for `lemma check`; an error concerns the file itself.
Result<void> check_model(const std::string& argument, const LoadOptions& options, Finding& finding);
Result<void> check_model(const ModelFile& file, const LoadOptions& options, Finding& finding);
// The same; the trees, types and programs stay in `checked`.
struct CheckedModel;
Result<void> check_model(const ModelFile& file,
                         const LoadOptions& options,
                         Finding& finding,
                         CheckedModel& checked);

// The extension of program files, as written by `lemma show --text` or in that form.
inline constexpr const char* kProgramEnding = ".ir";
std::optional<ir::Program> load_program(const std::string& path, Finding& finding);

}  // namespace lemma::model

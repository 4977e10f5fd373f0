// model/load.h — the line of travel of a MODEL, whatever its format. Whoever checks, shows, runs or
// converts models knows this only.
#pragma once

#include <optional>
#include <string>

#include "model/finding.h"
#include "model/loaded_model.h"
#include "model/options.h"

namespace lemma::model {

// Empty when something is wrong, which `finding` tells then.
std::optional<LoadedModel> load_model(const std::string& argument,
                                      const LoadOptions& options,
                                      Finding& finding);

// Every validity rule of the format, for `lemma check`; the error is trouble with the file itself.
Result<void> check_model(const std::string& argument, const LoadOptions& options, Finding& finding);

// The program of a file that `lemma show --text` wrote, or somebody else in that form.
inline constexpr const char* kProgramEnding = ".ir";
std::optional<ir::Program> load_program(const std::string& path, Finding& finding);

}  // namespace lemma::model

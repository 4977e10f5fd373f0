// SPDX-License-Identifier: Apache-2.0
#include "model/checked.h"

#include <algorithm>

#include "model/load.h"

namespace lemma::model {

namespace {

// Turns warnings into errors. If errors were dropped, there are enough errors already.
void apply_werror(Diagnostics& diag) {
    if (diag.warning_count() == 0 || diag.dropped_errors() > 0) return;
    Diagnostics strict(0);  // no limit
    for (diag::Diagnostic item : diag.items()) {
        item.severity = diag::Severity::Error;
        strict.add(std::move(item));
    }
    diag = std::move(strict);
}

// `model` is a path, or a file that was found.
template <class Model, class... Kept>
Finding check(const std::string& name,
              const Model& model,
              const LoadOptions& options,
              const CheckLimits& limits,
              Kept&... kept) {
    Finding finding{.model = name, .diag = Diagnostics(limits.max_errors)};
    if (const auto done = check_model(model, options, finding, kept...); !done) {
        finding.fail(done.error());
        return finding;
    }
    finding.diag.sort_by_place();
    if (limits.werror) apply_werror(finding.diag);
    if (finding.diag.has_errors()) finding.status = std::max<int>(finding.status, kWrong);
    return finding;
}

}  // namespace

Finding checked(const std::string& model, const LoadOptions& options, const CheckLimits& limits) {
    return check(model, model, options, limits);
}

Finding checked(const ModelFile& file, const LoadOptions& options, const CheckLimits& limits) {
    return check(file.path, file, options, limits);
}

Finding checked(const ModelFile& file,
                const LoadOptions& options,
                const CheckLimits& limits,
                CheckedModel& kept) {
    return check(file.path, file, options, limits, kept);
}

}  // namespace lemma::model

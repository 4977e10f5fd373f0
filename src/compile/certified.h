// SPDX-License-Identifier: Apache-2.0
// compile/certified.h — the certified C of a model, for what writes or proves it.
#pragma once

#include <optional>
#include <string>

#include "emit/certified/certified.h"
#include "model/finding.h"
#include "session/session.h"

namespace lemma::compile {

struct CertifiedOptions {
    bool profile = false;  // the model must conform to the safety profile
    std::optional<ir::Accumulate> accumulate;

    // The profile sums in float.
    ir::Accumulate precision() const {
        return accumulate.value_or(profile ? ir::Accumulate::F32 : ir::Accumulate::F64);
    }
};

// Checks the profile, if it is wanted. Returns false if the model does not conform, which `finding`
// then reports.
Result<bool> keeps_profile(const std::string& model,
                           const CertifiedOptions& certified,
                           const session::SessionOptions& options,
                           model::Finding& finding);

// Nothing if there are obstacles, which `finding` then reports.
std::optional<emit::CertifiedModel> certified_model(session::Session& session,
                                                    const CertifiedOptions& certified,
                                                    const std::string& name,
                                                    const std::string& origin,
                                                    model::Finding& finding);

}  // namespace lemma::compile

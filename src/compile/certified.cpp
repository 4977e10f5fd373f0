// SPDX-License-Identifier: Apache-2.0
#include "compile/certified.h"

#include "model/load.h"

namespace lemma::compile {

Result<bool> keeps_profile(const std::string& model,
                           const CertifiedOptions& certified,
                           const session::SessionOptions& options,
                           model::Finding& finding) {
    if (!certified.profile) return true;
    model::LoadOptions load;
    load.check = options.check;
    load.source = options.source;
    load.inputs = options.inputs;
    load.profile.sonnx = true;
    model::Finding checked{.model = model, .diag = Diagnostics()};
    LEMMA_TRY(model::check_model(model, load, checked));
    if (!checked.diag.has_errors() && !checked.unusable) return true;
    finding = std::move(checked);
    finding.status = std::max<int>(finding.status, model::kWrong);
    return false;
}

std::optional<emit::CertifiedModel> certified_model(session::Session& session,
                                                    const CertifiedOptions& certified,
                                                    const std::string& name,
                                                    const std::string& origin,
                                                    model::Finding& finding) {
    const emit::CertifiedInput input{
        .program = session.program(),
        .variable = [&](const ir::Tensor& tensor) { return session.variable(tensor.name); },
        .accumulate = certified.precision(),
        .name = name,
        .origin = origin};
    std::vector<emit::Obstacle> obstacles;
    auto model = emit::write_certified(input, obstacles);
    emit::report_obstacles(session.program(), obstacles, finding.diag);
    return model;
}

}  // namespace lemma::compile

// SPDX-License-Identifier: Apache-2.0
// Tests the certificate of a model on random inputs against 128-bit arithmetic, and prints how
// close the bounds are:
//   certificate_soundness MODEL f32|f64 SAMPLES SEED quad|double NAME=LOW:HIGH …
// quad: binary128; double: 106 bits as two doubles, which is many times faster.
#include <fmt/format.h>

#include <cstdlib>

#include "certify/soundness.h"
#include "diag/render.h"
#include "driver/certify/ranges.h"
#include "session/session.h"

namespace {

using namespace lemma;

int fail(const std::string& message) {
    fmt::print(stderr, "{}\n", message);
    return 2;
}

int run(const std::vector<std::string>& words) {
    session::SessionOptions options;
    options.engine = session::EngineKind::Interpret;
    options.run.accumulate = words[1] == "f32" ? ir::Accumulate::F32 : ir::Accumulate::F64;
    model::Finding finding{.model = words[0], .diag = Diagnostics()};
    const auto session = session::Session::open(words[0], options, finding);
    if (!session)
        return fail(diag::render(finding.sources, finding.diag, {}) + "cannot open the model");
    certify::CertifyOptions certifying{.accumulate = options.run.accumulate};
    for (size_t i = 5; i < words.size(); ++i) {
        if (auto added = driver::add_range(words[i], certifying.ranges); !added)
            return fail(added.error().message);
    }
    const auto variable = [&](const ir::Tensor& tensor) {
        return std::shared_ptr<const interpret::Array>(std::shared_ptr<void>(),
                                                       session->variable(tensor.name));
    };
    const auto certificate = certify::certify(session->program(), variable, certifying);
    if (!certificate) return fail(certificate.error().message);
    const auto step = [&](const interpret::NamedArrays& inputs) -> Result<interpret::NamedArrays> {
        auto outputs = session->step(inputs, finding);
        if (!outputs) return std::unexpected(Error{"a run failed"});
        return std::move(*outputs);
    };
    const auto result =
        testing_support::check_soundness(session->program(),
                                         variable,
                                         step,
                                         certifying.ranges,
                                         *certificate,
                                         {.samples = std::strtoull(words[2].c_str(), nullptr, 10),
                                          .seed = std::strtoull(words[3].c_str(), nullptr, 10),
                                          .fast = words[4] == "double"});
    if (!result) return fail(result.error().message);
    for (const auto& output : result->outputs) {
        fmt::print(
            "{} {} {}: bound {:.3g}, largest error {:.3g}, bound/error {:.3g}, closest element "
            "{:.3g}\n",
            words[0],
            words[1],
            output.name,
            output.bound,
            output.observed,
            output.bound / output.observed,
            output.closest);
    }
    fmt::print("{} samples, {} violations{}{}\n",
               result->samples,
               result->violations,
               result->first.empty() ? "" : ": ",
               result->first);
    return result->violations == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() < 6)
        return fail("certificate_soundness MODEL f32|f64 SAMPLES SEED quad|double NAME=LOW:HIGH …");
    return run(words);
}

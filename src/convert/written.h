// SPDX-License-Identifier: Apache-2.0
// convert/written.h — reads the written files again before a conversion counts as done. They must
// be a valid model. Changed names of inputs and outputs are reported.
#pragma once

#include "convert/convert.h"
#include "convert/output.h"

namespace lemma::convert {

struct Written {
    bool good = false;                        // otherwise it is a bug of ours, and reported as one
    std::optional<model::LoadedModel> model;  // also empty if values of inputs decide shapes (ONNX)
};
// Reads the files without the limits for untrusted models. `data`: every variable must have its
// data.
Written load_written(const std::string& path, bool data, model::Finding& finding);

// Reports the inputs and outputs whose names differ from those of the converted model.
void tell_renamed(const ir::Program& from, const model::LoadedModel& to, model::Finding& finding);

// The last step of every conversion: closes the files, checks them and moves them into place.
Result<void> finish_output(const model::LoadedModel& model,
                           const ConvertOptions& options,
                           Output output,
                           model::Finding& finding);

}  // namespace lemma::convert

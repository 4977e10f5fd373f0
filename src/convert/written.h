// convert/written.h — what was written is read again before the conversion counts as done:
// it has to be a good model, and what its inputs and outputs are called is told.
#pragma once

#include "convert/convert.h"
#include "convert/output.h"

namespace lemma::convert {

struct Written {
    bool good = false;  // else it is our fault, and reported as such
    std::optional<model::LoadedModel>
        model;  // empty, too, where values of inputs decide shapes (ONNX)
};
// Reads the files without the limits for models of other people; `data`: every variable has its
// data.
Written load_written(const std::string& path, bool data, model::Finding& finding);

// Remarks on inputs and outputs that have other names than in the model that was converted.
void tell_renamed(const ir::Program& from, const model::LoadedModel& to, model::Finding& finding);

// The end of each conversion: closes the files, checks them and moves them into place.
Result<void> finish_output(const model::LoadedModel& model,
                           const ConvertOptions& options,
                           Output output,
                           model::Finding& finding);

}  // namespace lemma::convert

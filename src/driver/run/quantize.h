// driver/run/quantize.h — pseudo-quantisation: what `@quantize` or graph.quant says about a tensor
// is an operator that rounds its values, composed for its shape and run behind whatever computes
// it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "driver/finding.h"
#include "driver/load.h"
#include "loop/interpret.h"

namespace lemma::driver {

class Quantisation {
public:
    // Null when an operator cannot be composed, which is reported.
    static std::shared_ptr<Quantisation> prepare(const LoadedModel& model, Finding& finding);
    Result<void> apply(const ir::Tensor& tensor, loop::Array& array);

private:
    std::map<std::string, loop::Interpreter> by_tensor_;
};

}  // namespace lemma::driver

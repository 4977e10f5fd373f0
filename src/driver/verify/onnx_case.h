// driver/verify/onnx_case.h — recorded cases of ONNX models:
//
//     CASE/model.onnx
//     CASE/test_data_set_0/input_0.pb, …, output_0.pb, …
//
// Tensors belong to the inputs and outputs of the graph by the names inside of the files, or else
// by order.
#pragma once

#include "driver/verify/case.h"

namespace lemma::driver {

void run_onnx_case(const std::string& folder, const CaseOptions& options, CaseResult& result);

}  // namespace lemma::driver

// SPDX-License-Identifier: Apache-2.0
// driver/verify/onnx_case.h — recorded cases of ONNX models:
//
//     CASE/model.onnx
//     CASE/test_data_set_0/input_0.pb, …, output_0.pb, …
//
// The names inside the files assign tensors to inputs and outputs of the graph, else their order.
#pragma once

#include "driver/verify/case.h"

namespace lemma::driver {

void run_onnx_case(const std::string& folder, const CaseOptions& options, CaseResult& result);
Result<PreparedCase> prepare_onnx_case(const std::string& folder, const CaseOptions& options);

}  // namespace lemma::driver

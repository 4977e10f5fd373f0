// SPDX-License-Identifier: Apache-2.0
// serve/net/grpc_messages.h — the messages of gRPC as the server's requests, and its answers as
// messages.
#pragma once

#include "serve/core/types.h"

namespace inference {
class ModelInferRequest;
class ModelInferResponse;
class ModelMetadataResponse;
}  // namespace inference

namespace lemma::serve {

// The inputs refer to the raw bytes of the message, which must outlive the request.
Answer<InferRequest> from_message(const inference::ModelInferRequest& message);
// `raw`: all outputs as bytes; otherwise in the fields of their types, if every type has one.
void to_message(const InferResponse& response, bool raw, inference::ModelInferResponse& message);
void to_message(const ModelMetadata& metadata, inference::ModelMetadataResponse& message);

}  // namespace lemma::serve

// SPDX-License-Identifier: Apache-2.0
// serve/core/json_codec.h — bodies of the HTTP protocol: JSON, with tensors as numbers or as bytes
// after the JSON (the binary tensor data extension).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "serve/core/types.h"

namespace lemma::serve {

// `json_size` is the header Inference-Header-Content-Length, if there is one. The inputs of the
// request keep the body alive and refer to its bytes. Model and version are left empty.
Answer<InferRequest> decode_request(std::shared_ptr<const std::string> body,
                                    std::optional<size_t> json_size);

struct EncodedResponse {
    std::string body;
    std::optional<size_t> json_size;  // if bytes follow the JSON
};

// A failure if JSON cannot express an output.
Answer<EncodedResponse> encode_response(const InferResponse& response);

std::string encode_error(std::string_view message);
std::string encode_metadata(const ModelMetadata& metadata);

}  // namespace lemma::serve

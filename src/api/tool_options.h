// SPDX-License-Identifier: Apache-2.0
// api/tool_options.h — fields of the options in lemma/tools.h as options of the rooms below.
#pragma once

#include <lemma/tools.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "compile/compile.h"
#include "convert/convert.h"
#include "model/checked.h"
#include "model/format_text.h"

namespace lemma::api {

struct CheckRequest {
    model::LoadOptions load;
    model::CheckLimits limits;
};
Result<CheckRequest> check_request(const lemma_check_options* options);

// Without the names of the files.
Result<convert::ConvertRequest> convert_request(const lemma_convert_options* options);
Result<compile::Request> compile_request(const lemma_compile_options* options);

// The language is that of the text, if the options leave it open.
struct FormatRequest {
    std::string name;
    model::FormatOptions options;
};
Result<FormatRequest> format_request(const lemma_format_options* options, std::string_view text);

}  // namespace lemma::api

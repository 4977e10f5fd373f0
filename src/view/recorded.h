// SPDX-License-Identifier: Apache-2.0
// view/recorded.h — the times of an earlier `lemma bench --profile --json`, for a page.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/program/program.h"
#include "view/tree.h"

namespace lemma::view {

// `text` is the document of `lemma bench`. Steps are found again by operator and label.
Result<Json> recorded_times(const ir::Program& program, const std::string& text);

}  // namespace lemma::view

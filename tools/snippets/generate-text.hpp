// SPDX-License-Identifier: Apache-2.0
// What the C++ snippet of docs/howto/generate-text.md takes for granted.
#pragma once

#include <lemma/lemma.hpp>

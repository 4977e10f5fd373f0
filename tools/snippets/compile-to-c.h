/* SPDX-License-Identifier: Apache-2.0
 * What the C snippet of docs/howto/compile-to-c.md takes for granted. */
#pragma once

#include "any/encoder.h"

static const encoder_inputs inputs;
static const encoder_outputs outputs;

/* SPDX-License-Identifier: Apache-2.0
 * What the C snippets of docs/howto/compile-to-machine-code.md take for granted. */
#pragma once

#include <stdint.h>

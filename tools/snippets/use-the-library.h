/* SPDX-License-Identifier: Apache-2.0
 * What the C snippets of docs/howto/use-the-library.md take for granted. */
#pragma once

#include <lemma/lemma.h>
#include <stdio.h>

static float dots[35];

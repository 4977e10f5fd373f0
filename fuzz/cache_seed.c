// SPDX-License-Identifier: Apache-2.0
/* A kernel with loops, constants and calls of the C library. */
#include <math.h>

static const float kTable[8] = {0.5F, 1.5F, 2.5F, 3.5F, 4.5F, 5.5F, 6.5F, 7.5F};

void kernel(void** buffers, long begin, long end);

void kernel(void** buffers, long begin, long end) {
    const float* from = buffers[0];
    float* to = buffers[1];
    for (long i = begin; i < end; ++i) to[i] = sinf(from[i]) * kTable[i & 7] + expf(from[i]) * 0.3F;
}

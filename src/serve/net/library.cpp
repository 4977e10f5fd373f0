// SPDX-License-Identifier: Apache-2.0
// The entry of lemma_serve.so.
#include "serve/options.h"

extern "C" __attribute__((visibility("default"))) void* lemma_serve_address() {
    return reinterpret_cast<void*>(&lemma::serve::serve);
}

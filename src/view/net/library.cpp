// SPDX-License-Identifier: Apache-2.0
// The entry of lemma_view.so.
#include "view/http.h"

extern "C" __attribute__((visibility("default"))) void* lemma_view_address() {
    return reinterpret_cast<void*>(&lemma::view::serve_page);
}

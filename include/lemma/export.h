// SPDX-License-Identifier: Apache-2.0
/* lemma/export.h: marks the exported names of liblemma.so. */
#ifndef LEMMA_EXPORT_H
#define LEMMA_EXPORT_H

#if defined(__GNUC__)
#define LEMMA_API __attribute__((visibility("default")))
#else
#define LEMMA_API
#endif

#endif /* LEMMA_EXPORT_H */

/* lemma/export.h: marks what liblemma.so shows to the world. */
#ifndef LEMMA_EXPORT_H
#define LEMMA_EXPORT_H

#if defined(__GNUC__)
#define LEMMA_API __attribute__((visibility("default")))
#else
#define LEMMA_API
#endif

#endif /* LEMMA_EXPORT_H */

// SPDX-License-Identifier: Apache-2.0
/* overhead.c: nanoseconds of lemma_run on a model, without Python. */
#include <lemma/lemma.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* overhead MODEL ENGINE ROUNDS CALLS: the best round; the model takes and makes f32[4]. */
int main(int argc, char** argv) {
    if (argc != 5) return 2;
    lemma_load_options options = {.struct_size = sizeof options, .engine = atoi(argv[2])};
    const int rounds = atoi(argv[3]), calls = atoi(argv[4]);
    lemma_model* model = NULL;
    lemma_session* session = NULL;
    if (lemma_load(argv[1], &options, &model, NULL) != LEMMA_GOOD) return 1;
    if (lemma_session_create(model, NULL, &session, NULL) != LEMMA_GOOD) return 1;
    const int64_t shape[] = {4};
    float x[4] = {1, 2, 3, 4}, y[4];
    const lemma_tensor input = {LEMMA_F32, 1, shape, x, sizeof x};
    double best = 1e18;
    for (int round = 0; round < rounds; ++round) {
        const double begin = now();
        for (int i = 0; i < calls; ++i) {
            lemma_tensor output = {LEMMA_NO_TYPE, 0, NULL, y, sizeof y};
            if (lemma_run(session, &input, 1, &output, 1, NULL, NULL) != LEMMA_GOOD) return 1;
        }
        const double each = (now() - begin) / calls;
        if (each < best) best = each;
    }
    printf("%.1f\n", best);
    lemma_session_free(session);
    lemma_model_free(model);
    return 0;
}

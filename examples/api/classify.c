// SPDX-License-Identifier: Apache-2.0
/* Reads the digit in a picture of 5 x 7 dots, by the C library.
 *
 *     classify examples/digits
 */
#include <lemma/lemma.h>
#include <stdio.h>

static float seven[7][5] = {
    {1, 1, 1, 1, 1},
    {0, 0, 0, 0, 1},
    {0, 0, 0, 1, 0},
    {0, 0, 1, 0, 0},
    {0, 0, 1, 0, 0},
    {0, 1, 0, 0, 0},
    {0, 1, 0, 0, 0},
};

static int classify(lemma_session* session, lemma_report** report) {
    const int64_t shape[] = {7, 5};
    const lemma_tensor picture = {LEMMA_F32, 2, shape, seven, sizeof seven};
    lemma_tensor output = {0}; /* no memory of ours: the session lends its own */
    const float* scores;
    size_t best = 0, i;

    const int status = lemma_run(session, &picture, 1, &output, 1, NULL, report);
    if (status != LEMMA_GOOD) return status;

    scores = output.data; /* until the next call with this session */
    for (i = 0; i < output.size / sizeof *scores; ++i) {
        if (scores[i] > scores[best]) best = i;
    }
    printf("class %d, probability %.3f\n", (int)best, scores[best]);
    return status;
}

int main(int argc, char** argv) {
    lemma_model* model = NULL;
    lemma_session* session = NULL;
    lemma_report* report = NULL;
    int status;

    if (argc != 2) return fputs("usage: classify MODEL\n", stderr), 2;
    status = lemma_load(argv[1], NULL, &model, &report);
    if (status == LEMMA_GOOD) {
        lemma_report_free(report); /* warnings and notes, if any */
        status = lemma_session_create(model, NULL, &session, &report);
    }
    if (status == LEMMA_GOOD) status = classify(session, &report);
    fputs(lemma_report_text(report), stderr);
    lemma_report_free(report);
    lemma_session_free(session);
    lemma_model_free(model);
    return status;
}

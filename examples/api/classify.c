/* Reads the digit in a picture of 5 x 7 dots, by the C library.
 *
 *     classify examples/digits
 */
#include <lemma/lemma.h>
#include <stdio.h>

static const float kSeven[7][5] = {
    {1, 1, 1, 1, 1},
    {0, 0, 0, 0, 1},
    {0, 0, 0, 1, 0},
    {0, 0, 1, 0, 0},
    {0, 0, 1, 0, 0},
    {0, 1, 0, 0, 0},
    {0, 1, 0, 0, 0},
};

static int classify(lemma_model* model) {
    const int64_t shape[] = {7, 5};
    const lemma_tensor picture = {LEMMA_F32, 2, shape, kSeven, sizeof kSeven};
    lemma_tensor output;
    const float* scores;
    size_t best = 0, i;
    int status = lemma_set_input(model, lemma_name(model, LEMMA_INPUTS, 0), &picture);

    if (status == LEMMA_GOOD) status = lemma_run(model);
    if (status == LEMMA_GOOD) {
        status = lemma_get_output(model, lemma_name(model, LEMMA_OUTPUTS, 0), &output);
    }
    if (status != LEMMA_GOOD) return status;

    scores = output.data; /* until the next run */
    for (i = 0; i < output.size / sizeof *scores; ++i) {
        if (scores[i] > scores[best]) best = i;
    }
    printf("class %d, probability %.3f\n", (int)best, scores[best]);
    return LEMMA_GOOD;
}

int main(int argc, char** argv) {
    lemma_model* model;
    int status;

    if (argc != 2) return fputs("usage: classify MODEL\n", stderr), 2;
    status = lemma_load(argv[1], NULL, &model);
    if (status == LEMMA_GOOD) status = classify(model);
    fputs(lemma_error(model), stderr);
    lemma_free(model);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
/* Functions of libm as certified C calls them: in double, then rounded to float. Reads floats from
   `x.bin` in the folder of `-i` and writes NAME.bin (float) and NAME_double.bin to the folder of
   `-o`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

static const struct {
    const char* name;
    double (*call)(double);
} functions[] = {
    {"exp", exp},
    {"log", log},
    {"tanh", tanh},
    {"sigmoid", sigmoid},
    {"sqrt", sqrt},
    {"sin", sin},
    {"cos", cos},
    {"atan", atan},
    {"erf", erf},
    {"log1p", log1p},
};

static FILE* open_file(const char* folder, const char* name, const char* end, const char* mode) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s%s", folder, name, end);
    FILE* const file = fopen(path, mode);
    if (file == NULL) {
        (void)fprintf(stderr, "cannot open %s\n", path);
        exit(2);
    }
    return file;
}

int main(int argc, char** argv) {
    if (argc != 5 || strcmp(argv[1], "-i") != 0 || strcmp(argv[3], "-o") != 0) {
        return 2;
    }
    for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
        FILE* const from = open_file(argv[2], "x", ".bin", "rb");
        FILE* const to = open_file(argv[4], functions[k].name, ".bin", "wb");
        FILE* const wide = open_file(argv[4], functions[k].name, "_double.bin", "wb");
        float x;
        while (fread(&x, sizeof x, 1, from) == 1) {
            const double y = functions[k].call((double)x);
            const float rounded = (float)y;
            (void)fwrite(&rounded, sizeof rounded, 1, to);
            (void)fwrite(&y, sizeof y, 1, wide);
        }
        (void)fclose(from);
        if (fclose(to) != 0 || fclose(wide) != 0) {
            return 2;
        }
    }
    return 0;
}

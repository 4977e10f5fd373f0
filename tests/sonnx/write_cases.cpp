// SPDX-License-Identifier: Apache-2.0
// Writes the models that `./dev prove` proves as DIR/NAME.onnx: `sonnx_cases DIR`.
#include <cstdio>
#include <filesystem>

#include "sonnx/cases.h"
#include "tensor/files/file_io.h"

int main(int argc, char** argv) {
    using namespace lemma;
    if (argc != 2) {
        std::fputs("sonnx_cases DIR\n", stderr);
        return 2;
    }
    std::error_code failed;
    std::filesystem::create_directories(argv[1], failed);
    for (const auto& each : sonnx::test::reference_cases()) {
        if (!each.proved) continue;
        const auto path = std::filesystem::path(argv[1]) / (each.name + ".onnx");
        const auto written = tensor::write_file(path.string(), onnx::test::model_bytes(each.graph));
        if (written) continue;
        std::fprintf(stderr, "sonnx_cases: %s\n", written.error().message.c_str());
        return 2;
    }
    return 0;
}

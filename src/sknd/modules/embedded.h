// sknd/modules/embedded.h — the standard modules, compiled into the program (tools/embed.py).
#pragma once

#include <span>
#include <string_view>

namespace lemma::sknd {

struct EmbeddedFile {
    std::string_view path;  // below stdlib/, such as `nn.sknd` or `onnx/conv.sknd`
    std::string_view text;
};

// The modules, in the order of their paths.
std::span<const EmbeddedFile> embedded_files();
// Other texts: the declarations of NNEF 1.0, `nnef1/standard.nnef`.
std::span<const EmbeddedFile> embedded_texts();

}  // namespace lemma::sknd

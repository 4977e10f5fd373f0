// sknd/modules/embedded.h — the standard modules, compiled into the program (tools/embed.py).
#pragma once

#include <span>
#include <string_view>

namespace lemma::sknd {

// A definition of a module: where it stands in the text, and what it may call.
struct EmbeddedDefinition {
    std::string_view name;
    size_t begin;
    size_t end;
    std::string_view uses;  // names such as `nn.conv`, each followed by a space
};

struct EmbeddedFile {
    std::string_view path;  // below stdlib/, such as `nn.sknd` or `onnx/conv.sknd`
    std::string_view text;
    std::span<const EmbeddedDefinition> definitions;  // of a module
};

// The modules, in the order of their paths.
std::span<const EmbeddedFile> embedded_files();
// Other texts: the declarations of NNEF 1.0, `nnef1/standard.nnef`.
std::span<const EmbeddedFile> embedded_texts();

}  // namespace lemma::sknd

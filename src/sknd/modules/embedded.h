// SPDX-License-Identifier: Apache-2.0
// sknd/modules/embedded.h — the standard modules, compiled into the program (tools/embed.py).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lemma::sknd {

// A definition of a module: its place in the text, and the definitions that it may call.
struct EmbeddedDefinition {
    std::string_view name;
    uint32_t begin;
    uint32_t end;
    std::span<const uint16_t> uses;  // indices into embedded_definitions()
};

struct EmbeddedFile {
    std::string_view path;    // below stdlib/, such as `quant.sknd` or `onnx/conv.sknd`
    std::string_view module;  // `quant`, `onnx.conv`; `nn` for all files of the folder `nn`
    std::string_view text;
    std::span<const EmbeddedDefinition> definitions;  // of the module; a part of all
};

// The modules, sorted by path. The files of one module are adjacent, and the file with the module's
// name comes first.
std::span<const EmbeddedFile> embedded_files();
// The definitions of all modules, one module after the other.
std::span<const EmbeddedDefinition> embedded_definitions();
// Other texts: the declarations of NNEF 1.0, `nnef1/standard.nnef`.
std::span<const EmbeddedFile> embedded_texts();

}  // namespace lemma::sknd

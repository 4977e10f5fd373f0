// SPDX-License-Identifier: Apache-2.0
// driver/standard_model.h — a model on standard input: the argument `-` of a command.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "driver/arguments.h"
#include "tensor/archive/memory_files.h"

namespace lemma::driver {

inline constexpr const char* kModelOrInputHelp =
    "a .sknd, .nnef or .onnx file, or a folder or archive with main.sknd or graph.nnef; -: "
    "standard input";

enum class InputFormat { ByContent, SkriptND, Nnef1, Onnx, Archive };
// --format, for models on standard input.
void declare_format(Arguments& arguments, InputFormat& format);

// The format of a model without a name, by its first bytes. Text that begins as NNEF 1.0 is that,
// other text is SkriptND, and what is no text is ONNX.
InputFormat format_of(std::string_view bytes);

// The files of the model `-`, and none for other arguments.
Result<std::vector<tensor::MemoryFile>> standard_model(const std::string& argument,
                                                       std::istream& input,
                                                       InputFormat format);

}  // namespace lemma::driver

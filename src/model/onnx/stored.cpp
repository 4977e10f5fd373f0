// SPDX-License-Identifier: Apache-2.0
// What importing made of a model, in the store of programs: the next load of the same file needs no
// import.
#include "base/archive.h"
#include "ir/program/stored_program.h"
#include "model/onnx/model.h"

namespace lemma::model {

namespace {

// A text of the source map; those of the library are in this program, too.
struct StoredText {
    std::string name;
    std::optional<std::string> text;
};
struct StoredModule {
    std::string name;
    bool standard = false;
    std::vector<diag::FileId> files;
};
// The message of a tensor in the file.
struct StoredData {
    ir::TensorId tensor;
    uint64_t begin = 0;
    uint64_t bytes = 0;
};

template <class Archive>
void fields(Archive& archive, like<StoredText, Archive>& text) {
    auto& [name, own] = text;
    archive(name, own);
}

template <class Archive>
void fields(Archive& archive, like<StoredModule, Archive>& module) {
    auto& [name, standard, files] = module;
    archive(name, standard, files);
}

template <class Archive>
void fields(Archive& archive, like<StoredData, Archive>& data) {
    auto& [tensor, begin, bytes] = data;
    archive(tensor, begin, bytes);
}

struct StoredModel {
    std::string paths;
    std::vector<StoredText> texts;
    std::vector<StoredModule> modules;
    std::vector<StoredData> data;
    std::vector<std::pair<std::string, std::string>> aliases;
    Metadata metadata;
    std::string program;
    std::string places;
};

template <class Archive>
void fields(Archive& archive, like<StoredModel, Archive>& model) {
    auto& [paths, texts, modules, data, aliases, metadata, program, places] = model;
    archive(paths, texts, modules, data, aliases, metadata, program, places);
}

// The options that decide what import makes of a file, and the size of the file: the parts of a
// large file are no small file.
std::string options_bytes(const CheckOptions& options, const OnnxFile& file) {
    const auto& [graph, attributes, real, integer, inner, operations, unroll, rank, calls] =
        options.graph.compose;
    ArchiveWriter writer;
    writer(uint64_t{file.bytes->size()}, graph, real, integer, operations, unroll, rank, calls);
    for (const sknd::EvalLimits& limits : {options.eval, inner}) {
        const auto& [pack, string, depth, work] = limits;
        writer(pack, string, depth, work);
    }
    return std::move(writer.bytes);
}

// Everything that decides the program.
std::vector<std::string_view> source_of(const OnnxFile& file, const std::string& options) {
    std::vector<std::string_view> source = {options};
    source.insert(source.end(), file.parts.begin(), file.parts.end());
    return source;
}

// Where the message is in the file; empty if it is elsewhere.
std::optional<StoredData> place_of(const onnx::VariableData& data, std::string_view file) {
    const std::string_view message = data.data.proto.message.bytes();
    const auto begin =
        reinterpret_cast<uintptr_t>(message.data()) - reinterpret_cast<uintptr_t>(file.data());
    if (begin > file.size() || message.size() > file.size() - begin) return std::nullopt;
    return StoredData{data.tensor, begin, message.size()};
}

// Without the place in the paths, which only the checks of data need.
std::optional<onnx::VariableData> data_at(const StoredData& stored, std::string_view file) {
    if (stored.begin > file.size() || stored.bytes > file.size() - stored.begin)
        return std::nullopt;
    tensor::WireField field;
    field.type = tensor::WireType::Bytes;
    field.bytes = file.substr(stored.begin, stored.bytes);
    field.offset = static_cast<int64_t>(stored.begin);
    const auto reader = tensor::WireReader::open(field);
    if (!reader) return std::nullopt;
    auto proto = tensor::read_tensor_proto(*reader);
    if (!proto) return std::nullopt;
    return onnx::VariableData{stored.tensor, {std::move(*proto), {}}};
}

}  // namespace

bool may_be_stored(const LoadOptions& options, const diag::SourceMap& sources) {
    return options.store && options.inputs.empty() && options.values.empty() &&
           options.check.graph.attributes.empty() && sources.size() == 0;
}

void store(const OnnxModel& model,
           const OnnxFile& file,
           const LoadOptions& options,
           const diag::SourceMap& sources) {
    const onnx::Imported& imported = model.imported;
    if (!imported.program || imported.reads_files || !imported.deciding.empty()) return;
    StoredModel stored{.paths = model.model.paths, .metadata = metadata_of(model.model)};
    for (size_t i = model.file.value + size_t{1}; i < sources.size(); ++i) {
        const auto id = make_id<diag::FileId>(i);
        StoredText text{.name = sources.name(id), .text = {}};
        if (sknd::standard_text(text.name) != sources.text(id)) text.text = sources.text(id);
        stored.texts.push_back(std::move(text));
    }
    for (const sknd::LoadedModule& module : model.package.modules) {
        stored.modules.push_back({module.name, module.standard, module.files});
    }
    for (const onnx::VariableData& data : imported.data) {
        const auto place = place_of(data, *file.bytes);
        if (!place) return;
        stored.data.push_back(*place);
    }
    stored.aliases.assign(imported.aliases.begin(), imported.aliases.end());
    stored.program = ir::encode_program(*imported.program);
    stored.places = ir::encode_places(*imported.program);
    ArchiveWriter writer;
    writer(stored);
    options.store->add(source_of(file, options_bytes(options.check, file)),
                       std::move(writer.bytes));
}

std::optional<LoadedModel> find_stored(const ModelFile& model,
                                       const OnnxFile& file,
                                       const LoadOptions& options,
                                       diag::SourceMap& sources) {
    const auto entry = options.store->find(source_of(file, options_bytes(options.check, file)));
    if (!entry) return std::nullopt;
    StoredModel stored;
    ArchiveReader reader(*entry);
    reader(stored);
    if (!reader.good() || !reader.at_end()) return std::nullopt;
    auto program = ir::decode_program(stored.program, stored.places);
    if (!program) return std::nullopt;
    std::vector<onnx::VariableData> data;
    for (const StoredData& place : stored.data) {
        auto found = data_at(place, *file.bytes);
        if (!found || place.tensor.value >= program->tensors.size()) return std::nullopt;
        data.push_back(std::move(*found));
    }
    std::vector<std::string> texts;
    for (StoredText& text : stored.texts) {
        const auto standard = sknd::standard_text(text.name);
        if (!text.text && !standard) return std::nullopt;
        texts.push_back(text.text ? std::move(*text.text) : std::string(*standard));
    }
    const diag::FileId paths = sources.add_paths(model.path, std::move(stored.paths));
    for (size_t i = 0; i < texts.size(); ++i) {
        sources.add(std::move(stored.texts[i].name), std::move(texts[i]));
    }
    LoadedModel loaded = with_data(model, file, std::move(*program), std::move(data));
    loaded.source = paths;
    loaded.metadata = std::move(stored.metadata);
    loaded.aliases.insert(stored.aliases.begin(), stored.aliases.end());
    for (StoredModule& module : stored.modules) {
        sknd::LoadedModule& named = loaded.package.modules.emplace_back();
        named.name = std::move(module.name);
        named.standard = module.standard;
        named.files = std::move(module.files);
    }
    return loaded;
}

}  // namespace lemma::model

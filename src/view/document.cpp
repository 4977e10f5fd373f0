// SPDX-License-Identifier: Apache-2.0
#include "view/document.h"

#include <algorithm>
#include <unordered_map>

#include "base/version.h"
#include "model/checked.h"
#include "view/definitions.h"
#include "view/formulas.h"

namespace lemma::view {

namespace {

constexpr size_t kMostSourceBytes = size_t{256} << 10;  // of one file
constexpr size_t kMostSourcesBytes = size_t{1} << 20;   // of all files

// `onnx.conv.Conv` → `Conv`
std::string title_of(const ir::Operation& op) {
    const std::string name = op.op.substr(op.op.rfind('.') + 1);
    return name.empty() ? op.op : name;
}

// The scopes of operations, from their labels: `/layer1/layer1.0/conv1/Conv` is in layer1 and
// layer1.0. A scope of a single operation, here conv1, does not count. Parts of compounds have no
// scope: they are drawn inside of them.
class Scopes {
public:
    explicit Scopes(const ir::Program& program)
        : program_(program), inside_(program.operations.size()) {
        for (const ir::Operation& op : program.operations)
            for (const ir::OpId part : op.parts) inside_[part] = true;
        for (size_t i = 0; i < program.operations.size(); ++i) {
            for (const std::string& path : paths(make_id<ir::OpId>(i))) ++counts_[path];
        }
    }

    Json of(ir::OpId id) const {
        Json scope = Json::array();
        size_t begin = 0;
        for (const std::string& path : paths(id)) {
            if (counts_.at(path) < 2) break;
            scope.push_back(path.substr(begin));
            begin = path.size() + 1;
        }
        return scope;
    }

private:
    // Of the scopes around the operation, outermost first: `layer1`, `layer1/layer1.0`.
    std::vector<std::string> paths(ir::OpId id) const {
        std::vector<std::string> paths;
        if (inside_[id]) return paths;
        std::string_view label = program_.operations[id].label;
        const char separator = label.find('/') != std::string::npos ? '/' : '.';
        label.remove_prefix(std::min(label.find_first_not_of(separator), label.size()));
        for (size_t end = label.find(separator);
             end != std::string::npos && paths.size() < kMostScopes;
             end = label.find(separator, end + 1)) {
            if (end + 1 < label.size()) paths.emplace_back(label.substr(0, end));
        }
        return paths;
    }

    static constexpr size_t kMostScopes = 32;
    const ir::Program& program_;
    Table<ir::OpId, char> inside_;
    std::unordered_map<std::string, size_t> counts_;
};

Json sources_json(const diag::SourceMap& sources) {
    Json list = Json::array();
    size_t bytes = 0;
    for (size_t i = 0; i < sources.size(); ++i) {
        const auto file = make_id<diag::FileId>(i);
        const std::string_view text = sources.text(file);
        if (sources.is_binary(file) || sources.name(file).starts_with("stdlib/")) continue;
        if (text.size() > kMostSourceBytes || bytes + text.size() > kMostSourcesBytes) continue;
        bytes += text.size();
        list.push_back({{"file", sources.name(file)}, {"text", text}});
    }
    return list;
}

bool is_program(const ViewOptions& options) {
    return options.model.ends_with(model::kProgramEnding);
}

std::string name_of(const std::string& path) {
    const size_t end = path.find_last_not_of('/');
    const std::string trimmed = path.substr(0, end == std::string::npos ? path.size() : end + 1);
    return trimmed.substr(trimmed.rfind('/') + 1);
}

// Warnings that only a check finds, and the verdicts of a profile.
struct Checked {
    std::optional<model::Finding> finding;
    std::string format;
};
Checked check(const ViewOptions& options) {
    Checked result;
    if (is_program(options)) {
        result.format = "ir";
        return result;
    }
    const auto file = model::find_model(options.model, options.load.memory, options.load.source);
    if (!file) return result;
    result.format = model::format_word(file->format);
    model::LoadOptions load = options.load;
    if (file->format != model::Format::Onnx && load.profile.sonnx) return result;
    result.finding = model::checked(*file, load, {});
    return result;
}

Json model_json(const ViewOptions& options, const std::string& format) {
    Json json = {{"name", name_of(options.model)}};
    if (!format.empty()) json["format"] = format;
    json["path"] = options.model;
    return json;
}

void read(const ViewOptions& options, ViewedModel& viewed) {
    if (is_program(options)) {
        viewed.own_program = model::load_program(options.model, viewed.finding);
    } else {
        viewed.loaded = model::load_model(options.model, options.load, viewed.finding);
    }
    viewed.finding.diag.sort_by_place();
}

}  // namespace

Json viewed_graph(const ir::Program& program,
                  const show::Origin& origin,
                  const Definitions& definitions,
                  std::set<std::string>& used) {
    FormulaWriter formulas(program);
    const Scopes scopes(program);
    const auto add = [&](ir::OpId id, Json& json) {
        const ir::Operation& op = program.operations[id];
        json["id"] = id.value;
        json["title"] = title_of(op);
        Json scope = scopes.of(id);
        if (!scope.empty()) json["scope"] = std::move(scope);
        if (definitions.find(op.op)) {
            json["definition"] = op.op;
            used.insert(op.op);
            Json defaults = definitions.defaults(op, program.symbols);
            if (!defaults.empty()) json["defaults"] = std::move(defaults);
        }
        formulas.add(op, json);
    };
    return show::graph_json(program, show::Level::Compound, origin, add);
}

ViewedModel view_model(const ViewOptions& options) {
    ViewedModel viewed{.finding = {.model = options.model, .diag = Diagnostics()}};
    read(options, viewed);
    Json& document = viewed.document;
    document = {{"schema", kViewSchema}, {"version", kVersion}};
    Checked checked = check(options);
    document["model"] = model_json(options, checked.format);
    document["live"] = options.live;
    document["graph"] = nullptr;
    OperationPlaces places;
    if (const ir::Program* const program = viewed.program()) {
        places = OperationPlaces(*program, viewed.finding.sources);
        show::Origin origin{.sources = &viewed.finding.sources, .metadata = {}, .deciding = {}};
        if (viewed.loaded) {
            origin.metadata = viewed.loaded->metadata;
            origin.deciding = viewed.loaded->deciding;
        }
        const Definitions definitions(viewed.loaded ? &viewed.loaded->package : nullptr,
                                      viewed.finding.sources);
        std::set<std::string> used;
        document["graph"] = viewed_graph(*program, origin, definitions, used);
        document["definitions"] = definitions.json(used);
    }
    // A check finds more; of a model that it cannot read, loading says why.
    const bool better = checked.finding && !checked.finding->unusable;
    if (better) checked.finding->unusable = viewed.finding.unusable;
    // It does not know the inputs that decide shapes.
    const bool decided = viewed.loaded && !viewed.loaded->deciding.empty();
    document["diagnostics"] = diagnostics_json(
        better && !decided ? *checked.finding : viewed.finding, places, options.pages);
    if (better && !checked.finding->conformity.empty())
        document["profile"] = profile_json(checked.finding->conformity, places);
    document["sources"] = sources_json(viewed.finding.sources);
    return viewed;
}

Json compared_document(const Compared& a, const Compared& b, Json diff) {
    const show::Origin origin;
    diag::SourceMap sources;
    const Definitions definitions(nullptr, sources);
    std::set<std::string> used;
    diff["a"] = viewed_graph(*a.program, origin, definitions, used);
    diff["b"] = viewed_graph(*b.program, origin, definitions, used);
    const std::string both = name_of(a.model) + " against " + name_of(b.model);
    return {{"schema", kViewSchema},
            {"version", kVersion},
            {"model", {{"name", both}}},
            {"live", false},
            {"graph", nullptr},
            {"definitions", definitions.json(used)},
            {"diff", std::move(diff)}};
}

std::string compact_text(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lemma::view

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "diag/json_text.h"
#include "driver/commands/command.h"
#include "driver/new/templates.h"
#include "model/files.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

enum class NewFormat { SkriptND, Nnef1 };

class New final : public Command {
public:
    std::string name() const override { return "new"; }
    std::string summary() const override {
        return "writes a model, an operator or a module to begin with";
    }
    std::string group() const override { return kLanguageCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    Result<std::vector<NewFile>> files() const;
    std::vector<std::string> next_steps(const std::vector<NewFile>& files) const;
    std::string use_in_model(const NewFile& file) const;

    std::string kind_, name_;
    std::optional<NewFormat> format_;
    bool json_ = false;
};

void New::declare(Arguments& arguments) {
    arguments.choice_word("KIND",
                          kind_,
                          {"model", "operator", "module"},
                          "a model with a graph, an operator, or a module of operators");
    arguments.word("NAME", name_, "its name; folders in front of it say where");
    const Choices<std::optional<NewFormat>> formats = {{"sknd", NewFormat::SkriptND},
                                                       {"nnef1", NewFormat::Nnef1}};
    arguments.choice("--format", format_, formats, "format of a model (sknd)");
    arguments.flag("--json", json_, "print one JSON document instead of text");
    arguments.remark(
        "A model is a folder NAME, an operator and a module are a file NAME.sknd. Each comes with "
        "a "
        "test, which `lemma test` runs. No file is overwritten.");
    arguments.example("lemma new operator softsign", "Writes softsign.sknd and softsign.test.");
    arguments.example("lemma new model net --format=nnef1", "Writes net/graph.nnef and its test.");
}

Result<std::vector<NewFile>> New::files() const {
    fs::path path = fs::path(name_).lexically_normal();
    if (path.filename().empty()) path = path.parent_path();
    const bool model = kind_ == "model";
    if (!model && format_)
        return std::unexpected(Error{"--format is for models: operators are written in SkriptND"});
    std::string name = path.filename().string();
    if (!model && name.ends_with(".sknd")) name.resize(name.size() - 5);
    if (model) {
        const std::string kind = format_ == NewFormat::Nnef1 ? "model_nnef1" : "model_sknd";
        if (name.empty() || name == "." || name == "..")
            return std::unexpected(Error{fmt::format("`{}` is no name of a model", name_)});
        return new_files(kind, path.string(), as_identifier(name));
    }
    if (!is_new_name(name))
        return std::unexpected(
            Error{fmt::format("`{}` is no name of an {}; `{}` would be one: letters, digits and "
                              "`_`, and no keyword",
                              name,
                              kind_,
                              as_identifier(name))});
    return new_files(kind_, path.parent_path().string(), name);
}

std::string quoted_path(const std::string& path) {
    const bool plain = path.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789_./-+") == std::string::npos;
    if (plain) return path;
    std::string quoted = "'";
    for (const char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::vector<std::string> New::next_steps(const std::vector<NewFile>& files) const {
    if (kind_ != "model") {
        const std::string path = quoted_path(files.front().path);
        return {"lemma check --module " + path, "lemma test " + path};
    }
    const std::string folder = quoted_path(fs::path(files.front().path).parent_path().string());
    return {"lemma check " + folder,
            "lemma show " + folder,
            "lemma run " + folder + " --random-inputs",
            "lemma test " + folder};
}

// How a model calls the operator.
std::string New::use_in_model(const NewFile& file) const {
    if (kind_ == "model") return "";
    const std::string module = fs::path(file.path).stem().string();
    const std::string call = kind_ == "operator" ? module : "OPERATOR";
    return fmt::format(
        "\nA model in the same folder uses it so:\n    import {};\n    …\n    y = {}.{}(x);\n",
        module,
        module,
        call);
}

Outcome New::run(Terminal, std::istream&) const {
    const auto made = files();
    if (!made) return {.status = model::kUnusable, .err = model::error_line(made.error())};
    const auto written = write_new(*made);
    if (!written) return {.status = model::kUnusable, .err = model::error_line(written.error())};
    nlohmann::ordered_json paths = nlohmann::ordered_json::array();
    std::string text;
    for (const NewFile& file : *made) {
        paths.push_back(file.path);
        text += fmt::format("wrote {}\n", file.path);
    }
    const auto next = next_steps(*made);
    text += "\nNow try:\n";
    for (const std::string& line : next) text += "    " + line + "\n";
    text += use_in_model(made->front());
    if (json_)
        return {.status = model::kGood,
                .out = diag::json_text({{"files", std::move(paths)}, {"next", next}})};
    return {.status = model::kGood, .out = model::safe_text(text)};
}

}  // namespace

std::unique_ptr<Command> new_command() { return std::make_unique<New>(); }

}  // namespace lemma::driver

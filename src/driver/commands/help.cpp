// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "driver/commands/command.h"
#include "driver/help/page.h"
#include "model/files.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

// `lemma help check` is `lemma check --help`.
class Help final : public Command {
public:
    std::string name() const override { return "help"; }
    std::string summary() const override { return "explains a command"; }
    std::string group() const override { return kHelpCommands; }
    void declare(Arguments& arguments) override {
        arguments.optional_word("COMMAND", topic_, "the command; without it, all are listed");
        arguments.example("lemma help run", "The arguments of `lemma run`, with examples.");
    }
    Outcome run(Terminal terminal, std::istream& input) const override {
        std::vector<std::string> words = {"--help"};
        if (!topic_.empty()) words.insert(words.begin(), topic_);
        return driver::run(words, std::move(terminal), input);
    }

private:
    std::string topic_;
};

struct ShareFile {
    std::string path;  // below `share`
    std::string text;
};

Result<void> write_share(const std::string& folder, const std::vector<ShareFile>& files) {
    for (const ShareFile& file : files) {
        const fs::path path = fs::path(folder) / file.path;
        LEMMA_TRY(tensor::make_folder(path.parent_path().string()));
        LEMMA_TRY(tensor::write_file(path.string(), file.text));
    }
    return {};
}

Outcome written(const Result<void>& done) {
    if (done) return {};
    return {.status = model::kUnusable, .out = {}, .err = model::error_line(done.error())};
}

class Completion final : public Command {
public:
    std::string name() const override { return "completion"; }
    std::string summary() const override { return "prints the completion script of a shell"; }
    std::string group() const override { return kHelpCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    std::string shell_;
};

void Completion::declare(Arguments& arguments) {
    arguments.choice_word("SHELL", shell_, {"bash", "zsh", "fish"}, "the shell");
    arguments.remark(
        "Packages install the scripts, and shells find them there. Without a package, read the "
        "script in the start-up file of the shell.");
    arguments.example("lemma completion bash", "For ~/.bashrc: source <(lemma completion bash)");
    arguments.example("lemma completion zsh",
                      "For ~/.zshrc, after compinit: source <(lemma completion zsh)");
    arguments.example("lemma completion fish", "For config.fish: lemma completion fish | source");
}

Outcome Completion::run(Terminal, std::istream&) const {
    const ProgramPage page = program_page();
    return {.status = model::kGood,
            .out = shell_ == "bash"  ? bash_completion(page)
                   : shell_ == "zsh" ? zsh_completion(page)
                                     : fish_completion(page),
            .err = {}};
}

class Man final : public Command {
public:
    std::string name() const override { return "man"; }
    std::string summary() const override { return "prints a manual page, as text for `man`"; }
    std::string group() const override { return kHelpCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    std::string topic_;
    std::string share_;
};

void Man::declare(Arguments& arguments) {
    arguments.optional_word("COMMAND", topic_, "the command; without it, the page of lemma");
    arguments.text("--share",
                   share_,
                   "DIR",
                   "write all pages to DIR/man/man1, and the completions of all shells below DIR");
    arguments.example("lemma man run | man -l -", "Shows the page of `lemma run`.");
    arguments.example("lemma man --share=build/share", "Writes the files that a package installs.");
}

Outcome Man::run(Terminal terminal, std::istream& input) const {
    const ProgramPage program = program_page();
    if (!share_.empty()) {
        std::vector<ShareFile> files = {
            {"man/man1/lemma.1", manual_page(program)},
            {"bash-completion/completions/lemma", bash_completion(program)},
            {"zsh/site-functions/_lemma", zsh_completion(program)},
            {"fish/vendor_completions.d/lemma.fish", fish_completion(program)}};
        for (const CommandPage& page : program.commands) {
            files.push_back(
                {fmt::format("man/man1/lemma-{}.1", page.name), manual_page(program, page)});
        }
        return written(write_share(share_, files));
    }
    if (topic_.empty()) return {.status = model::kGood, .out = manual_page(program), .err = {}};
    for (const CommandPage& page : program.commands) {
        if (page.name == topic_)
            return {.status = model::kGood, .out = manual_page(program, page), .err = {}};
    }
    return driver::run(
        {topic_}, std::move(terminal), input);  // the error names the nearest command
}

}  // namespace

std::unique_ptr<Command> help_command() { return std::make_unique<Help>(); }
std::unique_ptr<Command> completion_command() { return std::make_unique<Completion>(); }
std::unique_ptr<Command> man_command() { return std::make_unique<Man>(); }

}  // namespace lemma::driver

// SPDX-License-Identifier: Apache-2.0
#include "driver/commands/command.h"
#include "lsp/run.h"
#include "model/files.h"

namespace lemma::driver {

namespace {

class Lsp final : public Command {
public:
    std::string name() const override { return "lsp"; }
    std::string summary() const override { return "the language server, for editors"; }
    std::string group() const override { return kLanguageCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    lsp::RunOptions options_;
    bool stdio_ = false;
};

void Lsp::declare(Arguments& arguments) {
    arguments.flag("--stdio", stdio_, "use standard input and output, which it does in any case");
    arguments.text("--log", options_.log, "FILE", "append a line for each message to this file");
    arguments.number("--max-message",
                     options_.max_message,
                     {1024, int64_t{1} << 31},
                     "limit on the bytes of a message (64 MiB)");
    arguments.number(
        "--delay-ms", options_.delay_ms, {0, 10000}, "milliseconds from a change to its check (2)");
    arguments.example("lemma lsp --log=/tmp/lemma.log",
                      "An editor starts this. It speaks LSP 3.17 for .sknd and .nnef files.");
}

Outcome Lsp::run(Terminal, std::istream&) const {
    const auto status = lsp::run(options_);
    if (!status)
        return {.status = model::kUnusable, .out = "", .err = model::error_line(status.error())};
    return {.status = *status, .out = "", .err = ""};
}

}  // namespace

std::unique_ptr<Command> lsp_command() { return std::make_unique<Lsp>(); }

}  // namespace lemma::driver

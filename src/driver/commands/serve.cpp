// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <lemma/lemma.h>

#include <algorithm>

#include "base/loadable_part.h"
#include "driver/commands/command.h"
#include "driver/options.h"
#include "model/files.h"
#include "serve/options.h"

namespace lemma::driver {

namespace {

// The server has large libraries of its own, so it is a part that is loaded.
Result<serve::ServeFunction> find_server() {
#ifdef LEMMA_SERVE_LINKED
    return &serve::serve;
#else
    constexpr LoadablePart kServer = {"the server", "lemma_serve.so", "LEMMA_SERVE", "lemma-serve"};
    LEMMA_TRY(void* const address, load_symbol(kServer, "lemma_serve_address"));
    return reinterpret_cast<serve::ServeFunction>(reinterpret_cast<void* (*)()>(address)());
#endif
}

class Serve final : public Command {
public:
    std::string name() const override { return "serve"; }
    std::string summary() const override { return "answers inference requests over HTTP and gRPC"; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    void declare_network(Arguments& arguments);
    void declare_queue(Arguments& arguments);
    void declare_models(Arguments& arguments);

    serve::ServeOptions options_;
    std::string cache_;
    bool no_cache_ = false;
};

void Serve::declare(Arguments& arguments) {
    arguments.words("[NAME[:VERSION]=]MODEL",
                    options_.models,
                    "a model as for `lemma run`, or a folder with a folder for each version");
    declare_network(arguments);
    declare_queue(arguments);
    declare_models(arguments);
    arguments.example("lemma serve resnet=models/resnet50.onnx",
                      "Serves a model as `resnet` on http://127.0.0.1:8000 and, for gRPC, on "
                      "port 8001.");
    arguments.example("lemma serve net:1=old.onnx net:2=new.onnx --host=0.0.0.0 --token-file=token",
                      "Serves two versions to other machines that know the token.");
    arguments.remark(
        "The protocol is the Open Inference Protocol v2, as of KServe. The end comes with SIGTERM "
        "or SIGINT: what waits is still answered.");
}

void Serve::declare_network(Arguments& arguments) {
    const Arguments::Group group(arguments, "Network");
    arguments.text(
        "--host", options_.host, "ADDRESS", "address to listen on (127.0.0.1: this machine only)");
    arguments.number(
        "--http-port", options_.http_port, {0, 65535}, "port for HTTP; 0: no HTTP (8000)");
    arguments.number(
        "--grpc-port", options_.grpc_port, {0, 65535}, "port for gRPC; 0: no gRPC (8001)");
    arguments.text("--token-file",
                   options_.token_file,
                   "FILE",
                   "require the token in the first line of this file, as `Authorization: Bearer`");
    arguments.text("--token", options_.token, "TOKEN", "the same; other users can see it");
    arguments.exclude("--token", "--token-file");
    arguments.number("--max-body",
                     options_.max_body,
                     {1024, int64_t{1} << 31},
                     "limit on the bytes of a request (64 MiB)");
    arguments.number("--max-connections",
                     options_.connections,
                     {1, 1000000},
                     "limit on HTTP connections (1024)");
    arguments.number("--client-timeout",
                     options_.client_timeout,
                     {1, 86400},
                     "seconds for a client to send a request or to take the answer (30)");
    const Choices<serve::AccessLog> logs = {{"off", serve::AccessLog::Off},
                                            {"text", serve::AccessLog::Text},
                                            {"json", serve::AccessLog::Json}};
    arguments.choice("--access-log",
                     options_.access_log,
                     logs,
                     "print a line for each request to standard output (text)");
}

void Serve::declare_queue(Arguments& arguments) {
    const Arguments::Group group(arguments, "Requests");
    arguments.number(
        "--threads", options_.threads, {1, 1024}, "threads of a session (one for each processor)");
    arguments.number("--sessions",
                     options_.sessions,
                     {1, 256},
                     "sessions of each model, which run at the same time (1)");
    arguments.number("--max-batch",
                     options_.max_batch,
                     {1, 1024},
                     "most requests that a session runs together; 1: no batching (16)");
    arguments.number("--batch-delay-us",
                     options_.batch_delay_us,
                     {0, 10000000},
                     "microseconds that a request waits for others to run with it (0)");
    arguments.number("--queue",
                     options_.queue,
                     {1, 1000000},
                     "requests of a model that may wait; others are refused (256)");
    arguments.number("--timeout-ms",
                     options_.timeout_ms,
                     {0, 86400000},
                     "milliseconds from a request to its answer; 0: no limit (0)");
    arguments.number(
        "--grace", options_.grace, {0, 86400}, "seconds to finish requests after SIGTERM (30)");
}

void Serve::declare_models(Arguments& arguments) {
    const Arguments::Group group(arguments, "Model");
    serve::ModelOptions& model = options_.model;
    arguments.text("--graph", model.graph, "NAME", "select a graph of models with several graphs");
    arguments.pairs("-a", model.attributes, "set a graph attribute; can be repeated");
    const Choices<int> reals = {
        {"f32", LEMMA_F32}, {"f64", LEMMA_F64}, {"f16", LEMMA_F16}, {"bf16", LEMMA_BF16}};
    arguments.choice("--real", model.real, reals, "type of `real` (f32)");
    arguments.text("--weights",
                   model.weights,
                   "FILE.safetensors",
                   "replace the model's data by the tensors of this file, by name");
    arguments.seed(
        "--random-weights", model.random_weights, "use random values for variables without data");
    arguments.flag(
        "--quantize", model.quantize, "apply the quantisation of `@quantize` or graph.quant");
    arguments.group("Engine");
    const Choices<int> engines = {
        {"auto", LEMMA_AUTO}, {"interpret", LEMMA_INTERPRET}, {"jit", LEMMA_COMPILE}};
    arguments.choice("--engine",
                     model.engine,
                     engines,
                     "run in the interpreter or as compiled code; auto: small models in the "
                     "interpreter (auto)");
    const Choices<int> numerics = {{"strict", LEMMA_NUMERICS_STRICT},
                                   {"default", LEMMA_NUMERICS_DEFAULT},
                                   {"fast", LEMMA_NUMERICS_FAST}};
    arguments.choice(
        "--numerics", model.numerics, numerics, "precision of compiled code (default)");
    const Choices<bool> accumulate = {{"f32", true}, {"f64", false}};
    arguments.choice("--accumulate", model.accumulate_f32, accumulate, kAccumulateHelp);
    arguments.text("--target",
                   model.target,
                   "NAME",
                   "instruction set of compiled code: avx512, avx2 or sse2 (that of this machine)");
    arguments.text("--cache", cache_, "DIR", "folder of the object cache");
    arguments.flag("--no-cache", no_cache_, "do not use the object cache");
    arguments.exclude("--cache", "--no-cache");
}

Outcome Serve::run(Terminal terminal, std::istream&) const {
    const auto unusable = [](std::string message) {
        return Outcome{.status = model::kUnusable, .err = fmt::format("lemma: {}\n", message)};
    };
    if (options_.http_port == 0 && options_.grpc_port == 0) {
        return unusable("`--http-port=0 --grpc-port=0` leaves no port to listen on");
    }
    if (options_.http_port == options_.grpc_port) {
        return unusable("HTTP and gRPC need different ports");
    }
    const Result<serve::ServeFunction> server = find_server();
    if (!server) return unusable(server.error().message);
    serve::ServeOptions options = options_;
    if (no_cache_) options.model.cache = "";
    if (!cache_.empty()) options.model.cache = cache_;
    const auto ignore = [](const std::string&) {};
    options.say = [line = terminal.err_line](const std::string& text) {
        if (line) line("lemma: " + text);
    };
    if (!terminal.quiet) options.inform = options.say;
    options.record = terminal.out_line ? terminal.out_line : ignore;
    return {.status = (*server)(options)};
}

}  // namespace

std::unique_ptr<Command> serve_command() { return std::make_unique<Serve>(); }

}  // namespace lemma::driver

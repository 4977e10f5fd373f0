// SPDX-License-Identifier: Apache-2.0
// Generates tokens with a decoder: one run for the whole prompt (prefill), then one run for each
// new token (decode). It takes the most probable token each time and reports tokens per second.
//
//     generate gpt2.onnx --prompt=128 --tokens=64 --threads=2
//
// The decoder has the inputs `tokens` and `positions`, both [1, n], and the output `logits`. Keys
// and values of earlier tokens are inputs `past_X` with outputs `present_X`, which the session
// carries over from run to run, or variables that the model updates.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <lemma/lemma.hpp>
#include <string>
#include <vector>

namespace {

struct Options {
    std::string model;
    std::vector<std::int64_t> words;  // the prompt; empty: some `prompt` tokens
    int prompt = 16, tokens = 32, threads = 1;
    std::vector<std::string> attributes;  // of a SkriptND graph, NAME=VALUE
    bool interpret = false;
    bool random_weights = false;
    bool fast = false;  // --numerics=fast rounds weights of f32 to f16
    bool json = false;  // tokens and milliseconds of all runs, for scripts
};

bool read_number(const char* text, const char* name, int& to) {
    const std::size_t length = std::strlen(name);
    if (std::strncmp(text, name, length) != 0) return false;
    to = std::atoi(text + length);
    return to > 0;
}

// The prompt as numbers: `--words=13,27,5`.
bool read_words(const char* text, std::vector<std::int64_t>& words) {
    constexpr const char* kName = "--words=";
    if (std::strncmp(text, kName, std::strlen(kName)) != 0) return false;
    for (const char* at = text + std::strlen(kName); *at;) {
        char* end = nullptr;
        words.push_back(std::strtoll(at, &end, 10));
        if (end == at) return false;
        at = *end == ',' ? end + 1 : end;
    }
    return !words.empty();
}

bool read_options(int argc, char** argv, Options& options) {
    for (int i = 1; i < argc; ++i) {
        const bool known = read_words(argv[i], options.words) ||
                           read_number(argv[i], "--prompt=", options.prompt) ||
                           read_number(argv[i], "--tokens=", options.tokens) ||
                           read_number(argv[i], "--threads=", options.threads);
        if (known) continue;
        if (std::strcmp(argv[i], "--interpret") == 0) {
            options.interpret = true;
        } else if (std::strcmp(argv[i], "--json") == 0) {
            options.json = true;
        } else if (std::strcmp(argv[i], "--random-weights") == 0) {
            options.random_weights = true;
        } else if (std::strcmp(argv[i], "--numerics=fast") == 0) {
            options.fast = true;
        } else if (std::strcmp(argv[i], "-a") == 0 && i + 1 < argc) {
            options.attributes.emplace_back(argv[++i]);
        } else if (argv[i][0] != '-' && options.model.empty()) {
            options.model = argv[i];
        } else {
            return false;
        }
    }
    return !options.model.empty();
}

// A decoder and what it has seen so far.
class Decoder {
public:
    Decoder(lemma::Session session) : session_(std::move(session)) {}

    lemma::Outcome begin() {
        lemma::Outcome done;
        for (const lemma::TensorInfo& input : session_.model().inputs()) {
            if (input.name.rfind("past_", 0) != 0) continue;
            done = session_.carry("present_" + input.name.substr(5), input.name);
            if (!done.ok()) break;
        }
        return done;
    }

    // Runs the new tokens and appends the most probable next one to `made`.
    lemma::Outcome run(const std::vector<std::int64_t>& tokens, std::vector<std::int64_t>& made) {
        const auto count = static_cast<std::int64_t>(tokens.size());
        std::vector<std::int64_t> positions;
        for (std::int64_t i = 0; i < count; ++i) positions.push_back(seen_ + i);
        std::vector<lemma::TensorView> inputs, outputs;
        for (const lemma::TensorInfo& input : session_.model().inputs()) {
            if (input.name == "tokens") {
                inputs.push_back(lemma::TensorView::of(tokens.data(), {1, count}));
            } else if (input.name == "positions") {
                inputs.push_back(lemma::TensorView::of(positions.data(), {1, count}));
            } else {
                inputs.push_back(past(input));
            }
        }
        lemma::Outcome done = session_.run(inputs, outputs);
        if (!done.ok()) return done;
        seen_ += count;
        const lemma::TensorView& logits = outputs.front();
        const auto words = static_cast<std::size_t>(logits.shape.back());
        const float* const last = logits.elements<float>() + logits.size / sizeof(float) - words;
        made.push_back(std::max_element(last, last + words) - last);
        return done;
    }

private:
    // Nothing before the first run, and the carried value afterwards.
    lemma::TensorView past(const lemma::TensorInfo& input) const {
        lemma::TensorView view;
        if (seen_ > 0) return view;
        view.shape = input.shape;
        for (std::int64_t& extent : view.shape) extent = std::max<std::int64_t>(extent, 0);
        return view;
    }

    lemma::Session session_;
    std::int64_t seen_ = 0;
};

double now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(time).count();
}

int fail(const lemma::Outcome& outcome) {
    std::fputs(outcome.text().c_str(), stderr);
    return static_cast<int>(outcome.status);
}

void print_json(const std::vector<std::int64_t>& tokens, const std::vector<double>& times) {
    const char* before = "{\"tokens\": [";
    for (const std::int64_t token : tokens) {
        std::printf("%s%lld", before, static_cast<long long>(token));
        before = ", ";
    }
    before = "], \"ms\": [";
    for (const double time : times) {
        std::printf("%s%.3f", before, time);
        before = ", ";
    }
    std::puts("]}");
}

void print_text(const Options& options,
                const std::vector<std::int64_t>& tokens,
                std::vector<double> times) {
    for (const std::int64_t token : tokens) std::printf("%lld ", static_cast<long long>(token));
    std::printf("\nprompt of %d tokens, with compilation: %.1f ms\n", options.prompt, times[0]);
    constexpr std::size_t kCompiled = 2;  // the prompt and the first token
    if (times.size() <= kCompiled) return;
    std::printf("first token, with compilation: %.1f ms\n", times[1]);
    times.erase(times.begin(), times.begin() + kCompiled);
    double sum = 0;
    for (const double time : times) sum += time;
    std::sort(times.begin(), times.end());
    std::printf("decode: %.1f tokens/s; a token takes %.2f ms (best), %.2f ms (median)\n",
                1e3 * static_cast<double>(times.size()) / sum,
                times.front(),
                times[times.size() / 2]);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    if (!read_options(argc, argv, options)) {
        std::fputs(
            "usage: generate MODEL [--prompt=N | --words=N,N] [--tokens=N] [--threads=N]\n"
            "           [--random-weights] [-a NAME=VALUE] [--numerics=fast] [--interpret] "
            "[--json]\n",
            stderr);
        return 2;
    }
    lemma::LoadOptions load;
    load.engine = options.interpret ? lemma::EngineChoice::Interpret : lemma::EngineChoice::Compile;
    load.attributes = options.attributes;
    if (options.random_weights) load.random_weights = 1;
    if (options.fast) load.numerics = lemma::Numerics::Fast;
    const lemma::LoadResult loaded = lemma::Model::load(options.model, load);
    if (!loaded.ok()) return fail(loaded);
    lemma::SessionOptions how;
    how.threads = options.threads;
    lemma::SessionResult made = loaded.model->session(how);
    if (!made.ok()) return fail(made);
    Decoder decoder(std::move(*made.session));
    if (const lemma::Outcome done = decoder.begin(); !done.ok()) return fail(done);

    // Any tokens will do for random weights.
    std::vector<std::int64_t> next = options.words, tokens;
    const int some = options.words.empty() ? options.prompt : 0;
    for (int i = 0; i < some; ++i) next.push_back((i * 7919 + 13) % 61);
    std::vector<double> times;  // milliseconds: the prompt, then each token
    while (static_cast<int>(tokens.size()) < options.tokens) {
        const double begin = now();
        if (const lemma::Outcome done = decoder.run(next, tokens); !done.ok()) return fail(done);
        times.push_back(1e3 * (now() - begin));
        next = {tokens.back()};
    }
    options.json ? print_json(tokens, times) : print_text(options, tokens, times);
}

// SPDX-License-Identifier: Apache-2.0
// serve/core/server.h — the server without its protocols: models, readiness, inference, metrics,
// the access log and the end. All functions may be called from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "serve/core/registry.h"

namespace lemma::serve {

// One finished request, for the access log and the metrics.
struct AccessRecord {
    Protocol protocol = Protocol::Http;
    std::string client;
    std::string what;  // "POST /v2/models/m/infer"
    Code code = Code::Good;
    int status = 200;  // of the protocol
    size_t bytes_in = 0;
    size_t bytes_out = 0;
    double seconds = 0;
    Timing timing;
};

class Server {
public:
    Server(const ServeOptions& options, std::unique_ptr<Registry> registry, std::string token);
    ~Server();

    // Loads all models in another thread. Calls `failed` with the exit status at the first one that
    // cannot be loaded.
    void load(std::function<void(int)> failed);

    bool live() const { return true; }
    // All models are loaded, and the server does not stop.
    bool ready() const { return !stopping_ && registry_->ready(); }
    // Whether the header `Authorization` has the token, if there is one.
    bool allowed(std::string_view authorization) const;

    Answer<bool> model_ready(const std::string& name, const std::string& version) const;
    Answer<ModelMetadata> metadata(const std::string& name, const std::string& version) const;

    // `reply` is called exactly once. The result cancels the request; it may be empty.
    using Cancel = std::function<void()>;
    Cancel infer(InferRequest request, Reply reply);

    std::string metrics_text() const;
    ServerMetrics& metrics() { return metrics_; }
    void record(const AccessRecord& record);

    const ServeOptions& options() const { return options_; }

    // Refuses new requests. True when the last one is answered; false after the time, or when
    // `hurry` says so.
    bool drain(std::chrono::seconds time, const std::function<bool()>& hurry);
    // Answers what is left. Not from several threads at a time.
    void stop();

private:
    Answer<Version*> find(const std::string& name, const std::string& version) const;
    void load_all();
    bool load_version(Version& version);
    void tick();
    bool idle() const;

    const ServeOptions options_;
    const std::unique_ptr<Registry> registry_;
    const std::string token_;
    ServerMetrics metrics_;
    std::function<void(int)> failed_;
    const StopHandle stop_loading_{lemma_stop_create()};
    std::atomic<bool> stopping_ = false;
    std::atomic<bool> ended_ = false;
    std::thread loader_;
    std::thread ticker_;
};

// The threads of each session: the option, or the number of processors.
int thread_count(const ServeOptions& options);

}  // namespace lemma::serve

// SPDX-License-Identifier: Apache-2.0
// serve/options.h — the options of `lemma serve`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lemma::serve {

// How models are loaded; the numbers are those of lemma/lemma.h.
struct ModelOptions {
    std::string graph;
    std::vector<std::string> attributes;
    int real = 0;
    bool quantize = false;
    std::optional<uint64_t> random_weights;
    std::string weights;
    int engine = 0;
    int numerics = 0;
    bool accumulate_f32 = false;
    std::string target;
    std::optional<std::string> cache;  // a folder; empty text: none
};

enum class AccessLog : uint8_t { Off, Text, Json };

struct ServeOptions {
    std::vector<std::string> models;  // PATH, NAME=PATH or NAME:VERSION=PATH
    ModelOptions model;

    std::string host = "127.0.0.1";
    int http_port = 8000;  // 0: off
    int grpc_port = 8001;  // 0: off
    int64_t connections = 1024;
    int64_t max_body = int64_t{64} << 20;
    int64_t client_timeout = 30;  // seconds
    std::string token;
    std::string token_file;

    int threads = 0;   // of each session; 0: one for each processor
    int sessions = 1;  // of each model
    int64_t max_batch = 16;
    int64_t batch_delay_us = 0;
    int64_t queue = 256;     // requests of a model that may wait
    int64_t timeout_ms = 0;  // of a request; 0: none
    int64_t grace = 30;      // seconds
    AccessLog access_log = AccessLog::Text;

    // Receive one line each, from any thread.
    std::function<void(const std::string&)> say;  // problems
    // The state of the server: listening, ready, stopped.
    std::function<void(const std::string&)> inform = [](const std::string&) {};
    std::function<void(const std::string&)> record;  // the access log
};

// Serves until SIGTERM or SIGINT; returns the exit status. Problems go to `say`.
int serve(const ServeOptions& options);
// The type of the entry of lemma_serve.so.
using ServeFunction = int (*)(const ServeOptions&);

}  // namespace lemma::serve

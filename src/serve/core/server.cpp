// SPDX-License-Identifier: Apache-2.0
#include "serve/core/server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>

#include "base/processors.h"
#include "serve/core/json_reader.h"

namespace lemma::serve {

namespace {

constexpr std::chrono::milliseconds kTick(10);

// Takes the same time for all tokens of a length.
bool same_text(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (size_t i = 0; i < a.size(); ++i) {
        difference |=
            static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^
                                  static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]));
    }
    return difference == 0;
}

std::string time_text() {
    const auto now = std::chrono::system_clock::now();
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    const auto part = std::chrono::duration_cast<std::chrono::milliseconds>(
                          now - std::chrono::system_clock::from_time_t(seconds))
                          .count();
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                       utc.tm_year + 1900,
                       utc.tm_mon + 1,
                       utc.tm_mday,
                       utc.tm_hour,
                       utc.tm_min,
                       utc.tm_sec,
                       part);
}

// Text from clients, without bytes that would change the log.
std::string plain(std::string_view text) {
    constexpr size_t kMost = 300;
    std::string result;
    for (const char c : text.substr(0, kMost)) {
        const bool good = c > ' ' && c < '\x7f' && c != '"' && c != '\\';
        result += good || c == ' ' ? std::string(1, c)
                                   : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return result;
}

std::string log_line(const AccessRecord& record, AccessLog form) {
    const double milli = 1e3;
    if (form == AccessLog::Json) {
        return fmt::format(
            "{{\"time\":\"{}\",\"client\":\"{}\",\"protocol\":\"{}\",\"request\":\"{}\","
            "\"status\":{},\"code\":\"{}\",\"bytes_in\":{},\"bytes_out\":{},\"queue_ms\":{:.3f},"
            "\"compute_ms\":{:.3f},\"total_ms\":{:.3f},\"batch\":{}}}",
            time_text(),
            plain(record.client),
            protocol_name(record.protocol),
            plain(record.what),
            record.status,
            code_name(record.code),
            record.bytes_in,
            record.bytes_out,
            record.timing.queue * milli,
            record.timing.compute * milli,
            record.seconds * milli,
            record.timing.batch);
    }
    return fmt::format(
        "{} {} {} \"{}\" {} {} in={} out={} queue={:.3f}ms compute={:.3f}ms "
        "total={:.3f}ms batch={}",
        time_text(),
        plain(record.client),
        protocol_name(record.protocol),
        plain(record.what),
        record.status,
        code_name(record.code),
        record.bytes_in,
        record.bytes_out,
        record.timing.queue * milli,
        record.timing.compute * milli,
        record.seconds * milli,
        record.timing.batch);
}

}  // namespace

int thread_count(const ServeOptions& options) {
    if (options.threads > 0) return options.threads;
    return usable_processors();
}

Server::Server(const ServeOptions& options, std::unique_ptr<Registry> registry, std::string token)
    : options_(options), registry_(std::move(registry)), token_(std::move(token)) {
    ticker_ = std::thread([this] { tick(); });
}

Server::~Server() { stop(); }

void Server::tick() {
    while (!ended_) {
        std::this_thread::sleep_for(kTick);
        for (const auto& version : registry_->all()) {
            if (version->ready) version->scheduler->tick();
        }
    }
}

void Server::load(std::function<void(int)> failed) {
    failed_ = std::move(failed);
    loader_ = std::thread([this] { load_all(); });
}

void Server::load_all() {
    for (const auto& version : registry_->all()) {
        if (stopping_ || !load_version(*version)) return;
    }
    options_.inform("ready");
}

bool Server::load_version(Version& version) {
    const ModelPlace& place = version.place;
    auto model = ServedModel::load(place.path, options_.model, stop_loading_.get());
    if (!model && model.error().status == LEMMA_STOPPED) return false;
    if (!model) {
        options_.say(fmt::format("cannot load the model `{}` from `{}`:\n{}",
                                 place.name,
                                 place.path,
                                 model.error().text));
        failed_(model.error().status);
        return false;
    }
    version.model = std::move(*model);
    version.model->prepare(options_.max_batch, stop_loading_.get());
    const SchedulerOptions scheduling = {
        .threads = thread_count(options_),
        .sessions = options_.sessions,
        .max_batch = options_.max_batch,
        .batch_delay = std::chrono::microseconds(options_.batch_delay_us),
        .queue = static_cast<size_t>(options_.queue)};
    auto scheduler = Scheduler::create(*version.model, scheduling, version.metrics);
    if (!scheduler) {
        options_.say(fmt::format(
            "cannot open a session of `{}`: {}", place.name, scheduler.error().message));
        failed_(LEMMA_FAULT);
        return false;
    }
    version.scheduler = std::move(*scheduler);
    version.ready = true;
    const std::string& remark = version.model->remark();
    options_.inform(fmt::format(
        "model `{}`, version {}, from `{}`: {}{}{}",
        place.name,
        place.version,
        place.path,
        version.model->interpreted()
            ? "interpreted"
            : fmt::format("compiled for {}", lemma_model_target(version.model->handle())),
        remark.empty() ? "" : "; ",
        remark));
    return true;
}

bool Server::allowed(std::string_view authorization) const {
    if (token_.empty()) return true;
    constexpr std::string_view kScheme = "bearer ";
    const std::string_view scheme = authorization.substr(0, kScheme.size());
    const bool bearer = std::ranges::equal(
        scheme, kScheme, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
    return bearer && same_text(authorization.substr(kScheme.size()), token_);
}

Answer<Version*> Server::find(const std::string& name, const std::string& version) const {
    if (Version* const found = registry_->find(name, version)) return found;
    std::vector<std::string> names;
    for (const auto& one : registry_->all()) names.push_back(one->place.name);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    if (std::ranges::find(names, name) != names.end()) {
        return fails(Code::NotFound,
                     fmt::format("the model `{}` has no version `{}`; it has {}",
                                 name,
                                 plain(version),
                                 fmt::join(registry_->versions(name), ", ")));
    }
    return fails(
        Code::NotFound,
        fmt::format(
            "there is no model `{}`; there is `{}`", plain(name), fmt::join(names, "`, `")));
}

Answer<bool> Server::model_ready(const std::string& name, const std::string& version) const {
    auto found = find(name, version);
    if (!found) return std::unexpected(found.error());
    return !stopping_ && (*found)->ready;
}

Answer<ModelMetadata> Server::metadata(const std::string& name, const std::string& version) const {
    auto found = find(name, version);
    if (!found) return std::unexpected(found.error());
    if (!(*found)->ready) {
        return fails(Code::Unavailable, fmt::format("the model `{}` is being loaded", name));
    }
    const ServedModel& model = *(*found)->model;
    return ModelMetadata{.name = name,
                         .versions = registry_->versions(name),
                         .platform = model.platform(),
                         .inputs = model.inputs(),
                         .outputs = model.outputs()};
}

Server::Cancel Server::infer(InferRequest request, Reply reply) {
    auto found = find(request.model, request.version);
    if (!found) {
        reply(std::unexpected(found.error()));
        return {};
    }
    Version& version = **found;
    const auto refuse = [&](Failure failure) {
        version.metrics.count(failure.code);
        reply(std::unexpected(std::move(failure)));
        return Cancel();
    };
    if (stopping_) return refuse({Code::Unavailable, "the server stops"});
    if (!version.ready) {
        return refuse(
            {Code::Unavailable, fmt::format("the model `{}` is being loaded", request.model)});
    }
    if (options_.timeout_ms > 0) {
        request.deadline = std::min(request.deadline,
                                    Clock::now() + std::chrono::milliseconds(options_.timeout_ms));
    }
    auto job = version.scheduler->submit(std::move(request),
                                         [reply, &version](Answer<InferResponse> response) {
                                             if (response) {
                                                 response->model = version.place.name;
                                                 response->version = version.place.version;
                                             }
                                             reply(std::move(response));
                                         });
    if (!job) return refuse(std::move(job.error()));
    return [&version, job = *job] { version.scheduler->cancel(job); };
}

std::string Server::metrics_text() const {
    std::string requests, waiting, running, ready, queue, compute, batches;
    for (const auto& version : registry_->all()) {
        const std::string labels = labels_of(version->place.name, version->place.version);
        const ModelMetrics& metrics = version->metrics;
        for (size_t i = 0; i < kCodes; ++i) {
            requests += fmt::format("lemma_inferences_total{{{},code=\"{}\"}} {}\n",
                                    labels,
                                    code_name(static_cast<Code>(i)),
                                    metrics.codes[i].load());
        }
        waiting += fmt::format("lemma_waiting_requests{{{}}} {}\n", labels, metrics.waiting.load());
        running += fmt::format("lemma_running_requests{{{}}} {}\n", labels, metrics.running.load());
        ready += fmt::format("lemma_model_ready{{{}}} {}\n", labels, version->ready ? 1 : 0);
        queue += metrics.queue_seconds.text("lemma_queue_seconds", labels);
        compute += metrics.compute_seconds.text("lemma_compute_seconds", labels);
        batches += metrics.batch_size.text("lemma_batch_size", labels);
    }
    std::string all;
    for (size_t p = 0; p < kProtocols; ++p) {
        for (size_t i = 0; i < kCodes; ++i) {
            all += fmt::format("lemma_requests_total{{protocol=\"{}\",code=\"{}\"}} {}\n",
                               protocol_name(static_cast<Protocol>(p)),
                               code_name(static_cast<Code>(i)),
                               metrics_.codes[p][i].load());
        }
    }
    const auto number = [](std::string_view name, auto value) {
        return fmt::format("{} {}\n", name, value);
    };
    return family("lemma_build_info",
                  "gauge",
                  "The version of Lemma.",
                  fmt::format("lemma_build_info{{version=\"{}\"}} 1\n", lemma_version())) +
           family("lemma_requests_total", "counter", "Requests of each protocol.", all) +
           family("lemma_received_bytes_total",
                  "counter",
                  "Bytes of request bodies.",
                  number("lemma_received_bytes_total", metrics_.bytes_in.load())) +
           family("lemma_sent_bytes_total",
                  "counter",
                  "Bytes of response bodies.",
                  number("lemma_sent_bytes_total", metrics_.bytes_out.load())) +
           family("lemma_http_connections",
                  "gauge",
                  "Open HTTP connections.",
                  number("lemma_http_connections", metrics_.connections.load())) +
           family("lemma_inferences_total", "counter", "Inference requests of a model.", requests) +
           family("lemma_waiting_requests", "gauge", "Requests in the queue.", waiting) +
           family("lemma_running_requests", "gauge", "Requests that run.", running) +
           family("lemma_model_ready", "gauge", "1 if the model is loaded.", ready) +
           family("lemma_queue_seconds", "histogram", "Time in the queue.", queue) +
           family("lemma_compute_seconds", "histogram", "Time of the run.", compute) +
           family("lemma_batch_size", "histogram", "Requests that began together.", batches);
}

void Server::record(const AccessRecord& record) {
    metrics_.count(record.protocol, record.code);
    metrics_.bytes_in += record.bytes_in;
    metrics_.bytes_out += record.bytes_out;
    if (options_.access_log == AccessLog::Off) return;
    options_.record(log_line(record, options_.access_log));
}

bool Server::idle() const {
    return std::ranges::all_of(registry_->all(), [](const auto& version) {
        return !version->ready || version->scheduler->idle();
    });
}

bool Server::drain(std::chrono::seconds time, const std::function<bool()>& hurry) {
    stopping_ = true;
    const Clock::time_point end = Clock::now() + time;
    while (!idle()) {
        if (Clock::now() >= end || hurry()) return false;
        std::this_thread::sleep_for(kTick);
    }
    return true;
}

void Server::stop() {
    stopping_ = true;
    lemma_stop_now(stop_loading_.get());
    if (loader_.joinable()) loader_.join();
    for (const auto& version : registry_->all()) {
        if (version->ready) version->scheduler->stop();
    }
    ended_ = true;
    if (ticker_.joinable()) ticker_.join();
}

}  // namespace lemma::serve

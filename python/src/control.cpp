// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <utility>

#include "report.h"

namespace lemma::python {

namespace {

std::atomic<lemma_stop*> stop_of_main_thread{nullptr};
struct sigaction handler_before = {};

void on_interrupt(int signal, siginfo_t* info, void* context) {
    lemma_stop_now(stop_of_main_thread.load());
    if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
        handler_before.sa_sigaction(signal, info, context);
    } else {
        handler_before.sa_handler(signal);
    }
}

bool handles(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 ||
           (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

}  // namespace

InterruptGuard::InterruptGuard(lemma_stop* stop) {
    if (::gettid() != ::getpid() || stop_of_main_thread.load() != nullptr) return;
    struct sigaction ours = {};
    ours.sa_sigaction = on_interrupt;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&ours.sa_mask);
    // `handler_before` is set before our handler can run.
    if (::sigaction(SIGINT, nullptr, &handler_before) != 0 || !handles(handler_before)) return;
    stop_of_main_thread.store(stop);
    active_ = ::sigaction(SIGINT, &ours, nullptr) == 0;
    if (!active_) stop_of_main_thread.store(nullptr);
}

InterruptGuard::~InterruptGuard() {
    if (!active_) return;
    ::sigaction(SIGINT, &handler_before, nullptr);
    stop_of_main_thread.store(nullptr);
}

double seconds_of(std::optional<double> time_limit) {
    if (!time_limit) return 0;
    if (!(*time_limit > 0) || !std::isfinite(*time_limit)) {
        throw_usage("`time_limit` is a positive number of seconds");
    }
    return *time_limit;
}

Control::Control(std::optional<double> time_limit, Stop& stop, py::object progress)
    : progress_(std::move(progress)) {
    control_.struct_size = sizeof control_;
    control_.stop = stop.get();
    control_.seconds = seconds_of(time_limit);
    if (progress_.is_none()) return;
    control_.progress = report_progress;
    control_.user = this;
}

int Control::report_progress(void* user, const char* stage, uint64_t done, uint64_t total) {
    const py::gil_scoped_acquire gil;
    auto& self = *static_cast<Control*>(user);
    if (self.thrown_) return 1;
    try {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        self.progress_(stage, done, total == 0 ? py::object(py::none()) : py::int_(total));
        return 0;
    } catch (py::error_already_set& error) {
        self.thrown_ = std::make_unique<py::error_already_set>(std::move(error));
        return 1;
    }
}

void Control::rethrow() {
    if (thrown_) throw std::move(*thrown_);
}

}  // namespace lemma::python

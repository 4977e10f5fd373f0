// SPDX-License-Identifier: Apache-2.0
#include "prove/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

extern char** environ;

namespace lemma::prove {

namespace {

constexpr size_t kMostOutput = size_t{64} << 20;
constexpr int kPollMilliseconds = 100;
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

using Clock = std::chrono::steady_clock;

std::atomic<int> g_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // a handler sets it
std::array<struct sigaction, kSignals.size()> g_before{};

void on_signal(int signal) { g_signal = signal; }

double since(Clock::time_point began) {
    return std::chrono::duration<double>(Clock::now() - began).count();
}

std::unexpected<Error> cannot_start(const std::string& program, int error) {
    return std::unexpected(
        Error{fmt::format("cannot start `{}`: {}", program, std::strerror(error))});
}

struct Pipe {
    int read = -1, write = -1;
    ~Pipe() {
        if (read >= 0) ::close(read);
        if (write >= 0) ::close(write);
    }
    void close_write() {
        ::close(write);
        write = -1;
    }
};

// The variables of this process, with those of `more` in place of their namesakes.
std::vector<char*> environment_with(const std::vector<std::string>& more) {
    std::vector<char*> all;
    for (char** each = environ; each && *each; ++each) {
        const std::string_view variable(*each);
        bool replaced = false;
        for (const std::string& own : more) {
            replaced |= variable.starts_with(own.substr(0, own.find('=') + 1));
        }
        if (!replaced) all.push_back(*each);
    }
    for (const std::string& own : more) all.push_back(const_cast<char*>(own.c_str()));
    all.push_back(nullptr);
    return all;
}

// Starts the program as the leader of a new process group. Returns errno.
int spawn(const std::vector<std::string>& command,
          const ProcessOptions& options,
          int output,
          pid_t& pid) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    std::vector<char*> environment = environment_with(options.environment);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    if (const int error = ::posix_spawn_file_actions_init(&files); error != 0) return error;
    if (const int error = ::posix_spawnattr_init(&attributes); error != 0) {
        ::posix_spawn_file_actions_destroy(&files);
        return error;
    }
    sigset_t none;
    sigset_t defaults;
    ::sigemptyset(&none);
    ::sigemptyset(&defaults);
    for (const int signal : kSignals) ::sigaddset(&defaults, signal);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int error = ::posix_spawnp(
        &pid, command[0].c_str(), &files, &attributes, arguments.data(), environment.data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    return error;
}

// Reads until the program ends, the time is over, or a signal arrives.
void watch(int input, pid_t pid, const ProcessOptions& options, ProcessResult& result) {
    const Clock::time_point began = Clock::now();
    std::array<char, 16384> bytes{};
    bool open = true;
    bool ended = false;
    siginfo_t info{};
    while (!ended) {
        pollfd waiting{.fd = open ? input : -1, .events = POLLIN, .revents = 0};
        ::poll(&waiting, 1, kPollMilliseconds);
        // What the program wrote last is read before its end is noticed.
        info.si_pid = 0;
        ended = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
                info.si_pid == pid;
        while (open) {
            const ssize_t got = ::read(input, bytes.data(), bytes.size());
            if (got < 0 && errno == EINTR) continue;
            if (got < 0 && errno == EAGAIN) break;
            open = got > 0;
            if (got > 0 && result.output.size() < kMostOutput) {
                result.output.append(bytes.data(), static_cast<size_t>(got));
            }
        }
        if (ended) break;
        result.timed_out = options.seconds > 0 && since(began) > options.seconds;
        result.stopped = Interrupts::arrived();
        if (result.timed_out || result.stopped) break;
    }
}

}  // namespace

Interrupts::Interrupts() {
    g_signal = 0;
    struct sigaction action{};
    action.sa_handler = on_signal;
    ::sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &g_before[i]);
}

Interrupts::~Interrupts() {
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &g_before[i], nullptr);
    if (const int signal = g_signal.exchange(0); signal != 0) ::raise(signal);
}

bool Interrupts::arrived() { return g_signal != 0; }

Result<ProcessResult> run_process(const std::vector<std::string>& command,
                                  const ProcessOptions& options) {
    const Clock::time_point began = Clock::now();
    Pipe pipe;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot_start(command[0], errno);
    pipe.read = ends[0];
    pipe.write = ends[1];
    ::fcntl(pipe.read, F_SETFL, O_NONBLOCK);
    pid_t pid = 0;
    if (const int error = spawn(command, options, pipe.write, pid); error != 0) {
        return cannot_start(command[0], error);
    }
    pipe.close_write();
    ProcessResult result;
    watch(pipe.read, pid, options, result);
    // Children of the program may still run, also after its own end. The program is not waited for
    // yet, so its process group has not been given to others.
    ::kill(-pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.seconds = since(began);
    return result;
}

std::string find_program(const std::string& name) {
    const char* const path = std::getenv("PATH");
    std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
    while (!rest.empty()) {
        const size_t end = rest.find(':');
        const std::string_view folder = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        if (folder.empty()) continue;  // never the current folder
        std::string file = fmt::format("{}/{}", folder, name);
        if (::access(file.c_str(), X_OK) == 0) return file;
    }
    return {};
}

}  // namespace lemma::prove

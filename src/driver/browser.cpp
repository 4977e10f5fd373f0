// SPDX-License-Identifier: Apache-2.0
#include "driver/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

namespace lemma::driver {

namespace {

bool has_display() {
    for (const char* const variable : {"WAYLAND_DISPLAY", "DISPLAY"}) {
        const char* const value = std::getenv(variable);
        if (value && *value) return true;
    }
    return false;
}

}  // namespace

bool open_in_browser(const std::string& address) {
    if (!has_display()) return false;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        posix_spawn_file_actions_addopen(&actions, file, "/dev/null", O_RDWR, 0);
    // The browser gets signals of its own, and none of the terminal.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    std::string program = "xdg-open", argument = address;
    char* const words[] = {program.data(), argument.data(), nullptr};
    pid_t child = 0;
    const int trouble =
        ::posix_spawnp(&child, program.c_str(), &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (trouble != 0) return false;
    std::thread([child] { ::waitpid(child, nullptr, 0); }).detach();
    return true;
}

}  // namespace lemma::driver

// SPDX-License-Identifier: Apache-2.0
#include "prove/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

namespace lemma::prove {
namespace {

ProcessResult shell(const std::string& script, ProcessOptions options = {}) {
    const auto done = run_process({"/bin/sh", "-c", script}, options);
    EXPECT_TRUE(done) << done.error().message;
    return done.value_or(ProcessResult());
}

// Whether the process with this number ends soon. It may stay in the table until its parent asks.
bool ends(const std::string& number) {
    for (int i = 0; i < 100; ++i) {
        std::ifstream file("/proc/" + std::to_string(std::stol(number)) + "/stat");
        std::string pid;
        std::string name;
        std::string state;
        if (!(file >> pid >> name >> state) || state == "Z") return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
}

TEST(Process, ReturnsOutputAndStatus) {
    const ProcessResult done = shell("echo one; echo two >&2; exit 7");
    EXPECT_EQ(done.output, "one\ntwo\n");
    EXPECT_EQ(done.status, 7);
    EXPECT_FALSE(done.timed_out);
    EXPECT_EQ(shell("kill -9 $$").status, 128 + SIGKILL);
    EXPECT_EQ(shell("read x; echo $?").output, "1\n");  // the input is empty
}

TEST(Process, KeepsLongOutput) {
    const ProcessResult done =
        shell("i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i + 1)); done");
    EXPECT_EQ(done.output.size(), 20000U * 11);
}

TEST(Process, ReplacesVariablesOfTheEnvironment) {
    ::setenv("LEMMA_PROCESS_TEST", "outer", 1);
    ::setenv("LEMMA_PROCESS", "kept", 1);
    const std::string script = "echo $LEMMA_PROCESS_TEST $LEMMA_PROCESS";
    EXPECT_EQ(shell(script).output, "outer kept\n");
    EXPECT_EQ(shell(script, {.environment = {"LEMMA_PROCESS_TEST=inner"}}).output, "inner kept\n");
    ::unsetenv("LEMMA_PROCESS_TEST");
    ::unsetenv("LEMMA_PROCESS");
}

TEST(Process, MissingProgramIsAnError) {
    const auto done = run_process({"/no/such/program"}, {});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "cannot start `/no/such/program`: No such file or directory");
    EXPECT_EQ(find_program("lemma-no-such-program"), "");
    EXPECT_NE(find_program("sh"), "");
}

// The child of the program prints its number and would sleep for long.
TEST(Process, LimitEndsChildrenToo) {
    const ProcessResult done =
        shell("sleep 600 & echo $!; wait", {.environment = {}, .seconds = 0.3});
    EXPECT_TRUE(done.timed_out);
    EXPECT_EQ(done.status, 128 + SIGKILL);
    EXPECT_LT(done.seconds, 30);
    EXPECT_TRUE(ends(done.output));
}

TEST(Process, ChildrenThatOutliveTheProgramEnd) {
    const ProcessResult done = shell("sleep 600 & echo $!");
    EXPECT_EQ(done.status, 0);
    EXPECT_TRUE(ends(done.output));
}

TEST(Process, SignalStopsTheProgramAndIsSentAgain) {
    ASSERT_EXIT(
        {
            {
                const Interrupts interrupts;
                std::thread other([] {
                    std::this_thread::sleep_for(std::chrono::milliseconds(200));
                    ::kill(::getpid(), SIGINT);
                });
                const auto done = run_process({"/bin/sh", "-c", "sleep 600"}, {});
                other.join();
                if (!done || !done->stopped || !Interrupts::arrived()) ::_exit(3);
            }
            ::_exit(4);  // the signal has ended the process before
        },
        testing::KilledBySignal(SIGINT),
        "");
}

}  // namespace
}  // namespace lemma::prove

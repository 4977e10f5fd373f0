// SPDX-License-Identifier: Apache-2.0
#include "driver/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace lemma::driver {

namespace {

using std::chrono::milliseconds;

// What the line writes, collected.
struct Screen {
    std::mutex mutex;
    std::string text;

    std::function<void(const std::string&)> writer() {
        return [this](const std::string& more) {
            const std::lock_guard lock(mutex);
            text += more;
        };
    }
    std::string seen() {
        const std::lock_guard lock(mutex);
        return text;
    }
    bool waits_for(const std::string& part) {
        for (int i = 0; i < 2000 && !seen().contains(part); ++i)
            std::this_thread::sleep_for(milliseconds(5));
        return seen().contains(part);
    }
};

TEST(Progress, ABarHasACount) {
    EXPECT_EQ(bar_text(0, 40, "kernels"), "[....................] 0/40 kernels");
    EXPECT_EQ(bar_text(10, 40, "kernels"), "[#####...............] 10/40 kernels");
    EXPECT_EQ(bar_text(40, 40, "kernels"), "[####################] 40/40 kernels");
    EXPECT_EQ(bar_text(0, 0, "kernels"), "[####################] 0/0 kernels");
}

TEST(Progress, ShortWorkShowsNothing) {
    Screen screen;
    {
        ProgressLine line(screen.writer(), {.delay = std::chrono::hours(1)});
        line.set("loading");
        line.set("[##] 1/2");
        line.set("");
    }
    EXPECT_EQ(screen.seen(), "");
}

TEST(Progress, LongWorkShowsItsLastTextAndIsErased) {
    Screen screen;
    {
        ProgressLine line(screen.writer(), {.delay = milliseconds(1), .interval = milliseconds(1)});
        line.set("loading");
        // Nothing else is reported meanwhile.
        EXPECT_TRUE(screen.waits_for("\r\x1b[Kloading  0 s")) << screen.seen();
        line.set("compiling \x1b[2J");
        EXPECT_TRUE(screen.waits_for("compiling <1b>[2J  0 s")) << screen.seen();
    }
    EXPECT_TRUE(screen.seen().ends_with("\r\x1b[K")) << screen.seen();
}

TEST(Progress, ALineFitsTheTerminal) {
    Screen screen;
    ProgressLine line(screen.writer(),
                      {.delay = milliseconds(0), .interval = milliseconds(1), .columns = 20});
    line.set(std::string(300, 'x'));
    EXPECT_TRUE(screen.waits_for(" s"));
    EXPECT_LE(screen.seen().find(" s"), size_t{4 + 20});
}

TEST(Progress, QuietAndJsonShowNone) {
    const auto shows = [](const std::vector<std::string>& args) {
        bool shown = false;
        Terminal terminal;
        terminal.progress = [&](const std::string& text) { shown = shown || !text.empty(); };
        std::istringstream input;
        run(args, terminal, input);
        return shown;
    };
    EXPECT_TRUE(shows({"check", "no-such-file.onnx"}));
    EXPECT_FALSE(shows({"check", "-q", "no-such-file.onnx"}));
    EXPECT_FALSE(shows({"check", "--json", "no-such-file.onnx"}));
}

}  // namespace

}  // namespace lemma::driver

// SPDX-License-Identifier: Apache-2.0
// prove/fake_tools_test.h — scripts with the names of Frama-C and its provers, for tests.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace lemma::prove {

inline constexpr const char* kProved =
    "[wp] 3 goals scheduled\n"
    "[wp] [Qed] Goal typed_real_n0_relu_exits : Valid\n"
    "[wp] Proved goals:    3 / 3\n"
    "  Qed:             1  (3ms)\n"
    "  CVC4 1.8:        2  (30ms-50ms) (10855)\n";
inline constexpr const char* kUnproved =
    "[wp] [Failed] Goal typed_real_n0_relu_ensures\n"
    "  Z3 4.8.12: Timeout (Qed:11ms) (20s)\n"
    "[wp] Proved goals:    2 / 3\n"
    "  Qed:             2  (3ms)\n";

// They are alone on PATH.
class FakeTools : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "lemma-prove-test-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        std::filesystem::create_directory(folder_ / "bin");
        path_ = ::getenv("PATH");
        ::setenv("PATH", (folder_ / "bin").c_str(), 1);
        tool("frama-c",
             "if [ \"$1\" = -version ]; then echo '25.0-beta (Manganese)'; exit; fi\n"
             "echo \"$@\" >> " +
                 file("calls") + "\n. " + file("answer"));
        tool("z3", "echo 'Z3 version 4.8.12 - 64 bit'");
        tool("cvc4", "echo 'This is CVC4 version 1.8'; echo more");
        tool("why3",
             "if [ \"$1\" = --version ]; then echo 'Why3 platform, version 1.5.1'; exit; fi\n"
             "echo 'Found prover CVC4 version 1.8, OK.'\n"
             "echo 'Found prover Z3 version 4.8.12, OK.'");
        answer(kProved);
    }
    void TearDown() override {
        ::setenv("PATH", path_.c_str(), 1);
        std::filesystem::remove_all(folder_);
    }
    std::string file(const std::string& name) const { return (folder_ / name).string(); }
    void tool(const std::string& name, const std::string& script) const {
        const std::filesystem::path path = folder_ / "bin" / name;
        std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    // What the fake Frama-C does about a file: prints the text and ends with the status.
    void answer(const std::string& text, const std::string& then = "exit 0") const {
        std::ofstream(folder_ / "answer")
            << "while IFS= read -r line; do echo \"$line\"; done <<'END'\n"
            << text << "END\n"
            << then << "\n";
    }
    size_t calls() const {
        std::ifstream log(folder_ / "calls");
        size_t count = 0;
        for (std::string line; std::getline(log, line);) ++count;
        return count;
    }

    std::filesystem::path folder_;
    std::string path_;
};

}  // namespace lemma::prove

// SPDX-License-Identifier: Apache-2.0
// The program as started by a shell: by name, through links, installed, beside foreign files.
// Golden tests run inside the test process and cannot test that.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;

constexpr const char* kModel = R"(import math;
graph G {
    @input { x: real[4]; }
    @output { y: real[4]; }
    @compose { y = math.exp(x); }
})";

struct Ended {
    int status = -1;
    std::string text;  // both streams
};

class Program : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "lemma-program-XXXXXX").string();
        root_ = ::mkdtemp(pattern.data());
        folder_ = root_ / "a" / "model";
        fs::create_directories(folder_);
        std::ofstream(folder_ / "main.sknd") << kModel;
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(root_, ignored);
    }

    // Runs the command in a shell, in the folder of the model.
    Ended run(const std::string& command) const {
        const std::string line = "cd '" + folder_.string() + "' && unset LEMMA_JIT && export " +
                                 "LEMMA_CACHE='" + (root_ / "cache").string() + "' && { " +
                                 command + "; } 2>&1";
        Ended ended;
        std::FILE* const pipe = ::popen(line.c_str(), "r");
        if (!pipe) return ended;
        std::array<char, 4096> buffer{};
        while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
            ended.text.append(buffer.data(), got);
        }
        const int status = ::pclose(pipe);
        ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return ended;
    }
    static std::string path_with(const fs::path& folder) {
        return "PATH='" + folder.string() + "':\"$PATH\" ";
    }
    void expect_compiled(const std::string& command) const {
        const Ended ended = run(command + kRun);
        EXPECT_EQ(ended.status, 0) << ended.text;
        EXPECT_NE(ended.text.find("y: "), std::string::npos) << ended.text;
    }
    // Copies the program and its compiler into one folder.
    fs::path copy_program(bool with_compiler) const {
        const fs::path place = root_ / "copy";
        fs::create_directories(place);
        fs::copy_file(LEMMA_PROGRAM, place / "lemma");
        if (with_compiler) fs::copy_file(LEMMA_COMPILER, place / "lemma_jit.so");
        return place;
    }
    void leave_foreign_library(const fs::path& folder) const {
        fs::copy_file(LEMMA_FOREIGN_JIT, folder / "lemma_jit.so");
    }

    static constexpr const char* kRun = " run main.sknd --random-inputs --engine=jit --no-cache";
    fs::path root_, folder_;
};

TEST_F(Program, FindsItsCompilerWhenItIsStartedByName) {
    expect_compiled(path_with(fs::path(LEMMA_PROGRAM).parent_path()) + "lemma");
}

TEST_F(Program, FindsItsCompilerThroughALink) {
    fs::create_directories(root_ / "bin");
    fs::create_symlink(LEMMA_PROGRAM, root_ / "bin" / "lemma");
    expect_compiled(path_with(root_ / "bin") + "lemma");
    expect_compiled("../../bin/lemma");
}

TEST_F(Program, FindsItsCompilerWhereItIsInstalled) {
    const fs::path prefix = root_ / "prefix";
    const Ended installed =
        run("cmake --install '" LEMMA_BINARY_DIR "' --prefix '" + prefix.string() + "' >/dev/null");
    ASSERT_EQ(installed.status, 0) << installed.text;
    expect_compiled(path_with(prefix / "bin") + "lemma");
    fs::create_directories(root_ / "bin");
    fs::create_symlink(prefix / "bin" / "lemma", root_ / "bin" / "lemma");
    expect_compiled(path_with(root_ / "bin") + "lemma");
}

TEST_F(Program, LoadsNothingFromTheFolderOfAModelOrAroundIt) {
    for (fs::path place = folder_; place != root_; place = place.parent_path()) {
        leave_foreign_library(place);
    }
    fs::create_directories(folder_ / "lib");
    leave_foreign_library(folder_ / "lib");
    fs::create_directories(root_ / "a" / "lib");
    leave_foreign_library(root_ / "a" / "lib");
    expect_compiled(path_with(fs::path(LEMMA_PROGRAM).parent_path()) + "lemma");
    // Without its own compiler it reports that, and uses no other.
    const fs::path alone = copy_program(/*with_compiler=*/false);
    for (const std::string& start :
         {path_with(alone) + "lemma", "LD_LIBRARY_PATH=.: '" + alone.string() + "/lemma'"}) {
        const Ended ended = run(start + kRun);
        EXPECT_EQ(ended.status, 2) << start << ended.text;
        EXPECT_NE(ended.text.find("cannot load the compiler: there is no `lemma_jit.so` in"),
                  std::string::npos)
            << ended.text;
    }
}

TEST_F(Program, LoadsNoCompilerThatOthersCanChange) {
    const fs::path place = copy_program(/*with_compiler=*/true);
    expect_compiled("'" + place.string() + "/lemma'");
    ASSERT_EQ(::chmod((place / "lemma_jit.so").c_str(), 0777), 0);
    const Ended ended = run("'" + place.string() + "/lemma'" + kRun);
    EXPECT_EQ(ended.status, 2);
    EXPECT_NE(ended.text.find("everybody can write to `" + (place / "lemma_jit.so").string()),
              std::string::npos)
        << ended.text;
}

TEST_F(Program, LoadsNoCompilerOfAnotherVersion) {
    const Ended ended =
        run("export LEMMA_JIT='" LEMMA_OLDER_JIT "'; '" LEMMA_PROGRAM "'" + std::string(kRun));
    EXPECT_EQ(ended.status, 2);
    EXPECT_NE(ended.text.find("cannot load the compiler: `" LEMMA_OLDER_JIT
                              "` is part of Lemma 0.0.1, and this is Lemma "),
              std::string::npos)
        << ended.text;
}

// Only root can give a file away. For others the file stays theirs, and is trusted.
TEST_F(Program, LoadsNoCompilerOfAnotherUser) {
    const fs::path place = copy_program(/*with_compiler=*/true);
    const std::string program = "'" + place.string() + "/lemma'";
    const bool given = ::chown((place / "lemma_jit.so").c_str(), 65534, 65534) == 0;
    ASSERT_EQ(given, ::geteuid() == 0);
    if (!given) return expect_compiled(program);
    const Ended ended = run(program + kRun);
    EXPECT_EQ(ended.status, 2);
    EXPECT_NE(ended.text.find("belongs to another user"), std::string::npos) << ended.text;
}

TEST_F(Program, NeedsNoCompilerForKernelsOnDisk) {
    const fs::path alone = copy_program(/*with_compiler=*/false);
    const std::string model = " run main.sknd --random-inputs --engine=jit";
    const Ended cold = run("'" + alone.string() + "/lemma'" + model);
    EXPECT_EQ(cold.status, 2);
    const std::string cache = (root_ / "cache").string();
    EXPECT_NE(cold.text.find("1 of 1 kernels are not in the cache `" + cache +
                             "`, and Lemma cannot load the compiler: there is no"),
              std::string::npos)
        << cold.text;
    const Ended whole = run("'" LEMMA_PROGRAM "'" + model);
    EXPECT_EQ(whole.status, 0) << whole.text;
    const Ended warm = run("'" + alone.string() + "/lemma'" + model);
    EXPECT_EQ(warm.status, 0) << warm.text;
    EXPECT_EQ(warm.text, whole.text);
}

// Writes `count` reals of one value.
void write_npy(const fs::path& path, float value, size_t count) {
    std::string header =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
    header.resize(117, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
    bytes += header;
    for (size_t i = 0; i < count; ++i) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    std::ofstream(path, std::ios::binary) << bytes;
}

TEST_F(Program, SaysThatCasesAreInterpretedForWantOfACompiler) {
    constexpr size_t kCount = 1'600'000;  // large enough for the compiler
    for (const char* const name : {"1", "2"}) {
        const fs::path place = folder_ / "cases" / name;
        for (const char* const part : {"model", "inputs", "outputs"}) {
            fs::create_directories(place / part);
        }
        std::ofstream(place / "case.json") << "{}";
        std::ofstream(place / "model" / "main.sknd")
            << "import math; graph G { @input { x: real[1600000]; } @output { y: real[1600000]; } "
               "@compose { y = math.exp(x); } }";
        write_npy(place / "inputs" / "x.npy", 0.0F, kCount);
        write_npy(place / "outputs" / "y.npy", 1.0F, kCount);
    }
    const fs::path alone = copy_program(/*with_compiler=*/false);
    const Ended ended = run("'" + alone.string() + "/lemma' verify cases");
    EXPECT_EQ(ended.status, 0) << ended.text;
    EXPECT_NE(ended.text.find("cases/1: note: the interpreter runs it, which is slow: 1 of 1 "
                              "kernels are not in the cache"),
              std::string::npos)
        << ended.text;
    EXPECT_EQ(ended.text.find("cases/2: note:"), std::string::npos) << ended.text;  // reported once
    EXPECT_NE(ended.text.find("2 passed, 0 failed"), std::string::npos) << ended.text;
    const std::string said =
        R"("the interpreter runs it, which is slow: 1 of 1 kernels are not in)";
    const Ended json = run("'" + alone.string() + "/lemma' verify --json cases/1 2>/dev/null");
    EXPECT_NE(json.text.find(said), std::string::npos) << json.text;
    const Ended results = run("'" + alone.string() + "/lemma' run --json cases/1/model " +
                              "-i x=cases/1/inputs/x.npy 2>/dev/null");
    EXPECT_NE(results.text.find(said), std::string::npos) << results.text.substr(0, 300);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "codegen/object_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lemma::codegen {
namespace {

namespace fs = std::filesystem;

class ObjectCacheTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() /
                  ("lemma-cache-" + std::to_string(::getpid()) + "-" +
                   testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(folder_);
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    std::string folder() const { return folder_.string(); }
    std::vector<fs::path> files() const {
        std::vector<fs::path> result;
        for (const auto& entry : fs::directory_iterator(folder_)) result.push_back(entry.path());
        return result;
    }
    int64_t bytes() const {
        int64_t total = 0;
        for (const fs::path& path : files()) total += static_cast<int64_t>(fs::file_size(path));
        return total;
    }
    void damage(const std::function<void(std::string&)>& change) {
        ASSERT_EQ(files().size(), 1U);
        std::ifstream in(files()[0], std::ios::binary);
        std::stringstream text;
        text << in.rdbuf();
        std::string content = text.str();
        change(content);
        std::ofstream(files()[0], std::ios::binary | std::ios::trunc) << content;
    }

    fs::path folder_;
};

constexpr int64_t kPlenty = 1 << 20;

TEST_F(ObjectCacheTest, FindsWhatAnotherOneAdded) {
    const ObjectKey key = object_key("kernel", "compiler");
    ObjectCache(folder(), kPlenty).add(key, "code");
    ObjectCache cache(folder(), kPlenty);
    EXPECT_EQ(cache.trouble(), "");
    EXPECT_EQ(cache.find(key), "code");
    EXPECT_EQ(cache.find(object_key("other", "compiler")), std::nullopt);
}

TEST_F(ObjectCacheTest, KeysDifferInEveryPart) {
    EXPECT_EQ(object_key("a", "b").digest, object_key("a", "b").digest);
    EXPECT_NE(object_key("a", "b").digest, object_key("a", "c").digest);
    EXPECT_NE(object_key("a", "b").digest, object_key("b", "b").digest);
    EXPECT_NE(object_key("ab", "").digest, object_key("b", "a").digest);
}

// A hash that is not made for it gives up two texts of the same digest to whoever looks for them:
// here XXH3, which ignores the upper halves of two words and sees their sum only.
TEST_F(ObjectCacheTest, KeysDifferForTextsThatAreMadeToCollide) {
    constexpr std::string_view kMaker = "compiler";
    const XXH64_hash_t seed = XXH3_128bits(kMaker.data(), kMaker.size()).low64;
    std::array<char, XXH_SECRET_DEFAULT_SIZE> secret{};
    XXH3_generateSecret_fromSeed(secret.data(), seed);
    const auto text = [&](uint32_t first, uint32_t second) {
        std::string bytes(512, 'x');
        std::memcpy(bytes.data(), secret.data(), 4);
        std::memcpy(bytes.data() + 4, &first, 4);
        std::memcpy(bytes.data() + 64, secret.data() + 8, 4);
        std::memcpy(bytes.data() + 68, &second, 4);
        return bytes;
    };
    const std::string one = text(1000, 7);
    const std::string other = text(7, 1000);
    const XXH128_hash_t hash = XXH3_128bits_withSeed(one.data(), one.size(), seed);
    const XXH128_hash_t same = XXH3_128bits_withSeed(other.data(), other.size(), seed);
    ASSERT_TRUE(XXH128_isEqual(hash, same));
    EXPECT_NE(object_key(one, kMaker).digest, object_key(other, kMaker).digest);
}

TEST_F(ObjectCacheTest, IgnoresDamagedFiles) {
    const ObjectKey key = object_key("kernel", "compiler");
    const std::vector<std::function<void(std::string&)>> damages = {
        [](std::string& text) { text.back() ^= 1; },
        [](std::string& text) { text.pop_back(); },
        [](std::string& text) { text.push_back('x'); },
        [](std::string& text) { text[0] ^= 1; },
        [](std::string& text) { text.resize(10); },
        [](std::string& text) { text.clear(); },
    };
    for (const auto& change : damages) {
        ObjectCache cache(folder(), kPlenty);
        cache.add(key, "some code");
        ASSERT_EQ(cache.find(key), "some code");
        damage(change);
        EXPECT_EQ(cache.find(key), std::nullopt);
        EXPECT_TRUE(files().empty());  // a damaged file is removed
    }
}

TEST_F(ObjectCacheTest, DoesNotTakeARenamedFile) {
    const ObjectKey key = object_key("kernel", "compiler");
    const ObjectKey other = object_key("other", "compiler");
    ObjectCache cache(folder(), kPlenty);
    cache.add(key, "code");
    fs::rename(files()[0], folder_ / (other.digest + ".o"));
    EXPECT_EQ(cache.find(other), std::nullopt);
}

TEST_F(ObjectCacheTest, RemovesWhatWasNotUsedForLongest) {
    ObjectCache cache(folder(), 5000);
    const std::string object(1000, 'x');
    std::vector<ObjectKey> keys;
    for (int i = 0; i < 4; ++i) {
        keys.push_back(object_key(std::to_string(i), ""));
        cache.add(keys.back(), object);
        const auto age = std::chrono::hours(10 - i);
        fs::last_write_time(folder_ / (keys.back().digest + ".o"),
                            fs::file_time_type::clock::now() - age);
    }
    EXPECT_TRUE(cache.find(keys[0]));  // now the most recently used
    keys.push_back(object_key("new", ""));
    cache.add(keys.back(), object);
    EXPECT_LE(bytes(), 5000);
    EXPECT_FALSE(cache.find(keys[1]));
    EXPECT_TRUE(cache.find(keys[0]));
    EXPECT_TRUE(cache.find(keys[4]));
}

TEST_F(ObjectCacheTest, RemovesWhatWasNeverFinished) {
    ObjectCache cache(folder(), kPlenty);
    const fs::path old = folder_ / "a.part";
    const fs::path young = folder_ / "b.part";
    std::ofstream(old) << "half";
    std::ofstream(young) << "half";
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
    cache.trim();
    EXPECT_FALSE(fs::exists(old));
    EXPECT_TRUE(fs::exists(young));
}

TEST_F(ObjectCacheTest, DoesNothingWhereItCannotWrite) {
    std::ofstream(folder()) << "a file";
    ObjectCache cache(folder(), kPlenty);
    EXPECT_NE(cache.trouble(), "");
    cache.add(object_key("kernel", ""), "code");
    EXPECT_EQ(cache.find(object_key("kernel", "")), std::nullopt);
}

TEST_F(ObjectCacheTest, DoesNotTrustAFolderThatOthersCanWriteTo) {
    fs::create_directory(folder_);
    ::chmod(folder().c_str(), 0777);
    ObjectCache cache(folder(), kPlenty);
    EXPECT_EQ(cache.trouble(), "others can write to `" + folder() + "`");
    cache.add(object_key("kernel", ""), "code");
    EXPECT_TRUE(files().empty());
}

TEST_F(ObjectCacheTest, DoesNotFollowALinkToAFolder) {
    const fs::path real = folder() + "-real";
    fs::create_directory(real);
    fs::create_directory_symlink(real, folder_);
    for (const std::string& path : {folder(), folder() + "/"}) {
        ObjectCache cache(path, kPlenty);
        EXPECT_EQ(cache.trouble(), "`" + path + "` is a symbolic link; name the folder itself");
        cache.add(object_key("kernel", ""), "code");
    }
    EXPECT_TRUE(fs::is_empty(real));
    fs::remove_all(real);
}

TEST_F(ObjectCacheTest, DoesNotTrustAFolderOfAnotherUser) {
    std::string foreign = "/";  // owned by root: other users cannot give folders away
    if (::geteuid() == 0) {
        fs::create_directory(folder_);
        ASSERT_EQ(::chown(folder().c_str(), 65534, 65534), 0);
        foreign = folder();
    }
    EXPECT_EQ(ObjectCache(foreign, kPlenty).trouble(), "`" + foreign + "` belongs to another user");
}

// An attacker who can rename the parent folders replaces the folder by another one.
TEST_F(ObjectCacheTest, StaysInTheFolderThatItOpened) {
    const ObjectKey key = object_key("kernel", "");
    ObjectCache cache(folder(), kPlenty);
    cache.add(key, "mine");
    const fs::path aside = folder() + "-aside";
    fs::rename(folder_, aside);
    ObjectCache(folder(), kPlenty).add(key, "theirs");
    EXPECT_EQ(cache.find(key), "mine");
    cache.add(object_key("second", ""), "code");
    EXPECT_EQ(files().size(), 1U);
    EXPECT_TRUE(fs::exists(aside / (object_key("second", "").digest + ".o")));
    cache.trim();
    EXPECT_EQ(files().size(), 1U);
    fs::remove_all(aside);
}

TEST_F(ObjectCacheTest, TakesOnlyFilesThatNobodyElseCanWriteTo) {
    const ObjectKey key = object_key("kernel", "");
    const std::string path = (folder_ / (key.digest + ".o")).string();
    ObjectCache cache(folder(), kPlenty);
    const std::string away = (folder_ / "away").string();
    std::vector<std::function<void()>> changes = {
        [&] { ASSERT_EQ(::chmod(path.c_str(), 0620), 0); },
        [&] { ASSERT_EQ(::chmod(path.c_str(), 0602), 0); },
        [&] {
            fs::rename(path, away);
            fs::create_symlink(away, path);
        },
        [&] {
            fs::remove(path);
            ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);  // waiting for a writer would never end
        },
    };
    if (::geteuid() == 0)
        changes.emplace_back([&] { ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0); });
    for (size_t i = 0; i < changes.size(); ++i) {
        cache.add(key, "code");
        ASSERT_EQ(cache.find(key), "code") << i;
        changes[i]();
        EXPECT_EQ(cache.find(key), std::nullopt) << i;
        EXPECT_FALSE(fs::is_symlink(path) || fs::exists(path)) << i;  // so it is made again
    }
}

TEST_F(ObjectCacheTest, IsUsedByManyAtOnce) {
    const std::string object(2000, 'x');
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            ObjectCache cache(folder(), 20000);
            for (int i = 0; i < 100; ++i) {
                const ObjectKey key = object_key(std::to_string(i % 15), "");
                cache.add(key, object);
                const auto found = cache.find(key);
                wrong += found && *found != object;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    ObjectCache(folder(), 20000).trim();
    EXPECT_LE(bytes(), 20000);
}

}  // namespace
}  // namespace lemma::codegen

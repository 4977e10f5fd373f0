// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <gtest/gtest.h>

namespace lemma {
namespace {

std::string portable(std::string_view bytes) {
    Sha256 digest(true);
    digest.add(bytes);
    return digest.digits();
}

TEST(Sha256, KnownAnswers) {
    for (const auto& digest : {sha256, portable}) {
        EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        EXPECT_EQ(digest("abc"),
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        EXPECT_EQ(digest(std::string(1'000'000, 'a')),
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

TEST(Sha256, IsTheSameWithAndWithoutInstructionsForIt) {
    std::string bytes;
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(sha256(bytes), portable(bytes)) << i;
        bytes += static_cast<char>(i * 37 + i / 7);
    }
}

TEST(Sha256, DoesNotDependOnTheParts) {
    std::string bytes;
    for (int i = 0; i < 400; ++i) bytes += static_cast<char>(i * i);
    const std::string want = sha256(bytes);
    for (size_t first : {0, 1, 63, 64, 65, 200}) {
        for (size_t second : {0, 1, 63, 64, 128, 199}) {
            Sha256 digest;
            const std::string_view all = bytes;
            digest.add(all.substr(0, first));
            digest.add(all.substr(first, second));
            digest.add(all.substr(first + second));
            EXPECT_EQ(digest.digits(), want) << first << ' ' << second;
        }
    }
}

}  // namespace
}  // namespace lemma

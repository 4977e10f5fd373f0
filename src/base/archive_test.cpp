// SPDX-License-Identifier: Apache-2.0
#include "base/archive.h"

#include <gtest/gtest.h>

namespace lemma {

struct PartId : Id<PartId> {};
struct Part {
    int64_t size = 0;
    std::optional<std::string> name;
    friend bool operator==(const Part&, const Part&) = default;
};
struct Whole {
    bool good = false;
    double weight = 0;
    PartId main;
    std::vector<Part> parts;
    std::variant<std::monostate, int32_t, Part> kind;
    std::unordered_map<PartId, std::pair<int8_t, uint16_t>, IdHash> pairs;
    int64_t both[2] = {0, 0};
};

template <class Archive>
void fields(Archive& archive, like<Part, Archive>& part) {
    auto& [size, name] = part;
    archive(size, name);
}

template <class Archive>
void fields(Archive& archive, like<Whole, Archive>& whole) {
    auto& [good, weight, main, parts, kind, pairs, both] = whole;
    archive(good, weight, main, parts, kind, pairs, both);
}

namespace {

Whole example() {
    Whole whole{true, -1.5, make_id<PartId>(7), {{1, "one"}, {-2, std::nullopt}}, {}, {}, {3, 4}};
    whole.kind = Part{5, ""};
    whole.pairs[make_id<PartId>(2)] = {-1, 65535};
    return whole;
}

TEST(Archive, ReadsWhatItWrote) {
    ArchiveWriter writer;
    writer(example());
    ArchiveReader reader(writer.bytes);
    Whole got;
    reader(got);
    EXPECT_TRUE(reader.good());
    EXPECT_TRUE(reader.at_end());
    const Whole want = example();
    EXPECT_EQ(got.good, want.good);
    EXPECT_EQ(got.weight, want.weight);
    EXPECT_EQ(got.main, want.main);
    EXPECT_EQ(got.parts, want.parts);
    EXPECT_EQ(std::get<Part>(got.kind), std::get<Part>(want.kind));
    EXPECT_EQ(got.pairs, want.pairs);
    EXPECT_EQ(got.both[1], 4);
}

TEST(Archive, RefusesEveryShorterText) {
    ArchiveWriter writer;
    writer(example());
    for (size_t size = 0; size < writer.bytes.size(); ++size) {
        ArchiveReader reader(std::string_view(writer.bytes).substr(0, size));
        Whole got;
        reader(got);
        EXPECT_FALSE(reader.good()) << size;
    }
}

TEST(Archive, RefusesAbsurdSizesAndKinds) {
    ArchiveWriter writer;
    writer(uint64_t{1} << 60);
    ArchiveReader items(writer.bytes);
    std::vector<Part> parts;
    items(parts);
    EXPECT_FALSE(items.good());
    ArchiveReader kinds(writer.bytes);
    std::variant<std::monostate, int32_t> kind;
    kinds(kind);
    EXPECT_FALSE(kinds.good());
}

}  // namespace
}  // namespace lemma

// SPDX-License-Identifier: Apache-2.0
#include "sknd/names/name_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace lemma::sknd {

namespace {

TEST(NameTable, InnerNamesHideOuterOnes) {
    NameTable<int> table;
    table.set("a", 1);
    table.push();
    EXPECT_EQ(*table.find("a"), 1);
    EXPECT_EQ(table.find_here("a"), nullptr);
    table.set("a", 2);
    EXPECT_EQ(*table.find("a"), 2);
    EXPECT_EQ(*table.find_here("a"), 2);
    EXPECT_EQ(*table.find_outer("a"), 1);
    table.pop();
    EXPECT_EQ(*table.find("a"), 1);
    EXPECT_EQ(table.find("b"), nullptr);
}

TEST(NameTable, InsertKeepsWhatIsThere) {
    NameTable<int> table;
    EXPECT_TRUE(table.insert("a", 1));
    EXPECT_FALSE(table.insert("a", 2));
    EXPECT_EQ(*table.find("a"), 1);
    table.push();
    EXPECT_TRUE(table.insert("a", 2));
}

TEST(NameTable, TellsNamesOfEveryLengthApart) {
    NameTable<size_t> table;
    std::vector<std::string> names;
    for (size_t size = 0; size <= 40; ++size) {
        names.push_back(std::string(size, 'x'));
        for (size_t at = 0; at < size; ++at) {
            names.push_back(names.back());
            names.back()[at] = static_cast<char>(names.back()[at] + 1);
        }
    }
    for (size_t i = 0; i < names.size(); ++i) ASSERT_TRUE(table.insert(names[i], i)) << names[i];
    for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(*table.find(names[i]), i) << names[i];
}

// Compares with maps, one for each scope.
TEST(NameTable, DoesWhatNestedMapsDo) {
    std::vector<std::string> names;
    for (int i = 0; i < 60; ++i) names.push_back("name" + std::to_string(i * i));
    std::mt19937 random(7);
    NameTable<int> table;
    std::vector<std::map<std::string, int>> scopes(1);
    for (int step = 0; step < 20000; ++step) {
        const std::string& name = names[random() % names.size()];
        const uint32_t action = random() % 16;
        if (action == 0) {
            table.push();
            scopes.emplace_back();
        } else if (action == 1 && scopes.size() > 1) {
            table.pop();
            scopes.pop_back();
        } else if (action < 6) {
            table.set(name, step);
            scopes.back()[name] = step;
        } else if (action < 8) {
            EXPECT_EQ(table.insert(name, step), scopes.back().emplace(name, step).second);
        } else if (action == 8 && scopes.size() == 1) {
            table.erase(name);
            scopes.back().erase(name);
        }
        const int* found = table.find(name);
        auto scope = scopes.rbegin();
        while (scope != scopes.rend() && !scope->contains(name)) ++scope;
        ASSERT_EQ(found != nullptr, scope != scopes.rend()) << step;
        if (found) {
            ASSERT_EQ(*found, scope->at(name)) << step;
        }
        ASSERT_EQ(table.find_here(name) != nullptr, scopes.back().contains(name)) << step;
    }
}

TEST(NameSet, HasEachNameOnce) {
    NameSet names;
    EXPECT_TRUE(names.insert("a"));
    EXPECT_FALSE(names.insert("a"));
    EXPECT_TRUE(names.contains("a"));
    EXPECT_FALSE(names.contains("b"));
}

}  // namespace

}  // namespace lemma::sknd

// SPDX-License-Identifier: Apache-2.0
// Rules and the explicit form on models that are wrong in random ways: every rule gives a verdict,
// and the explicit form can be written and read.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "diag/source.h"
#include "onnx/validate.h"
#include "onnx/write.h"
#include "sonnx/check.h"
#include "sonnx/fix.h"
#include "sonnx/test_operators.h"

namespace lemma::sonnx {

namespace {

using namespace test;
using onnx::Model;

class Wrecker {
public:
    explicit Wrecker(uint32_t seed) : random_(seed) {}

    Model model() {
        Model model = operator_model();
        const int64_t changes = 1 + pick(4);
        for (int64_t i = 0; i < changes; ++i) change(model);
        return model;
    }

private:
    int64_t pick(int64_t below) {
        return std::uniform_int_distribution<int64_t>(0, below - 1)(random_);
    }
    template <class List>
    auto& any(List& list) {
        return list[static_cast<size_t>(pick(static_cast<int64_t>(list.size())))];
    }
    int64_t number() {
        constexpr std::array<int64_t, 14> kNumbers = {
            INT64_MIN, INT64_MAX, -4, -1, 0, 0, 1, 1, 2, 3, 4, 7, int64_t{1} << 31, -(1 << 20)};
        return any(kNumbers);
    }
    std::vector<int64_t> list() {
        std::vector<int64_t> items(static_cast<size_t>(pick(6)));
        for (int64_t& item : items) item = number();
        return items;
    }
    std::string name(Model& model) {
        onnx::Graph& graph = main_graph(model);
        switch (pick(4)) {
            case 0:
                return "";
            case 1:
                return any(graph.inputs).name;
            case 2:
                return any(graph.initializers).proto.name;
            default:
                return any(graph.nodes).outputs[0];
        }
    }
    void change(onnx::Attribute& attribute) {
        if (attribute.type == onnx::AttributeType::Int) attribute.ints = {number()};
        if (attribute.type == onnx::AttributeType::Ints) attribute.ints = list();
    }
    void change(Model& model) {
        onnx::Graph& graph = main_graph(model);
        onnx::Node& node = any(graph.nodes);
        switch (pick(8)) {
            case 0:
                if (!node.inputs.empty()) any(node.inputs) = name(model);
                break;
            case 1:
                node.inputs.resize(static_cast<size_t>(pick(9)));
                break;
            case 2:
                if (!node.attributes.empty()) change(any(node.attributes));
                break;
            case 3:
                if (!node.attributes.empty()) drop_attribute(node, any(node.attributes).name);
                break;
            case 4:
                node.op = std::string(any(graph.nodes).op);
                break;
            case 5:
                any(graph.initializers).proto.shape = list();
                break;
            case 6:
                any(pick(2) == 0 ? graph.inputs : graph.outputs).elem_type = pick(20);
                break;
            default: {
                onnx::ValueInfo& value = any(pick(2) == 0 ? graph.inputs : graph.outputs);
                value = declaration(value.name, list(), value.elem_type);
            }
        }
    }

    std::mt19937 random_;
};

TEST(RandomModels, GetAVerdictFromEveryRule) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
        const Model model = Wrecker(seed).model();
        diag::SourceMap sources;
        Diagnostics base;
        onnx::validate(model, sources.add_paths("random.onnx", model.paths), base);
        const Subject subject{.model = model, .base = base};
        ASSERT_EQ(check(subject).size(), all_rules().size()) << "seed " << seed;
        const Model again = read(onnx::write_model(make_explicit(subject).model));
        const Diagnostics none;
        ASSERT_EQ(check({.model = again, .base = none}).size(), all_rules().size())
            << "seed " << seed;
    }
}

TEST(RandomModels, StayAsTheyAreOnceTheyConform) {
    int64_t conforming = 0;
    for (uint32_t seed = 0; seed < 200; ++seed) {
        const Model model = Wrecker(seed).model();
        const Diagnostics base;
        const Model fixed =
            read(onnx::write_model(make_explicit({.model = model, .base = base}).model));
        if (!conforms(check({.model = fixed, .base = base}))) continue;
        ++conforming;
        const Fixed again = make_explicit({.model = fixed, .base = base});
        for (const Change& change : again.changes)
            ADD_FAILURE() << "seed " << seed << ": " << change.rule << ": " << change.message;
    }
    EXPECT_GT(conforming, 10);
}

}  // namespace

}  // namespace lemma::sonnx

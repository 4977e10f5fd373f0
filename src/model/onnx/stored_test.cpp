// SPDX-License-Identifier: Apache-2.0
// Models from the store of programs: they are those that an import makes.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "diag/render.h"
#include "ir/text/print.h"
#include "model/load.h"
#include "onnx/test_model.h"

namespace lemma::model {
namespace {

namespace fs = std::filesystem;
namespace test = onnx::test;

class MemoryStore : public ProgramStore {
public:
    std::optional<std::string> find(std::span<const std::string_view> source) override {
        const auto entry = entries.find(joined(source));
        if (entry == entries.end()) return std::nullopt;
        ++found;
        return entry->second;
    }
    void add(std::span<const std::string_view> source, std::string entry) override {
        entries[joined(source)] = std::move(entry);
    }
    std::map<std::string, std::string> entries;
    int found = 0;

private:
    static std::string joined(std::span<const std::string_view> parts) {
        std::string all;
        for (const std::string_view part : parts) all += part;
        return all;
    }
};

// A sum with a large tensor, and a shape that a small one decides.
struct Net {
    float added = 1;
    std::vector<int64_t> shape = {500, 600};
    std::vector<test::TestNode> nodes = {{"Add", {"x", "a"}, {"sum"}},
                                         {"Reshape", {"sum", "shape"}, {"y"}}};

    std::string bytes() const {
        test::WireWriter large;
        large.put_int(1, kCount);
        large.put_int(2, 1);
        large.put_bytes(8, "a");
        const std::vector<float> items(kCount, added);
        large.put_bytes(
            9, {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(float)});
        return test::model_bytes(
            {.inputs = {{"x", {kCount}}},
             .outputs = {{"y", shape}},
             .nodes = nodes,
             .initializers = {large.take(), test::ints_tensor("shape", {2}, shape)}});
    }
    static constexpr int64_t kCount = 300'000;
};

class StoredModel : public testing::Test {
protected:
    StoredModel() {
        std::string pattern = (fs::temp_directory_path() / "storedXXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        options_.store = &store_;
        options_.data = DataMode::Require;
    }
    ~StoredModel() override { fs::remove_all(folder_); }
    std::string path() const { return (folder_ / "net.onnx").string(); }
    void write(const std::string& bytes) const { ASSERT_TRUE(tensor::write_file(path(), bytes)); }
    std::optional<LoadedModel> load() {
        finding_ = Finding();
        return load_model(path(), options_, finding_);
    }
    // The first element of the variable.
    static double first(const LoadedModel& model, const std::string& variable) {
        for (const ir::Tensor& tensor : model.program.tensors) {
            if (tensor.name != variable) continue;
            const auto data = model.data(tensor);
            EXPECT_TRUE(data && *data);
            return data && *data ? (*data)->real(0) : 0;
        }
        ADD_FAILURE() << "no variable " << variable;
        return 0;
    }

    fs::path folder_;
    MemoryStore store_;
    LoadOptions options_;
    Finding finding_;
};

TEST_F(StoredModel, IsTheModelOfAnImport) {
    write(Net().bytes());
    const auto imported = load();
    ASSERT_TRUE(imported);
    EXPECT_EQ(store_.found, 0);
    ASSERT_EQ(store_.entries.size(), 1U);
    const std::string entry = store_.entries.begin()->second;
    EXPECT_LT(entry.size(), 100'000U);  // without the elements
    const diag::SourceMap sources = std::move(finding_.sources);

    const auto stored = load();
    ASSERT_TRUE(stored);
    EXPECT_EQ(store_.found, 1);
    EXPECT_EQ(ir::print(stored->program), ir::print(imported->program));
    EXPECT_EQ(stored->metadata, imported->metadata);
    EXPECT_EQ(stored->aliases, imported->aliases);
    EXPECT_EQ(stored->source, imported->source);
    EXPECT_EQ(first(*stored, "a"), 1.0);
    ASSERT_EQ(finding_.sources.size(), sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
        const auto id = make_id<diag::FileId>(i);
        EXPECT_EQ(finding_.sources.name(id), sources.name(id));
        EXPECT_EQ(finding_.sources.text(id), sources.text(id));
    }
    ASSERT_EQ(stored->program.operations.size(), imported->program.operations.size());
    for (size_t i = 0; i < stored->program.operations.size(); ++i) {
        const auto id = make_id<ir::OpId>(i);
        const diag::Span& span = stored->program.operations[id].span;
        const diag::Span& want = imported->program.operations[id].span;
        EXPECT_EQ(span.file, want.file);
        EXPECT_EQ(span.begin, want.begin);
        EXPECT_EQ(span.end, want.end);
        EXPECT_EQ(sknd::is_standard(stored->package, span),
                  sknd::is_standard(imported->package, want));
    }
}

TEST_F(StoredModel, HasTheElementsOfTheFile) {
    write(Net().bytes());
    ASSERT_TRUE(load());
    write(Net{.added = 3}.bytes());
    const auto other = load();
    ASSERT_TRUE(other);
    EXPECT_EQ(store_.found, 1);
    EXPECT_EQ(first(*other, "a"), 3.0);
}

TEST_F(StoredModel, IsNotThatOfAnotherFile) {
    write(Net().bytes());
    ASSERT_TRUE(load());
    for (const Net& net :
         {Net{.shape = {600, 500}},
          Net{.nodes = {{"Sub", {"x", "a"}, {"sum"}}, {"Reshape", {"sum", "shape"}, {"y"}}}}}) {
        write(net.bytes());
        ASSERT_TRUE(load());
        EXPECT_EQ(store_.found, 0);
    }
    EXPECT_EQ(store_.entries.size(), 3U);
}

TEST_F(StoredModel, IsNotThatOfOtherOptions) {
    write(Net().bytes());
    ASSERT_TRUE(load());
    options_.check.graph.compose.real = ir::DType::BF16;
    ASSERT_TRUE(load());
    EXPECT_EQ(store_.found, 0);
}

// Every f32 tensor gets the type of `--real`, in a model from the store as in an imported one.
TEST_F(StoredModel, HasRealsOfTheTypeThatIsAskedFor) {
    write(Net{.added = 1.0F / 3}.bytes());
    const std::pair<ir::DType, double> types[] = {{ir::DType::F32, 1.0F / 3},
                                                  {ir::DType::F64, 1.0F / 3},
                                                  {ir::DType::F16, 0.333251953125},
                                                  {ir::DType::BF16, 0.333984375}};
    for (const auto& [real, third] : types) {
        options_.check.graph.compose.real = real;
        for (const int found : {0, 1}) {
            store_.found = 0;
            const auto model = load();
            ASSERT_TRUE(model);
            EXPECT_EQ(store_.found, found);
            EXPECT_EQ(first(*model, "a"), third);
            for (const ir::Tensor& tensor : model->program.tensors) {
                const bool whole = tensor.name == "shape";
                EXPECT_EQ(tensor.dtype, whole ? ir::DType::I64 : real) << tensor.name;
            }
        }
    }
}

TEST_F(StoredModel, IsRefusedAndMadeAgainIfItIsDamaged) {
    write(Net().bytes());
    const auto imported = load();
    ASSERT_TRUE(imported);
    std::string& entry = store_.entries.begin()->second;
    const std::string good = entry;
    for (size_t size = 0; size < good.size(); size += 97) {
        entry = good.substr(0, size);
        const auto model = load();
        ASSERT_TRUE(model) << size;
        EXPECT_EQ(ir::print(model->program), ir::print(imported->program));
        EXPECT_EQ(entry, good) << size;
    }
}

TEST_F(StoredModel, IsNotKeptWithFaultsOrWarnings) {
    write(Net{.nodes = {{"Add", {"x", "missing"}, {"sum"}}, {"Reshape", {"sum", "shape"}, {"y"}}}}
              .bytes());
    for (int i = 0; i < 2; ++i) {
        EXPECT_FALSE(load());
        EXPECT_TRUE(finding_.diag.has_errors());
    }
    EXPECT_TRUE(store_.entries.empty());
}

// The values of inputs decide shapes, or a shape is in another file.
TEST_F(StoredModel, IsNotKeptIfMoreThanTheFileDecides) {
    write(test::model_bytes({.inputs = {{"x", {6}}, {"shape", {2}, 7}},
                             .outputs = {{"y", {2, 3}}},
                             .nodes = {{"Reshape", {"x", "shape"}, {"y"}}}}));
    auto shape = tensor::Tensor::zeros(tensor::DType::I64, {2}).value();
    shape.set_integer(0, 2);
    shape.set_integer(1, 3);
    options_.values = {{"shape", shape}};
    ASSERT_TRUE(load()) << diag::render(finding_.sources, finding_.diag, {.brief = true});
    EXPECT_TRUE(store_.entries.empty());

    options_.values.clear();
    write(test::model_bytes(
        {.inputs = {{"x", {1, 1, 2, 2}}},
         .outputs = {{"y", {1, 1, 4, 4}}},
         .nodes = {{"Resize", {"x", "", "scales"}, {"y"}}},
         .initializers = {test::external_tensor("scales", {4}, {.location = "scales"})}}));
    ASSERT_TRUE(
        tensor::write_file((folder_ / "scales").string(),
                           std::string("\0\0\x80\x3f\0\0\x80\x3f\0\0\0\x40\0\0\0\x40", 16)));
    ASSERT_TRUE(load()) << diag::render(finding_.sources, finding_.diag, {.brief = true});
    EXPECT_TRUE(store_.entries.empty());
}

// Data in another file decides nothing. It is read again, and may be gone.
TEST_F(StoredModel, ReadsOtherFilesAgain) {
    const std::string other = (folder_ / "more").string();
    ASSERT_TRUE(tensor::write_file(other, std::string(4 * 6000, '\0')));
    write(test::model_bytes(
        {.inputs = {{"x", {6000}}},
         .outputs = {{"y", {6000}}},
         .nodes = {{"Add", {"x", "a"}, {"y"}}},
         .initializers = {test::external_tensor("a", {6000}, {.location = "more"})}}));
    ASSERT_TRUE(load());
    EXPECT_EQ(store_.entries.size(), 1U);
    std::string ones;
    for (int i = 0; i < 6000; ++i) ones += std::string("\0\0\x80\x3f", 4);
    ASSERT_TRUE(tensor::write_file(other, ones));
    const auto again = load();
    ASSERT_TRUE(again);
    EXPECT_EQ(store_.found, 1);
    EXPECT_EQ(first(*again, "a"), 1.0);
    fs::remove(other);
    const auto without = load();
    ASSERT_TRUE(without);
    for (const ir::Tensor& tensor : without->program.tensors) {
        if (tensor.name != "a") continue;
        EXPECT_FALSE(without->data(tensor));
    }
}

}  // namespace
}  // namespace lemma::model

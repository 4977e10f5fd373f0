// SPDX-License-Identifier: Apache-2.0
#include "image/preprocess.h"

#include <gtest/gtest.h>

namespace lemma::image {

namespace {

std::string message(std::string_view text) {
    const auto recipe = parse_recipe(text);
    return recipe ? "" : recipe.error().message;
}

// Two pixels: red and a dark blue.
Image two_pixels() {
    Image image = Image::blank({1, 2}, 3);
    image.pixels = {255, 0, 0, 0, 0, 51};
    return image;
}

std::vector<float> numbers(const tensor::Tensor& tensor) {
    std::vector<float> result;
    for (int64_t i = 0; i < tensor.size(); ++i)
        result.push_back(static_cast<float>(tensor.real(i)));
    return result;
}

tensor::Tensor made(const Image& image, std::string_view recipe) {
    auto parsed = parse_recipe(recipe);
    EXPECT_TRUE(parsed) << parsed.error().message;
    auto tensor = preprocess(image, *parsed);
    EXPECT_TRUE(tensor) << tensor.error().message;
    return *tensor;
}

TEST(Preprocess, EveryNameIsARecipeAndExplained) {
    for (const std::string& name : recipe_names()) {
        EXPECT_EQ(message(name), "") << name;
        EXPECT_NE(recipe_help().find("\n  " + name), std::string::npos) << name;
    }
}

TEST(Preprocess, LaysTheChannelsOut) {
    const Image image = two_pixels();
    const tensor::Tensor planes = made(image, "layout=nchw");
    EXPECT_EQ(planes.shape(), (tensor::Shape{1, 3, 1, 2}));
    EXPECT_EQ(numbers(planes), (std::vector<float>{1, 0, 0, 0, 0, 0.2F}));
    const tensor::Tensor last = made(image, "layout=nhwc,channels=bgr");
    EXPECT_EQ(last.shape(), (tensor::Shape{1, 1, 2, 3}));
    EXPECT_EQ(numbers(last), (std::vector<float>{0, 0, 1, 0.2F, 0, 0}));
    EXPECT_EQ(made(image, "layout=chw").shape(), (tensor::Shape{3, 1, 2}));
    EXPECT_EQ(made(image, "layout=hwc").shape(), (tensor::Shape{1, 2, 3}));
    EXPECT_EQ(made(image, "channels=grey").shape(), (tensor::Shape{1, 1, 1, 2}));
    EXPECT_EQ(made(image, "channels=grey,layout=hw").shape(), (tensor::Shape{1, 2}));
}

TEST(Preprocess, ComputesInFloat) {
    const Image image = two_pixels();
    const auto values = numbers(made(image, "mean=0.485:0.456:0.406,std=0.229:0.224:0.225"));
    EXPECT_EQ(values[0], (255.0F / 255.0F - 0.485F) / 0.229F);
    EXPECT_EQ(values[2], (0.0F - 0.456F) / 0.224F);
    EXPECT_EQ(values[5], (51.0F / 255.0F - 0.406F) / 0.225F);
    EXPECT_EQ(numbers(made(image, "scale=1/127.5,mean=1"))[0], 1);
    EXPECT_EQ(numbers(made(image, "scale=2"))[5], 102);
    EXPECT_EQ(numbers(made(image, "raw")), (std::vector<float>{255, 0, 0, 0, 0, 51}));
    EXPECT_EQ(made(image, "raw").dtype(), tensor::DType::U8);
    EXPECT_EQ(numbers(made(image, "raw,invert=yes")),
              (std::vector<float>{0, 255, 255, 255, 255, 204}));
}

TEST(Preprocess, TheShorterSideGetsTheLength) {
    const Image image = Image::blank({30, 47}, 3);
    EXPECT_EQ(made(image, "resize=20").shape(), (tensor::Shape{1, 3, 20, 31}));
    EXPECT_EQ(made(image, "resize=20x10").shape(), (tensor::Shape{1, 3, 20, 10}));
    EXPECT_EQ(made(image, "imagenet").shape(), (tensor::Shape{1, 3, 224, 224}));
    EXPECT_EQ(made(image, "imagenet,resize=no,crop=no").shape(), (tensor::Shape{1, 3, 30, 47}));
    EXPECT_EQ(made(image, "mnist").shape(), (tensor::Shape{1, 1, 28, 28}));
    EXPECT_EQ(made(image, "mobilenet").shape(), (tensor::Shape{1, 224, 224, 3}));
}

TEST(Preprocess, AGreyPictureHasThreeEqualChannels) {
    Image grey = Image::blank({1, 1}, 1);
    grey.pixels = {51};
    EXPECT_EQ(numbers(made(grey, "unit")), (std::vector<float>{0.2F, 0.2F, 0.2F}));
}

TEST(Preprocess, ErrorsNameTheWord) {
    EXPECT_NE(message("imagnet").find("no recipe `imagnet`; there are imagenet"),
              std::string::npos);
    EXPECT_NE(message("size=3").find("`size` is no word"), std::string::npos);
    for (const char* const wrong : {"resize=0",
                                    "resize=-1",
                                    "resize=3x",
                                    "resize=1x2x3",
                                    "resize=99999999999999999999",
                                    "resize=65536x65536",
                                    "crop=x",
                                    "scale=0",
                                    "scale=1/0",
                                    "scale=1/2/3",
                                    "mean=a",
                                    "mean=1:2",
                                    "mean=inf",
                                    "std=0",
                                    "std=1:0:1",
                                    "layout=cnhw",
                                    "type=i4",
                                    "channels=cmyk",
                                    "filter=lanczos",
                                    "invert=maybe",
                                    "scale=1,resize"}) {
        EXPECT_NE(message(wrong).find("is not "), std::string::npos) << wrong;
    }
    EXPECT_NE(message("channels=grey,mean=1:2:3").find("one channel"), std::string::npos);
    EXPECT_NE(message("layout=hw").find("add channels=grey"), std::string::npos);
}

TEST(Preprocess, APartMustFit) {
    const auto recipe = parse_recipe("crop=10");
    const auto tensor = preprocess(two_pixels(), *recipe);
    ASSERT_FALSE(tensor);
    EXPECT_NE(tensor.error().message.find("crop=10x10 is larger than the picture of 1x2"),
              std::string::npos);
}

// A thin picture must not become a huge one.
TEST(Preprocess, AThinPictureIsRefused) {
    const auto recipe = parse_recipe("resize=60000");
    const auto tensor = preprocess(Image::blank({1, 60000}, 3), *recipe);
    ASSERT_FALSE(tensor);
    EXPECT_NE(tensor.error().message.find("too large"), std::string::npos);
}

}  // namespace

}  // namespace lemma::image

// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/pb_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace lemma::tensor {

namespace {

using namespace std::string_literals;

// Field numbers of onnx.proto.
enum Number : uint32_t {
    Dims = 1,
    Type = 2,
    Segment = 3,
    Floats = 4,
    Int32s = 5,
    Strings = 6,
    Int64s = 7,
    Name = 8,
    Raw = 9,
    Doubles = 10,
    Uint64s = 11,
    External = 13,
    Location = 14
};

class Proto {
public:
    Proto(DType dtype, const Shape& shape) : Proto(onnx_type_of(dtype), shape) {}
    Proto(int64_t type, const Shape& shape) {
        if (!shape.empty()) writer.put_ints(Dims, shape);
        writer.put_int(Type, type);
    }
    Proto& ints(uint32_t number, const std::vector<int64_t>& values) {
        writer.put_ints(number, values);
        return *this;
    }
    Proto& bytes(uint32_t number, std::string_view value) {
        writer.put_bytes(number, value);
        return *this;
    }
    Proto& entry(std::string_view key, std::string_view value) {
        WireWriter pair;
        pair.put_bytes(1, key);
        pair.put_bytes(2, value);
        return bytes(External, pair.bytes());
    }
    Proto& external() {
        writer.put_int(Location, 1);
        return *this;
    }
    Result<NamedTensor> decode(const ReadExternal& read = {}) const {
        return decode_pb(writer.bytes(), read);
    }
    std::string error(const ReadExternal& read = {}) const {
        const auto named = decode(read);
        return named ? "no error" : named.error().message;
    }
    std::vector<double> values() const {
        const auto named = decode();
        EXPECT_TRUE(named) << named.error().message;
        std::vector<double> result;
        for (int64_t i = 0; named && i < named->tensor.size(); ++i) {
            result.push_back(named->tensor.real(i));
        }
        return result;
    }

    WireWriter writer;
};

TEST(PbFile, ReadsBytesByHand) {
    // dims 1, 2 unpacked; FLOAT; float_data packed; name "x"
    const auto named =
        decode_pb("\x08\x01\x08\x02\x10\x01\x22\x08\0\0\x80\x3F\0\0\0\xC0\x42\x01x"s);
    ASSERT_TRUE(named) << named.error().message;
    EXPECT_EQ(named->name, "x");
    EXPECT_EQ(named->tensor.dtype(), DType::F32);
    EXPECT_EQ(named->tensor.shape(), (Shape{1, 2}));
    EXPECT_EQ(named->tensor.real(0), 1);
    EXPECT_EQ(named->tensor.real(1), -2);
}

TEST(PbFile, ReadsBackEveryDtype) {
    std::mt19937_64 random(7);
    for (int code = 0; code < static_cast<int>(DType::Str); ++code) {
        const auto dtype = static_cast<DType>(code);
        for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{3, 0}}) {
            NamedTensor named{.name = "weights", .tensor = Tensor::zeros(dtype, shape).value()};
            for (std::byte& byte : named.tensor.bytes()) {
                byte = static_cast<std::byte>(random() % (dtype == DType::Bool ? 2 : 256));
            }
            const auto read = decode_pb(encode_pb(named));
            ASSERT_TRUE(read) << read.error().message;
            EXPECT_EQ(read->name, "weights");
            EXPECT_EQ(read->tensor.dtype(), dtype);
            EXPECT_EQ(read->tensor.shape(), shape);
            EXPECT_TRUE(std::ranges::equal(read->tensor.bytes(), named.tensor.bytes()));
        }
    }
}

TEST(PbFile, ReadsBackStrings) {
    NamedTensor named{.name = "", .tensor = Tensor::zeros(DType::Str, {3}).value()};
    named.tensor.strings() = {"one", "", "thr\0ee"s};
    const auto read = decode_pb(encode_pb(named));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->tensor.dtype(), DType::Str);
    EXPECT_EQ(read->tensor.strings(), named.tensor.strings());
}

TEST(PbFile, ReadsTheFieldsOfEachType) {
    using Values = std::vector<double>;
    EXPECT_EQ(Proto(DType::I8, {2}).ints(Int32s, {-128, 127}).values(), (Values{-128, 127}));
    EXPECT_EQ(Proto(DType::U8, {2}).ints(Int32s, {0, 255}).values(), (Values{0, 255}));
    EXPECT_EQ(Proto(DType::I16, {1}).ints(Int32s, {-32768}).values(), (Values{-32768}));
    EXPECT_EQ(Proto(DType::U16, {1}).ints(Int32s, {65535}).values(), (Values{65535}));
    EXPECT_EQ(Proto(DType::I32, {1}).ints(Int32s, {-5}).values(), (Values{-5}));
    EXPECT_EQ(Proto(DType::Bool, {3}).ints(Int32s, {0, 1, 2}).values(), (Values{0, 1, 1}));
    EXPECT_EQ(Proto(DType::F16, {1}).ints(Int32s, {0xC000}).values(), (Values{-2}));
    EXPECT_EQ(Proto(DType::BF16, {1}).ints(Int32s, {0x3F80}).values(), (Values{1}));
    EXPECT_EQ(Proto(DType::I64, {1}).ints(Int64s, {-7}).values(), (Values{-7}));
    EXPECT_EQ(Proto(DType::U32, {1}).ints(Uint64s, {4294967295}).values(), (Values{4294967295}));
    EXPECT_EQ(Proto(DType::U64, {1}).ints(Uint64s, {-1}).values(), (Values{0x1p64}));
    Proto doubles(DType::F64, {2});
    doubles.writer.put_double(Doubles, 0.1);
    doubles.writer.put_double(Doubles, -3);
    EXPECT_EQ(doubles.values(), (Values{0.1, -3}));
    Proto floats(DType::F32, {});
    floats.writer.put_float(Floats, 0.5f);
    EXPECT_EQ(floats.values(), (Values{0.5}));
    EXPECT_EQ(Proto(DType::Bool, {2}).bytes(Raw, "\0\x07"s).values(), (Values{0, 1}));
    // An empty field beside the one with the elements.
    EXPECT_EQ(Proto(DType::I64, {1}).ints(Int64s, {3}).bytes(Raw, "").values(), (Values{3}));
    EXPECT_EQ(Proto(DType::I64, {0}).values(), Values{});
}

TEST(PbFile, RefusesElementsThatDoNotAgreeWithTheShape) {
    EXPECT_EQ(Proto(DType::I64, {2, 2}).ints(Int64s, {1, 2, 3}).error(),
              "it has 3 elements, but its shape [2, 2] needs 4");
    EXPECT_EQ(Proto(DType::I64, {1}).ints(Int64s, {1, 2, 3}).error(),
              "it has 3 elements, but its shape [1] needs 1");
    EXPECT_EQ(Proto(DType::I64, {}).error(), "it has 0 elements, but its shape [] needs 1");
    EXPECT_EQ(Proto(DType::F32, {2}).bytes(Raw, "1234567").error(),
              "it has 7 bytes of data, but f32 of shape [2] needs 8");
    EXPECT_EQ(Proto(DType::I8, {2}).ints(Int32s, {1, 128}).error(),
              "element [1] is 128, which i8 cannot hold");
    EXPECT_EQ(Proto(DType::U8, {1}).ints(Int32s, {-1}).error(),
              "element [0] is -1, which u8 cannot hold");
    EXPECT_EQ(Proto(DType::U32, {1}).ints(Uint64s, {4294967296}).error(),
              "element [0] is 4294967296, which u32 cannot hold");
    EXPECT_EQ(Proto(DType::Str, {2}).bytes(Strings, "one").error(),
              "it has 1 elements, but its shape [2] needs 2");
}

TEST(PbFile, RefusesClaimsWithoutMemory) {
    EXPECT_EQ(Proto(DType::F64, {int64_t{1} << 32}).bytes(Doubles, "12345678").error(),
              "it has too little data for its shape [4294967296]");
    EXPECT_EQ(Proto(DType::Str, {int64_t{1} << 40}).bytes(Strings, "one").error(),
              "it has too little data for its shape [1099511627776]");
    EXPECT_EQ(Proto(DType::F64, {int64_t{1} << 62}).bytes(Raw, "").error(),
              "it has 0 bytes of data, but f64 of shape [4611686018427387904] is too large");
    EXPECT_EQ(Proto(DType::F64, {int64_t{1} << 62, 2}).error(),
              "its shape [4611686018427387904, 2] is too large");
    EXPECT_EQ(Proto(DType::F64, {3, -2}).error(), "it has the negative extent -2");
    EXPECT_EQ(Proto(DType::F64, Shape(65, 1)).error(), "it has a rank of more than 64");
}

TEST(PbFile, RefusesOtherTypes) {
    EXPECT_EQ(Proto(15, {1}).bytes(Raw, "").error(),
              "its elements have the type COMPLEX128, which is not supported");
    EXPECT_EQ(Proto(22, {1}).error(), "its elements have the type INT4, which is not supported");
    EXPECT_EQ(Proto(99, {1}).error(), "its elements have the type 99, which is not supported");
    EXPECT_EQ(Proto(-1, {1}).error(), "its elements have the type -1, which is not supported");
    EXPECT_EQ(decode_pb("").error().message, "it does not say which type its elements have");
}

TEST(PbFile, RefusesElementsInOtherFields) {
    EXPECT_EQ(Proto(DType::I64, {1}).ints(Int32s, {1}).error(),
              "its elements are in field 5, but those of INT64 belong in field 7");
    EXPECT_EQ(Proto(DType::I64, {1}).ints(Int64s, {1}).bytes(Raw, "12345678").error(),
              "it has its elements twice");
    EXPECT_EQ(Proto(DType::I64, {1}).ints(Int64s, {1}).ints(Int32s, {1}).error(),
              "it has its elements twice");
    EXPECT_EQ(Proto(DType::Str, {1}).bytes(Raw, "one").error(),
              "it has raw data, which strings cannot be");
}

TEST(PbFile, RefusesSequencesAndDamage) {
    // A SequenceProto of one tensor: name, element type, tensors in field 3.
    WireWriter sequence;
    sequence.put_bytes(1, "seq");
    sequence.put_int(2, 1);
    sequence.put_bytes(3, Proto(DType::F32, {0}).writer.bytes());
    EXPECT_EQ(decode_pb(sequence.bytes()).error().message,
              "it is not one tensor: sequences, optional values and segments cannot be read");
    EXPECT_EQ(Proto(DType::F32, {1}).bytes(Floats, "123").error(),
              "it is damaged at byte 7: a number is cut off");
    const std::string good = encode_pb({.name = "x", .tensor = *Tensor::zeros(DType::F32, {4})});
    for (size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(decode_pb(good.substr(0, size))) << size;
    }
}

TEST(PbFile, ReadsExternalDataOnlyWithAFunction) {
    const Proto proto = Proto(DType::I16, {2})
                            .entry("location", "weights.bin")
                            .entry("offset", "4096")
                            .entry("length", "4")
                            .external();
    EXPECT_EQ(proto.error(), "its data is in another file, `weights.bin`, which is not read here");
    const auto named = proto.decode([](const ExternalData& data) -> Result<SharedBytes> {
        EXPECT_EQ(data.location, "weights.bin");
        EXPECT_EQ(data.offset, 4096);
        EXPECT_EQ(data.length, 4);
        return share("\x01\x00\xFF\xFF"s);
    });
    ASSERT_TRUE(named) << named.error().message;
    EXPECT_EQ(named->tensor.integer(1), -1);

    const ReadExternal cut = [](const ExternalData&) -> Result<SharedBytes> {
        return share("123");
    };
    EXPECT_EQ(proto.error(cut), "it has 3 bytes of data, but i16 of shape [2] needs 4");
    const ReadExternal none = [](const ExternalData&) -> Result<SharedBytes> {
        return std::unexpected(Error{"no such file"});
    };
    EXPECT_EQ(proto.error(none), "no such file");
    EXPECT_EQ(Proto(DType::I8, {1}).entry("offset", "-1").external().error(),
              "its external data has the offset `-1`, which is no number");
    EXPECT_EQ(Proto(DType::I8, {1}).entry("length", "1x").external().error(),
              "its external data has the length `1x`, which is no number");
    // Entries do not count unless the data location refers to another file.
    EXPECT_EQ(Proto(DType::I8, {1}).entry("location", "x").bytes(Raw, "1").error(), "no error");
}

}  // namespace

}  // namespace lemma::tensor

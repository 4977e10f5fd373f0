// SPDX-License-Identifier: Apache-2.0
#include "model_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace lemma::fuzz {

namespace {

constexpr int64_t kMonsters[] = {int64_t{1} << 31,
                                 (int64_t{1} << 31) - 1,
                                 int64_t{1} << 32,
                                 int64_t{1} << 33,
                                 (int64_t{1} << 33) + 1,
                                 int64_t{1} << 40,
                                 (int64_t{1} << 62) - (int64_t{1} << 18),
                                 int64_t{1} << 62,
                                 INT64_MAX - 1,
                                 INT64_MAX,
                                 -(int64_t{1} << 31),
                                 -(int64_t{1} << 62),
                                 -INT64_MAX};

// Formulas whose numbers are attributes.
constexpr const char* kOperators =
    R"(import math; import layout; import linalg; import nn; import algo;
operator skipped {
    @attrib { a: int; b: int; n: int; }
    @input { x: real[m]; } @output { y: real[n]; }
    @lower { y[i,] = 1.0, i < n; y[i,] += x[|a * i + b + j|,], i < n, j < 3; }
}
operator moved {
    @attrib { a: int; b: int; n: int; }
    @input { x: real[m]; } @output { y: real[n]; }
    @lower { y[i,] = x[|a * i + b <> 0 : m - 1|,], i < n; }
}
operator strided {
    @attrib { a: int; b: int; n: int; }
    @input { x: real[m]; } @output { y: real[n]; }
    @lower { y[i,] = x[a * i + b,], i < n; }
}
operator looked_up {
    @attrib { a: int; b: int; }
    @input { x: real[m]; k: int[n]; } @output { y: real[n]; }
    @lower { y[i,] = x[a * k[i,] + b,], i < n; }
}
operator wrapped {
    @attrib { a: int; b: int; }
    @input { x: real[m]; k: int[n]; } @output { y: real[n]; }
    @lower { y[i,] = x[(a * k[i,] + b) % 7,], i < n; }
}
operator guarded {
    @attrib { a: int; b: int; }
    @input { x: real[m]; k: int[n]; } @output { y: real[n]; }
    @lower { y[i,] += x[|a * k[i,] + b|,], i < n; }
}
operator thrown {
    @attrib { a: int; b: int; n: int; }
    @input { x: real[m]; k: int[m]; } @output { y: real[n]; }
    @lower { y[i,] = 0.0, i < n; y[a * k[i,] + b,] := x[i,], i < m; }
}
operator scattered {
    @attrib { a: int; b: int; n: int; }
    @input { x: real[m]; } @output { y: real[n]; }
    @lower { y[|a * i + b|,] += x[i,], i < m; }
}
operator chosen {
    @attrib { a: int; n: int; }
    @input { x: real[m]; } @output { y: real[n]; }
    @lower { y[i,] = i < a ? 0.5 : x[i - a,], i < n; }
}
operator taken {
    @input { x: real[m]; at: int[1, n]; } @output { y: real[n]; }
    @lower { y[i,] = x[at[0, i],], i < n; }
}
)";

struct Value {
    std::string name;
    std::vector<int64_t> shape;
};

class Writer {
public:
    explicit Writer(Bytes& bytes) : bytes_(bytes) {}

    std::string write() {
        values_ = {{"x", shape(1 + bytes_.pick(3))}, {"y", shape(1 + bytes_.pick(2))}};
        const std::vector<int64_t> k = shape(1);
        const bool dynamic = bytes_.pick(3) == 0;
        const std::string inputs = fmt::format("x: real[{}]; y: real[{}]; k: int[{}];{}",
                                               fmt::join(values_[0].shape, ", "),
                                               fmt::join(values_[1].shape, ", "),
                                               fmt::join(k, ", "),
                                               dynamic ? " d: real[n|8];" : "");
        if (dynamic) values_.push_back({"d", {3}});
        const size_t steps = 1 + bytes_.pick(5);
        for (size_t i = 0; i < steps && !bytes_.empty(); ++i) step();
        const std::string& last = values_.back().name;
        return fmt::format(
            "{}graph G {{\n    @input {{ {} }}\n    @output {{ z: real[]; }}\n    @compose {{\n{}"
            "        z = math.sum_reduce{{squeeze = true}}({});\n    }}\n}}\n",
            kOperators,
            inputs,
            body_,
            last);
    }

private:
    int64_t extent() {
        static constexpr int64_t kExtents[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 0, 0};
        return kExtents[bytes_.pick(std::size(kExtents))];
    }
    std::vector<int64_t> shape(size_t rank) {
        std::vector<int64_t> result;
        for (size_t i = 0; i < rank; ++i) result.push_back(extent());
        // With an axis of extent 0, any other extent is valid.
        if (rank > 1 && bytes_.pick(8) == 0) {
            const size_t empty = bytes_.pick(rank);
            result[empty] = 0;
            result[(empty + 1) % rank] = std::max<int64_t>(bytes_.number(), 0);
        }
        return result;
    }
    const Value& some() { return values_[bytes_.pick(values_.size())]; }
    std::string list(size_t count) {
        std::vector<int64_t> numbers;
        for (size_t i = 0; i < count; ++i) numbers.push_back(bytes_.number());
        return fmt::format("[{}]", fmt::join(numbers, ", "));
    }
    std::string made() { return fmt::format("t{}", values_.size()); }
    void add(const std::string& call, std::vector<int64_t> shape) {
        body_ += fmt::format("        {} = {};\n", made(), call);
        values_.push_back({made(), std::move(shape)});
    }
    // The value as a row, or reshaped to the given rank.
    std::string flat(const Value& value, std::vector<int64_t>& shape) {
        shape = value.shape;
        if (shape.size() == 1) return value.name;
        add(fmt::format("layout.flatten({})", value.name), {});
        int64_t volume = 1;
        for (const int64_t extent : shape) {
            volume = extent == 0 || volume == 0 ? 0 : volume > 1000 ? volume : volume * extent;
        }
        shape = {volume};
        values_.back().shape = shape;
        return values_.back().name;
    }

    void step() {
        switch (bytes_.pick(20)) {
            case 0:
                return map();
            case 1:
                return reshape();
            case 2:
                return transpose();
            case 3:
                return concat();
            case 4:
                return split();
            case 5:
                return slice();
            case 6:
                return pad();
            case 7:
                return gather();
            case 8:
                return tile();
            case 9:
                return conv();
            case 10:
                return pool();
            case 11:
                return reduce();
            case 12:
                return matmul();
            case 13:
                return uniform();
            case 14:
                return loop();
            case 15:
                return dynamic();
            case 16:
                return elementwise();
            default:
                return formula();
        }
    }
    void map() {
        static constexpr const char* kMaps[] = {"math.neg", "math.abs", "nn.relu", "math.exp"};
        const Value value = some();
        add(fmt::format("{}({})", kMaps[bytes_.pick(4)], value.name), value.shape);
    }
    void elementwise() {
        const Value a = some(), b = some();
        add(fmt::format("math.add({}, {})", a.name, b.name),
            a.shape.size() >= b.shape.size() ? a.shape : b.shape);
    }
    void reshape() {
        const Value value = some();
        std::vector<int64_t> to(1 + bytes_.pick(4));
        for (int64_t& extent : to) extent = bytes_.number();
        if (bytes_.pick(2) == 0) to = {value.shape.rbegin(), value.shape.rend()};
        if (bytes_.pick(2) == 0) to.push_back(1);
        add(fmt::format("layout.reshape{{shape = [{}]}}({})", fmt::join(to, ", "), value.name), to);
    }
    void transpose() {
        const Value value = some();
        add(fmt::format("layout.transpose({})", value.name),
            {value.shape.rbegin(), value.shape.rend()});
    }
    void concat() {
        const Value a = some(), b = bytes_.pick(3) == 0 ? some() : a;
        const size_t axis = bytes_.pick(std::max<size_t>(a.shape.size(), 1));
        std::vector<int64_t> shape = a.shape;
        if (axis < shape.size() && axis < b.shape.size() && shape[axis] < 1000) {
            shape[axis] += std::min<int64_t>(b.shape[axis], 1000);
        }
        add(fmt::format("layout.concat{{axis = {}}}([{}, {}])", axis, a.name, b.name), shape);
    }
    void split() {
        const Value value = some();
        if (value.shape.empty()) return;
        const size_t axis = bytes_.pick(value.shape.size());
        const int64_t all = value.shape[axis];
        const int64_t first = std::min<int64_t>(extent(), std::max<int64_t>(all, 0));
        std::vector<int64_t> a = value.shape, b = value.shape;
        a[axis] = first;
        b[axis] = all - first;
        body_ += fmt::format(
            "        [{0}, {0}s] = layout.split{{axis = {1}, sizes = [{2}, {3}]}}({4});\n",
            made(),
            axis,
            a[axis],
            b[axis],
            value.name);
        const std::string name = made();
        values_.push_back({name, std::move(a)});
        values_.push_back({name + "s", std::move(b)});
    }
    void slice() {
        const Value value = some();
        const size_t rank = value.shape.size();
        add(fmt::format("layout.slice{{begin = {}, end = {}, stride = {}}}({})",
                        list(rank),
                        list(rank),
                        list(rank),
                        value.name),
            value.shape);
    }
    void pad() {
        static constexpr const char* kMethods[] = {"CONSTANT", "REFLECT", "REPLICATE", "SYMMETRIC"};
        const Value value = some();
        const size_t method = bytes_.pick(4);
        add(fmt::format("layout.pad{{padding = {}, method = '{}'}}({}{})",
                        list(2 * value.shape.size()),
                        kMethods[method],
                        value.name,
                        method == 0 ? ", 0.5" : ""),
            value.shape);
    }
    void gather() {
        const Value value = some();
        const size_t axis = bytes_.pick(std::max<size_t>(value.shape.size(), 1));
        add(fmt::format("layout.gather{{axis = {}}}({}, k)", axis, value.name), value.shape);
    }
    void tile() {
        const Value value = some();
        add(fmt::format("layout.tile{{repeats = {}}}({})", list(value.shape.size()), value.name),
            value.shape);
    }
    void conv() {
        const Value value = some();
        const int64_t taps = std::max<int64_t>(extent(), 1);
        std::vector<int64_t> row;
        const std::string in = flat(value, row);
        const std::string image = made();
        add(fmt::format("layout.unsqueeze{{axes = [0, 1]}}({})", in), {1, 1, row[0]});
        const std::string filter = made();
        add(fmt::format("layout.uniform{{shape = [{}, 1, {}]}}(0.25)",
                        std::max<int64_t>(extent(), 1),
                        taps),
            {1, 1, taps});
        add(fmt::format("nn.conv{{stride = {}, dilation = {}, padding = {}}}({}, {})",
                        list(1),
                        list(1),
                        list(2),
                        image,
                        filter),
            {1, 1, row[0]});
    }
    void pool() {
        const Value value = some();
        const size_t rank = value.shape.size();
        add(fmt::format("nn.max_pool{{axes = [0:{}], size = {}, stride = {}, padding = {}}}({})",
                        rank,
                        list(rank),
                        list(rank),
                        list(2 * rank),
                        value.name),
            value.shape);
    }
    void reduce() {
        const Value value = some();
        if (value.shape.empty()) return;
        const size_t axis = bytes_.pick(value.shape.size());
        std::vector<int64_t> shape = value.shape;
        shape[axis] = 1;
        const char* const kinds[] = {"sum", "max", "mean", "min"};
        add(fmt::format(
                "math.{}_reduce{{axes = [{}]}}({})", kinds[bytes_.pick(4)], axis, value.name),
            shape);
    }
    void matmul() {
        const Value value = some();
        add(fmt::format("linalg.matmul{{transB = true}}({0}, {0})", value.name), value.shape);
    }
    void uniform() {
        const std::vector<int64_t> made = shape(1 + bytes_.pick(3));
        add(fmt::format("layout.uniform{{shape = [{}]}}(1.5)", fmt::join(made, ", ")), made);
    }
    void loop() {
        const Value value = some();
        add(fmt::format("with s = {} for i : [0:{}] do {{ u = math.neg(s); yield u; }}",
                        value.name,
                        bytes_.pick(5)),
            value.shape);
    }
    void dynamic() {
        const Value value = some();
        std::vector<int64_t> row;
        const std::string from = flat(value, row);
        const std::string at = made();
        body_ += fmt::format("        {} = layout.nonzero(k);\n", at);
        values_.push_back({at + "_", {}});
        values_.pop_back();
        const std::string result = at + "r";
        body_ += fmt::format("        {} = taken({}, {});\n", result, from, at);
        values_.push_back({result, {1}});
    }
    void formula() {
        static constexpr const char* kFormulas[] = {
            "skipped{{a = {0}, b = {1}, n = {2}}}({3})",
            "moved{{a = {0}, b = {1}, n = {2}}}({3})",
            "strided{{a = {0}, b = {1}, n = {2}}}({3})",
            "scattered{{a = {0}, b = {1}, n = {2}}}({3})",
            "chosen{{a = {0}, n = {2}}}({3})",
            "looked_up{{a = {0}, b = {1}}}({3}, k)",
            "wrapped{{a = {0}, b = {1}}}({3}, k)",
            "guarded{{a = {0}, b = {1}}}({3}, k)",
            "thrown{{a = {0}, b = {1}, n = {2}}}({3}, k)",
        };
        const Value value = some();
        std::vector<int64_t> row;
        const std::string from = flat(value, row);
        const char* const form = kFormulas[bytes_.pick(std::size(kFormulas))];
        const int64_t a = bytes_.number(), b = bytes_.number(), n = extent();
        add(fmt::format(fmt::runtime(form), a, b, n, from), {n});
    }

    Bytes& bytes_;
    std::vector<Value> values_;
    std::string body_;
};

}  // namespace

int64_t Bytes::number() {
    const uint8_t kind = byte();
    if (kind < 24) return kMonsters[kind % std::size(kMonsters)];
    if (kind < 200) return kind % 4;
    return static_cast<int64_t>(byte()) - 100;
}

std::string model_text(Bytes& bytes) { return Writer(bytes).write(); }

}  // namespace lemma::fuzz

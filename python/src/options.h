// SPDX-License-Identifier: Apache-2.0
// options.h — dictionaries of options and lists of files as the C interface takes them. The package
// has checked the values.
#pragma once

#include <lemma/lemma.h>
#include <pybind11/pybind11.h>

#include <deque>
#include <string>
#include <vector>

namespace lemma::python {

namespace py = pybind11;

// The text without change; throws UsageError if it holds a NUL, where C would cut it.
std::string plain(std::string text);

// Reads options. The texts live as long as this object.
class Options {
public:
    explicit Options(const py::dict& given) : given_(given) {}

    bool has(const char* name) const { return given_.contains(name); }
    // None if the option is missing.
    py::object get(const char* name) const {
        return has(name) ? py::object(given_[name]) : py::object(py::none());
    }
    // NULL if it is missing.
    const char* text(const char* name) { return has(name) ? keep(given_[name]) : nullptr; }
    // 0 if it is missing.
    int number(const char* name) const { return has(name) ? given_[name].cast<int>() : 0; }
    uint64_t seed(const char* name) const { return has(name) ? given_[name].cast<uint64_t>() : 0; }
    const char* const* texts(const char* name, size_t& count);
    const char* keep(const py::handle& value);

    // The fields that the options of loading, converting and compiling share.
    template <class Fields>
    void set_graph(Fields& fields) {
        fields.graph = text("graph");
        fields.attributes = texts("attributes", fields.attribute_count);
        fields.real = number("real");
    }
    // Those of loading and compiling.
    template <class Fields>
    void set_weights(Fields& fields) {
        fields.quantize = number("quantize");
        fields.random_weights = has("random_weights") ? 1 : 0;
        fields.weights_seed = seed("random_weights");
        fields.weights = text("weights");
    }

private:
    const py::dict& given_;
    std::deque<std::string> texts_;
    std::deque<std::vector<const char*>> lists_;
};

// Files of a model in memory, from a list of (name, bytes), without a copy of the bytes.
class Files {
public:
    explicit Files(const py::object& source);

    const lemma_file* data() const { return files_.data(); }
    size_t size() const { return files_.size(); }

private:
    std::deque<std::string> names_;
    std::deque<py::buffer_info> buffers_;
    std::vector<lemma_file> files_;
};

}  // namespace lemma::python

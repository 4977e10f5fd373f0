// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include "report.h"

namespace lemma::python {

std::string plain(std::string text) {
    if (text.find('\0') != std::string::npos) throw_usage("a name or path holds a NUL character");
    return text;
}

const char* Options::keep(const py::handle& value) {
    return texts_.emplace_back(plain(value.cast<std::string>())).c_str();
}

const char* const* Options::texts(const char* name, size_t& count) {
    if (!has(name)) return nullptr;
    std::vector<const char*>& list = lists_.emplace_back();
    for (const py::handle value : given_[name]) list.push_back(keep(value));
    count = list.size();
    return list.data();
}

Files::Files(const py::object& source) {
    for (const py::handle item : source) {
        const auto pair = item.cast<py::tuple>();
        names_.push_back(plain(pair[0].cast<std::string>()));
        buffers_.push_back(pair[1].cast<py::buffer>().request());
        if (PyBuffer_IsContiguous(buffers_.back().view(), 'C') == 0) {
            throw_usage("the bytes of `" + names_.back() + "` are not contiguous");
        }
        const auto size = static_cast<size_t>(buffers_.back().view()->len);
        files_.push_back({names_.back().c_str(), buffers_.back().ptr, size});
    }
}

}  // namespace lemma::python

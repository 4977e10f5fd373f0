// SPDX-License-Identifier: Apache-2.0
// onnx/import/attributes.h — the attributes of one call by name. References to attributes of a
// function are resolved.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/program/value.h"
#include "onnx/model.h"

namespace lemma::onnx {

class Attributes {
public:
    bool has(const std::string& name) const { return values_.contains(name); }
    void set(const std::string& name, ir::Value value) { values_[name] = std::move(value); }
    void set_int(const std::string& name, int64_t value) { set(name, ir::Scalar(value)); }
    void set_text(const std::string& name, std::string value) {
        set(name, ir::Scalar(std::move(value)));
    }
    void set_ints(const std::string& name, const std::vector<int64_t>& values);
    void erase(const std::string& name) { values_.erase(name); }
    void rename(const std::string& from, const std::string& to);

    // Empty if it is missing or has another type.
    std::optional<int64_t> integer(const std::string& name) const;
    std::optional<double> real(const std::string& name) const;
    std::optional<std::string> text(const std::string& name) const;
    std::optional<std::vector<ir::Scalar>> list(const std::string& name) const;
    std::optional<std::vector<int64_t>> ints(const std::string& name) const;

    const std::map<std::string, ir::Value>& all() const { return values_; }

private:
    std::map<std::string, ir::Value> values_;
};

// The value of an attribute, unless it is a tensor, graph or type.
std::optional<ir::Value> plain_value(const Attribute& attribute);

}  // namespace lemma::onnx

// SPDX-License-Identifier: Apache-2.0
// edit/names.h — finds what a user names in a model: a tensor, an item of a pack, or an operation
// by its label.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/loaded_model.h"

namespace lemma::edit {

// A tensor with the name that its port gets.
struct NamedTensor {
    std::string name;
    ir::TensorId tensor;
};

enum class Side { From, To };  // of an operation: its inputs or its results

class Names {
public:
    explicit Names(const model::LoadedModel& model);

    // The tensors that the words name, each once. A word that is no name lists names, separated by
    // commas. The error says what is unknown, with the nearest name.
    Result<std::vector<NamedTensor>> find(const std::vector<std::string>& words, Side side) const;

private:
    Result<void> add(const std::string& name, Side side, std::vector<NamedTensor>& found) const;
    bool is_known(const std::string& name) const;
    std::string suggestion(const std::string& name) const;

    const model::LoadedModel& model_;
    std::map<std::string, std::vector<NamedTensor>> ports_;  // inputs and outputs, whole packs
    std::map<std::string, ir::TensorId> tensors_;
    std::map<std::string, std::vector<ir::OpId>> labels_;
    std::set<std::string> inside_;                   // tensors and labels in loops and branches
    std::map<std::string, std::string> file_names_;  // the file's names, by those of the program
};

}  // namespace lemma::edit

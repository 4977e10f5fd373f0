// SPDX-License-Identifier: Apache-2.0
// serve/core/registry.h — the models of the server by name and version: their arguments, and their
// loading in the background.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "serve/core/scheduler.h"

namespace lemma::serve {

// A model as the user names it.
struct ModelPlace {
    std::string name;
    std::string version;
    std::string path;
};

// `PATH`, `NAME=PATH` or `NAME:VERSION=PATH`. A folder with folders named by numbers has a version
// in each of them. An error names the argument.
Result<std::vector<ModelPlace>> find_places(const std::string& argument);

// One version of a model. It is complete when `ready` holds.
struct Version {
    ModelPlace place;
    ModelMetrics metrics;
    std::unique_ptr<ServedModel> model;
    std::unique_ptr<Scheduler> scheduler;
    std::atomic<bool> ready = false;
};

class Registry {
public:
    // An error if a version appears twice.
    static Result<std::unique_ptr<Registry>> create(std::vector<ModelPlace> places);

    // The version of that name, or the highest one; null if there is none.
    Version* find(const std::string& name, const std::string& version) const;
    std::vector<std::string> versions(const std::string& name) const;  // ascending
    const std::vector<std::unique_ptr<Version>>& all() const { return versions_; }
    bool ready() const;

private:
    std::vector<std::unique_ptr<Version>> versions_;  // by name, then ascending
};

// Numbers by their value, before other words.
bool version_before(const std::string& a, const std::string& b);

}  // namespace lemma::serve

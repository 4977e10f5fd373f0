// SPDX-License-Identifier: Apache-2.0
// driver/certify/witness.h — looks for inputs within the ranges that give infinities or NaN. One
// such input refutes what the bounds could not establish.
#pragma once

#include <map>
#include <string>

#include "certify/certificate.h"
#include "driver/certify/ranges.h"
#include "interpret/array.h"

namespace lemma::driver {

class WitnessSearch {
public:
    WitnessSearch(const ir::Program& program, const Ranges& ranges, certify::Certificate& found);

    static constexpr int kSamples = 24;
    // Corners of the ranges first, then random points. Empty if an input cannot be made.
    interpret::NamedArrays sample(int number);
    // The results of a run, in the order of execution.
    void see(const std::string& tensor, const interpret::Array& array);

private:
    void own(ir::OpId id, size_t node);
    void own(ir::GraphId id, size_t node);
    void refute(certify::Disposition& disposition, const std::string& tensor, const char* what);

    const ir::Program& program_;
    const Ranges& ranges_;
    certify::Certificate& certificate_;
    std::map<std::string, size_t> nodes_;  // by tensor
    std::string described_;                // the current sample
    bool seen_ = false;                    // trouble in the current sample
};

}  // namespace lemma::driver

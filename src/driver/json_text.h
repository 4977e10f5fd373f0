// driver/json_text.h — JSON for people too: what fits on a line is not broken up.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lemma::driver {

// Ends with a line end. Bytes that are not UTF-8 become replacement characters.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace lemma::driver

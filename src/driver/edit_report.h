// SPDX-License-Identifier: Apache-2.0
// driver/edit_report.h — options and reports that `extract`, `simplify` and `merge` share.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "convert/convert.h"
#include "driver/commands/command.h"

namespace lemma::driver {

inline constexpr const char* kOutHelp =
    "a folder or an archive (.tar, .tgz, .tar.bz2, .tar.xz, .zip) to write; ONNX: a file";

struct EditOptions {
    ProblemStyle style;
    bool no_data = false;
};

// Options of the output and of loading. `format` is the option that names the format of OUT.
void declare_edit(Arguments& arguments,
                  convert::ConvertRequest& files,
                  EditOptions& options,
                  const std::string& format);
void prepare(convert::ConvertRequest& files, const EditOptions& options);

// What a command did: text in columns, or members of the JSON document.
class EditReport {
public:
    EditReport();
    ~EditReport();

    void line(const std::string& name, const std::string& value);
    // `operations  31 → 24`
    void size(const std::string& name, int64_t before, int64_t after);
    void number(const std::string& name, int64_t value);
    void real(const std::string& name, double value);
    void list(const std::string& name, const std::vector<std::string>& values);

    // The report, if the command succeeded; the problems.
    Outcome outcome(model::Finding finding, const EditOptions& options, Terminal terminal) const;

private:
    std::vector<std::pair<std::string, std::string>> rows_;
    std::unique_ptr<nlohmann::ordered_json> json_;
};

}  // namespace lemma::driver

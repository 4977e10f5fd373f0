// SPDX-License-Identifier: Apache-2.0
// lsp/language/operators.h — operators as editors describe them: name, parameters, documentation
// and place. Those of the standard library, and those of other files.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lsp/language/view.h"
#include "lsp/workspace/workspace.h"

namespace lemma::lsp {

struct ParamInfo {
    std::string name;
    std::string type;
    std::string value;  // the default; may be empty
    bool optional = false;
    TextSpan place;  // of the name
};

struct OperatorInfo {
    Language language{};
    bool graph = false;
    std::string name;           // as a call writes it: `nn.conv`
    std::string documentation;  // the comment above it
    std::vector<ParamInfo> types, attributes, inputs, outputs;
    TextSpan place;  // of its name

    const ParamInfo* attribute(std::string_view wanted) const;
};

// The definition of a view with this name.
std::optional<OperatorInfo> describe_operator(const View& view,
                                              std::string_view name,
                                              const std::string& module);

// `output = nn.conv<T>{stride, padding?}(input, filter, bias?)`
std::string call_line(const OperatorInfo& op);
// The whole interface, in the language's own form.
std::string signature_text(const OperatorInfo& op);

// A file: its address, and what it contains.
struct ViewedFile {
    std::string uri;
    std::string path;  // of a file, or `stdlib/…`
    std::shared_ptr<const View> view;
};

// Views of texts, each made once.
class Views {
public:
    std::shared_ptr<const View> of(const Document& document);
    std::shared_ptr<const View> of_file(const Workspace& workspace, const std::string& path);
    // The files of a module, as the text at `path` imports it: of the model, else standard.
    std::vector<ViewedFile> module(const Workspace& workspace,
                                   const std::string& path,
                                   const std::string& name);
    // The file that declares the operations of NNEF 1.0.
    ViewedFile nnef1_standard();
    // The names of modules that the text at `path` can import.
    std::vector<std::string> module_names(const Workspace& workspace, const std::string& path);

    // What a name of another module is. `in`: the document that names it.
    struct Found {
        ViewedFile file;
        OperatorInfo op;
    };
    std::optional<Found> find(const Workspace& workspace,
                              const Document& in,
                              const External& external);

private:
    std::shared_ptr<const View> standard(std::string_view file);

    static constexpr size_t kMaxViews = 256;
    std::map<std::string, std::shared_ptr<const View>> views_;  // by address or path
    std::map<std::string, std::shared_ptr<const View>, std::less<>> standard_;  // by name
};

// The folder at which the imports of a file begin.
std::string import_folder(const Workspace& workspace, const std::string& path);

}  // namespace lemma::lsp

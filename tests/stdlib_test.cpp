// The standard modules are checked here, and only here: a check of a model takes them as good.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/render.h"
#include "sknd/modules/embedded.h"
#include "sknd/modules/modules.h"
#include "sknd/types/types.h"

namespace lemma::sknd {

namespace {

// A main module that imports every standard one.
std::string import_all() {
    std::string text;
    for (const EmbeddedFile& file : embedded_files()) {
        std::string module(file.path.substr(0, file.path.rfind('.')));
        for (char& c : module) c = c == '/' ? '.' : c;
        text += fmt::format("import {};\n", module);
    }
    return text;
}

TEST(StandardLibrary, HasNoErrorsAndNoWarnings) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("main.sknd", import_all());
    const Package package =
        load_package(sources, file, "main", no_reader(), {.library = true}, diag);
    EXPECT_EQ(package.modules.size(), embedded_files().size() + 1);
    check_types(package, {.check_standard_modules = true}, diag);
    EXPECT_TRUE(diag.items().empty()) << diag::render(sources, diag, {});
}

}  // namespace

}  // namespace lemma::sknd

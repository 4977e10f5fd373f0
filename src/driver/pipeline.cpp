#include "driver/pipeline.h"

#include "driver/files.h"

namespace lemma::driver {

namespace {

sknd::Package main_module_only(const ModelFile& model,
                               const CheckOptions& options,
                               diag::FileId file,
                               const diag::SourceMap& sources,
                               Diagnostics& diag) {
    sknd::LoadedModule main;
    main.name = model.name;
    main.module = sknd::parse_module(sources, file, options.parse, diag);
    sknd::Package package;
    package.modules.push_back(std::move(main));
    return package;
}

}  // namespace

Result<CheckedModel> check_sknd(const ModelFile& model,
                                const CheckOptions& options,
                                diag::SourceMap& sources,
                                Diagnostics& diag) {
    LEMMA_TRY(std::string text, read_text(model.path));
    const diag::FileId file = sources.add(model.path, std::move(text));
    CheckedModel result{.file = file};
    if (options.syntax_only) {
        result.package = main_module_only(model, options, file, sources, diag);
        return result;
    }
    const sknd::LoadOptions load = {.limits = options.parse, .library = options.library};
    const sknd::ModuleReader reader = sknd::folder_reader(model.folder);
    result.package = sknd::load_package(sources, file, model.name, reader, load, diag);
    result.types = sknd::check_types(result.package, {.limits = options.eval}, diag);
    return result;
}

}  // namespace lemma::driver

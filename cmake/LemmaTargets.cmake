# SPDX-License-Identifier: Apache-2.0
# lemma_precompiled(target): the target compiles with the one precompiled header of the libraries,
# cmake/precompiled.h. It is made once: by the first target.
function(lemma_precompiled target)
  get_property(first GLOBAL PROPERTY lemma_precompiled)
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled.h)
    set_property(GLOBAL PROPERTY lemma_precompiled ${target})
  endif()
endfunction()

# lemma_joined(target sources…): with LEMMA_JOIN, several of the sources are compiled as one, which
# takes about half the time for all of them (tools/join_sources.py).
function(lemma_joined target)
  if(NOT LEMMA_JOIN)
    return()
  endif()
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/join_sources.py ${ARGN}
                  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
                  OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A class of a source may hold types of the unnamed namespace there; g++ warns since the source is
  # included.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  string(REPLACE "\n" ";" groups "${groups}")
  set(number 0)
  foreach(group ${groups})
    string(REPLACE "|" ";" group "${group}")
    set_source_files_properties(${group} PROPERTIES UNITY_GROUP ${number})
    math(EXPR number "${number} + 1")
  endforeach()
endfunction()

# lemma_library(sknd/eval USES ir LINKS … TEST sknd_test): the static library lemma_sknd_eval from the
# sources in src/sknd/eval. The *_test.cpp beside them go into the test program, which lemma_tests
# makes; without TEST it is sknd_eval_test. COLD code runs once for each command: it is compiled with
# -O1, which takes less time.
function(lemma_library folder)
  cmake_parse_arguments(ARG "SOURCES_BELOW;COLD" "TEST" "USES;LINKS;EXCEPT" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(dir ${CMAKE_SOURCE_DIR}/src/${folder})
  if(ARG_SOURCES_BELOW)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cpp)
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cpp)
  endif()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  foreach(except ${ARG_EXCEPT})
    list(REMOVE_ITEM sources ${dir}/${except})
  endforeach()
  if(NOT sources)
    file(WRITE ${CMAKE_BINARY_DIR}/empty.cpp "")
    set(sources ${CMAKE_BINARY_DIR}/empty.cpp)
  endif()

  add_library(lemma_${name} STATIC ${sources})
  lemma_precompiled(lemma_${name})
  lemma_joined(lemma_${name} ${sources})
  if(ARG_COLD)
    target_compile_options(lemma_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  target_include_directories(lemma_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(lemma_${name} PUBLIC fmt::fmt PRIVATE lemma_options)
  foreach(used ${ARG_USES})
    target_link_libraries(lemma_${name} PUBLIC lemma_${used})
  endforeach()
  target_link_libraries(lemma_${name} PRIVATE ${ARG_LINKS})

  if(LEMMA_TESTS AND tests)
    if(NOT ARG_TEST)
      set(ARG_TEST ${name}_test)
    endif()
    set_property(GLOBAL APPEND PROPERTY lemma_test_programs ${ARG_TEST})
    set_property(GLOBAL APPEND PROPERTY ${ARG_TEST}_sources ${tests})
    set_property(GLOBAL APPEND PROPERTY ${ARG_TEST}_uses ${name})
  endif()
endfunction()

# lemma_tests(): the test programs of all libraries so far.
function(lemma_tests)
  get_property(programs GLOBAL PROPERTY lemma_test_programs)
  list(REMOVE_DUPLICATES programs)
  foreach(program ${programs})
    get_property(sources GLOBAL PROPERTY ${program}_sources)
    get_property(uses GLOBAL PROPERTY ${program}_uses)
    lemma_test(${program} SOURCES ${sources} USES ${uses})
  endforeach()
endfunction()

# lemma_test(name SOURCES … USES …): one GoogleTest program, known to ctest under its name.
function(lemma_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;LINKS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE lemma_options fmt::fmt GTest::gtest_main ${ARG_LINKS})
  target_compile_options(${name} PRIVATE -O0)  # tests are compiled more often than they run
  target_compile_definitions(${name} PRIVATE LEMMA_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  get_property(first GLOBAL PROPERTY lemma_precompiled_test)
  if(first)
    target_precompile_headers(${name} REUSE_FROM ${first})
  else()
    target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled.h
                              <gtest/gtest.h>)
    set_property(GLOBAL PROPERTY lemma_precompiled_test ${name})
  endif()
  foreach(used ${ARG_USES})
    target_link_libraries(${name} PRIVATE lemma_${used})
  endforeach()
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# lemma_embed(target folder): every *.sknd and *.nnef below the folder becomes part of the library
# (sknd/modules/embedded.h).
function(lemma_embed target folder)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.sknd
       ${CMAKE_SOURCE_DIR}/${folder}/*.nnef)
  set(output ${CMAKE_BINARY_DIR}/generated/embedded_${folder}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed.py
            --root ${CMAKE_SOURCE_DIR}/${folder} --output ${output} ${files}
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/tools/embed.py
    COMMENT "Embedding ${folder}/")
  target_sources(lemma_${target} PRIVATE ${output})
endfunction()

# lemma_embed_pages(target folder): every *.md of the folder becomes part of the library
# (driver/explain/pages.h).
function(lemma_embed_pages target folder)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.md)
  set(output ${CMAKE_BINARY_DIR}/generated/error_pages.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_pages.py --output ${output} ${files}
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/tools/embed_pages.py
    COMMENT "Embedding ${folder}/")
  target_sources(lemma_${target} PRIVATE ${output})
endfunction()

# lemma_embed_templates(target folder): every file in the folders of this folder becomes part of the
# library (driver/new/templates.h).
function(lemma_embed_templates target folder)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*/*)
  set(output ${CMAKE_BINARY_DIR}/generated/templates.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_templates.py
            --output ${output} --folder ${CMAKE_SOURCE_DIR}/${folder}
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/tools/embed_templates.py
    COMMENT "Embedding ${folder}/")
  target_sources(lemma_${target} PRIVATE ${output})
endfunction()

# lemma_embed_examples(target folder): the models and tests in the folders of this folder become part
# of the library (ops/examples.h).
function(lemma_embed_examples target folder)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*/*.sknd
       ${CMAKE_SOURCE_DIR}/${folder}/*/*.test)
  set(output ${CMAKE_BINARY_DIR}/generated/operator_examples.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_examples.py
            --output ${output} --folder ${CMAKE_SOURCE_DIR}/${folder}
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/tools/embed_examples.py
    COMMENT "Embedding ${folder}/")
  target_sources(lemma_${target} PRIVATE ${output})
endfunction()

# lemma_digest(target NAME files…): the constant NAME, a digest of LLVM's version and the files.
function(lemma_digest target name)
  set(output ${CMAKE_BINARY_DIR}/generated/${name}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAME=${name} "-DFILES=${ARGN}"
            -DVERSION=${LLVM_PACKAGE_VERSION} -P ${CMAKE_SOURCE_DIR}/cmake/source_digest.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/source_digest.cmake
    VERBATIM COMMENT "Digest of sources: ${name}")
  target_sources(lemma_${target} PRIVATE ${output})
endfunction()

# lemma_engine_version(target): the constants of codegen/engine_version.h. They are digests of the
# sources that decide which code a kernel becomes, which plan a program becomes, and which program a
# model becomes.
function(lemma_engine_version target)
  set(src ${CMAKE_SOURCE_DIR}/src)
  file(GLOB code CONFIGURE_DEPENDS ${src}/codegen/llvm/*.cpp ${src}/codegen/llvm/*.h)
  file(GLOB_RECURSE plan CONFIGURE_DEPENDS ${src}/loop/*.cpp ${src}/loop/*.h)
  file(GLOB shared CONFIGURE_DEPENDS ${src}/codegen/*.cpp ${src}/engine/*.cpp ${src}/engine/*.h
       ${src}/ir/program/*.h ${src}/ir/program/stored_program.cpp
       ${src}/ir/symbols/*.h ${src}/ir/symbols/*.cpp)
  list(APPEND code ${src}/codegen/machine_target.cpp ${src}/loop/ir/bounds.cpp
       ${src}/loop/ir/int_ranges.cpp ${src}/loop/ir/node.h
       ${src}/loop/schedule/share.cpp)
  list(APPEND plan ${shared} ${src}/base/archive.h)
  foreach(folder base diag tensor ir sknd onnx model)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${src}/${folder}/*.cpp ${src}/${folder}/*.h)
    list(APPEND model ${found})
  endforeach()
  file(GLOB_RECURSE library CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/stdlib/*.sknd)
  list(APPEND model ${library} ${src}/session/program_cache.cpp)
  list(FILTER code EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER plan EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER model EXCLUDE REGEX "_test\\.cpp$")
  lemma_digest(${target} kEngineVersion ${code})
  lemma_digest(${target} kPlanVersion ${plan})
  lemma_digest(${target} kModelVersion ${model})
endfunction()

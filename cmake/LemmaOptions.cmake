# SPDX-License-Identifier: Apache-2.0
# Compiler settings shared by every target.
# Without options: a release as users install it. The presets choose what developers build.
option(LEMMA_TESTS "Build the tests" OFF)
option(LEMMA_FUZZ "Build the fuzz targets (clang only)" OFF)
option(LEMMA_BENCH "Build the benchmarks" OFF)
option(LEMMA_SHARED "Build liblemma.so and what is installed" ON)
option(LEMMA_JOIN "Compile several sources as one: all of them in half the time, one of them slower" OFF)
option(LEMMA_COVERAGE "Instrument for coverage" OFF)
set(LEMMA_SANITIZE "" CACHE STRING "Sanitizers, such as address,undefined")
set(LEMMA_DEVELOPER OFF)
if(LEMMA_TESTS OR LEMMA_FUZZ OR LEMMA_BENCH)
  set(LEMMA_DEVELOPER ON)
endif()
option(LEMMA_WERROR "Warnings are errors" ${LEMMA_DEVELOPER})
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "The kind of build" FORCE)
endif()

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(LEMMA_SHARED)
  # With hidden visibility, position-independent code is as fast: calls stay direct and can be
  # inlined.
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # With these it caches sources that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_library(lemma_options INTERFACE)
target_compile_options(lemma_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow
  "$<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Woverloaded-virtual>" -Wimplicit-fallthrough
  -Wno-missing-field-initializers  # `{.brief = true}` omits fields with defaults
  $<$<BOOL:${LEMMA_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 falsely reports uninitialised and dangling members in copies of std::variant and
  # std::optional (GCC bug 105562 and related ones).
  target_compile_options(lemma_options INTERFACE -Wno-maybe-uninitialized)
  # At -O1 it takes `new` of LLVM's global variables for that of the library, and warns.
  target_compile_options(lemma_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-mismatched-new-delete>)
  # The vectoriser of straight-line code in g++ 12 drops the conversions of two neighbouring doubles
  # to float and back, which are our roundings.
  target_compile_options(lemma_options INTERFACE -fno-tree-slp-vectorize)
else()
  # clang warns about functions that std::stable_sort of libstdc++ 12 uses.
  target_compile_options(lemma_options INTERFACE -Wno-deprecated-declarations)
endif()
if(LEMMA_SANITIZE)
  target_compile_options(lemma_options INTERFACE
    -fsanitize=${LEMMA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lemma_options INTERFACE -fsanitize=${LEMMA_SANITIZE})
endif()
if(LEMMA_FUZZ)
  target_compile_options(lemma_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(LEMMA_COVERAGE)
  target_compile_options(lemma_options INTERFACE --coverage)
  target_link_options(lemma_options INTERFACE --coverage)
endif()

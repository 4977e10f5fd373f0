# SPDX-License-Identifier: Apache-2.0
# lemma_jit: the code generator with LLVM's shared library, as Debian's packages have it.
set(sources src/codegen/llvm/library.cpp src/base/part_version.cpp src/driver/fmt.cpp)
add_library(lemma_jit MODULE ${sources})
target_link_libraries(lemma_jit PRIVATE lemma_codegen_llvm lemma_options)
target_link_options(lemma_jit PRIVATE -Wl,--as-needed)
set_target_properties(lemma_jit PROPERTIES PREFIX "")

# The archives are found by llvm-config: LLVM's CMake targets bring shared libraries with them.
execute_process(
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libs
          x86 aarch64 nvptx passes core codegen mc irreader orcjit
  OUTPUT_VARIABLE archives OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  return()
endif()
separate_arguments(archives)

# lemma_jit_static: the same with the needed part of LLVM linked in, for machines without LLVM 19.
add_library(lemma_jit_static MODULE EXCLUDE_FROM_ALL ${sources})
set_target_properties(lemma_jit_static PROPERTIES PREFIX "" OUTPUT_NAME lemma_jit
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/static
                      SKIP_BUILD_RPATH ON)
target_link_directories(lemma_jit_static PRIVATE ${LLVM_LIBRARY_DIRS})
target_link_libraries(lemma_jit_static PRIVATE
  lemma_options $<TARGET_FILE:lemma_codegen_llvm> lemma_loop
  -Wl,--start-group ${archives} -Wl,--end-group -l:libz.a -l:libzstd.a rt ${CMAKE_DL_LIBS} m)
target_link_options(lemma_jit_static PRIVATE -Wl,--as-needed -Wl,--gc-sections
                    -Wl,--exclude-libs,ALL -Wl,-z,defs -s)
add_dependencies(lemma_jit_static lemma_codegen_llvm)

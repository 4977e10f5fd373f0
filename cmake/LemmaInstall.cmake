# SPDX-License-Identifier: Apache-2.0
# What is installed where, and the target `product` of all of it. Everything is found relative to the
# installed files, so that a prefix can be moved.
include(CMakePackageConfigHelpers)

set(LEMMA_PARTS_DIR ${CMAKE_INSTALL_LIBDIR}/lemma)  # as base/loadable_part.cpp searches
set(LEMMA_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Lemma)

# ---- The program, the library and the parts that they load ---------------------------------------

add_custom_target(product ALL DEPENDS lemma lemma_shared lemma_jit)
install(TARGETS lemma RUNTIME COMPONENT program)
install(TARGETS lemma_shared EXPORT LemmaTargets
        LIBRARY COMPONENT library NAMELINK_COMPONENT development
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS lemma_jit LIBRARY DESTINATION ${LEMMA_PARTS_DIR} COMPONENT llvm)
if(TARGET lemma_serve)
  add_dependencies(product lemma_serve)
  install(TARGETS lemma_serve LIBRARY DESTINATION ${LEMMA_PARTS_DIR} COMPONENT serve)
endif()
if(TARGET lemma_view_part)
  add_dependencies(product lemma_view_part)
  install(TARGETS lemma_view_part LIBRARY DESTINATION ${LEMMA_PARTS_DIR} COMPONENT program)
endif()

# ---- For programs that use the library -----------------------------------------------------------

install(DIRECTORY include/lemma TYPE INCLUDE COMPONENT development)
set_target_properties(lemma_shared PROPERTIES EXPORT_NAME lemma)
target_include_directories(lemma_shared INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
install(EXPORT LemmaTargets NAMESPACE Lemma:: DESTINATION ${LEMMA_CMAKE_DIR}
        COMPONENT development)
configure_package_config_file(cmake/LemmaConfig.cmake.in ${CMAKE_BINARY_DIR}/LemmaConfig.cmake
                              INSTALL_DESTINATION ${LEMMA_CMAKE_DIR}
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/LemmaConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/LemmaConfig.cmake ${CMAKE_BINARY_DIR}/LemmaConfigVersion.cmake
        DESTINATION ${LEMMA_CMAKE_DIR} COMPONENT development)

# The file is in a folder of the prefix, which may be several folders deep.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
           BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE LEMMA_PC_TO_PREFIX)
configure_file(cmake/lemma.pc.in ${CMAKE_BINARY_DIR}/lemma.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/lemma.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)

# ---- Python --------------------------------------------------------------------------------------

if(TARGET lemma_python)
  # Below /usr it is where Debian's packages have their modules. The module finds the library by
  # itself; packages of the system set CMAKE_SKIP_INSTALL_RPATH.
  set(LEMMA_PYTHON_DIR lib/python3/dist-packages)
  if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    execute_process(
      COMMAND ${LEMMA_PYTHON_EXECUTABLE} -c "import sys, sysconfig as s; print('lib/python%d.%d/%s' % (
              *sys.version_info[:2], s.get_path('platlib').split('/')[-1]))"
      OUTPUT_VARIABLE LEMMA_PYTHON_DIR OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  endif()
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY ${LEMMA_PYTHON_DIR}/lemma
             OUTPUT_VARIABLE to_library)
  set_target_properties(lemma_python PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
  add_dependencies(product lemma_python)
  install(TARGETS lemma_python LIBRARY DESTINATION ${LEMMA_PYTHON_DIR}/lemma COMPONENT python)
  install(DIRECTORY python/lemma DESTINATION ${LEMMA_PYTHON_DIR} COMPONENT python
          FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed"
          PATTERN "__pycache__" EXCLUDE)
endif()

# ---- Documents -----------------------------------------------------------------------------------

# Man pages and completions, as the program writes them.
if(TARGET lemma_share)
  add_dependencies(product lemma_share)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR}
          COMPONENT program)
endif()
install(FILES LICENSE README.md CHANGELOG.md SECURITY.md TYPE DOC COMPONENT program)
install(DIRECTORY docs examples TYPE DOC COMPONENT program
        PATTERN "__pycache__" EXCLUDE)

# SPDX-License-Identifier: Apache-2.0
# The page of `lemma view`, from viewer/, as part of lemma_view. npm fetches its packages into a copy
# of the folder below the build folder; nothing is written into the sources. LEMMA_VIEWER=OFF builds
# Lemma without the page. LEMMA_VIEWER_PAGE names a page that exists already.
find_program(LEMMA_NPM npm)
find_program(LEMMA_NODE node)
set(LEMMA_VIEWER_PAGE "" CACHE FILEPATH "A page for `lemma view` that was made before")
set(default OFF)
if(LEMMA_NPM AND LEMMA_NODE AND EXISTS ${CMAKE_SOURCE_DIR}/viewer/package.json)
  set(default ON)
endif()
option(LEMMA_VIEWER "Build the page of `lemma view` (needs npm)" ${default})

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(embedded ${CMAKE_BINARY_DIR}/generated/viewer_page.cpp)
set(page)
if(LEMMA_VIEWER_PAGE)
  set(page ${LEMMA_VIEWER_PAGE})
elseif(LEMMA_VIEWER AND NOT (LEMMA_NPM AND LEMMA_NODE))
  message(FATAL_ERROR "`lemma view` needs npm and node for its page (-DLEMMA_VIEWER=OFF: without it)")
elseif(LEMMA_VIEWER)
  set(page ${CMAKE_BINARY_DIR}/viewer/dist/viewer.html)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/viewer/src/*
       ${CMAKE_SOURCE_DIR}/viewer/*.mjs ${CMAKE_SOURCE_DIR}/viewer/*.json
       ${CMAKE_SOURCE_DIR}/viewer/*.html ${CMAKE_SOURCE_DIR}/viewer/*.css)
  list(FILTER sources EXCLUDE REGEX "/viewer/(node_modules|dist|tests)/")
  add_custom_command(
    OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR}/viewer -DCOPY=${CMAKE_BINARY_DIR}/viewer
            -DNPM=${LEMMA_NPM} -DNODE=${LEMMA_NODE} -P ${CMAKE_SOURCE_DIR}/cmake/build_viewer.cmake
    DEPENDS ${sources} ${CMAKE_SOURCE_DIR}/cmake/build_viewer.cmake
    VERBATIM COMMENT "Building the page of `lemma view`")
else()
  message(STATUS "no page for `lemma view`: npm was not found, or LEMMA_VIEWER is off")
endif()
add_custom_command(
  OUTPUT ${embedded}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_viewer.py --output ${embedded} ${page}
  DEPENDS ${page} ${CMAKE_SOURCE_DIR}/tools/embed_viewer.py
  VERBATIM COMMENT "Embedding the page of `lemma view`")
target_sources(lemma_view PRIVATE ${embedded})

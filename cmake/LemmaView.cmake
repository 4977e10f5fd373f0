# SPDX-License-Identifier: Apache-2.0
# The page of `lemma view`, from viewer/, as part of lemma_view. npm fetches its packages into a copy
# of the folder below the build folder; nothing is written into the sources. LEMMA_VIEWER=OFF builds
# Lemma without the page. LEMMA_VIEWER_PAGE names a page that exists already.
find_program(LEMMA_NPM npm)
find_program(LEMMA_NODE node)
set(LEMMA_VIEWER_PAGE "" CACHE FILEPATH "A page for `lemma view` that was made before")
set(default OFF)
if(LEMMA_SHARED AND LEMMA_NPM AND LEMMA_NODE AND EXISTS ${CMAKE_SOURCE_DIR}/viewer/package.json)
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
  message(STATUS "no page for `lemma view`: LEMMA_VIEWER is off, or npm and viewer/ were not found")
endif()
set(LEMMA_HAS_VIEWER FALSE)
if(page)
  set(LEMMA_HAS_VIEWER TRUE)
endif()
add_custom_command(
  OUTPUT ${embedded}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_viewer.py --output ${embedded} ${page}
  DEPENDS ${page} ${CMAKE_SOURCE_DIR}/tools/embed_viewer.py
  VERBATIM COMMENT "Embedding the page of `lemma view`")
target_sources(lemma_view PRIVATE ${embedded})

# The server of the page, in a part of its own that the program loads (src/driver/commands/view.cpp).
# Builds with sanitizers have the rest alone.
find_library(LEMMA_MICROHTTPD microhttpd)
find_path(LEMMA_MICROHTTPD_INCLUDE microhttpd.h)
if(LEMMA_SHARED AND LEMMA_MICROHTTPD AND LEMMA_MICROHTTPD_INCLUDE)
  add_library(lemma_view_part MODULE src/view/net/library.cpp src/view/net/server.cpp
              src/base/part_version.cpp src/driver/fmt.cpp)
  target_include_directories(lemma_view_part PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_include_directories(lemma_view_part SYSTEM PRIVATE ${LEMMA_MICROHTTPD_INCLUDE})
  target_compile_options(lemma_view_part PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(lemma_view_part PRIVATE ${LEMMA_MICROHTTPD} lemma_base lemma_options)
  target_link_options(lemma_view_part PRIVATE -Wl,--as-needed -Wl,--no-undefined
                      -Wl,--exclude-libs,ALL)
  set_target_properties(lemma_view_part PROPERTIES PREFIX "" OUTPUT_NAME lemma_view)
elseif(LEMMA_SHARED)
  message(STATUS "no libmicrohttpd: `lemma view` writes pages (--html) but does not serve them")
endif()

# SPDX-License-Identifier: Apache-2.0
# The page of `lemma view`, from viewer/, as part of lemma_view. npm fetches its packages into a copy
# of the folder below the build folder; nothing is written into the sources. LEMMA_VIEWER=OFF builds
# Lemma without the page, LEMMA_VIEWER=ON requires it. By default it is built if npm is there, but not
# in builds with sanitizers. LEMMA_VIEWER_PAGE names a page that exists already.
set(LEMMA_VIEWER AUTO CACHE STRING "Build the page of `lemma view` with npm: ON, OFF or AUTO")
set(LEMMA_VIEWER_PAGE "" CACHE FILEPATH "A page for `lemma view` that was made before")
find_program(LEMMA_NPM npm)
find_program(LEMMA_NODE node)
set(viewer ${CMAKE_SOURCE_DIR}/viewer)
set(build_viewer FALSE)
if(LEMMA_NPM AND LEMMA_NODE AND EXISTS ${viewer}/package.json AND NOT LEMMA_VIEWER STREQUAL "OFF"
   AND (LEMMA_SHARED OR NOT LEMMA_VIEWER STREQUAL "AUTO"))
  set(build_viewer TRUE)
endif()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(embedded ${CMAKE_BINARY_DIR}/generated/viewer_page.cpp)
set(page)
if(LEMMA_VIEWER_PAGE)
  set(page ${LEMMA_VIEWER_PAGE})
elseif(build_viewer)
  set(page ${CMAKE_BINARY_DIR}/viewer/dist/viewer.html)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${viewer}/src/*)
  file(GLOB files CONFIGURE_DEPENDS ${viewer}/*.mjs ${viewer}/*.json)
  add_custom_command(
    OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${viewer} -DCOPY=${CMAKE_BINARY_DIR}/viewer
            -DNPM=${LEMMA_NPM} -DNODE=${LEMMA_NODE} -P ${CMAKE_SOURCE_DIR}/cmake/build_viewer.cmake
    DEPENDS ${sources} ${files} ${CMAKE_SOURCE_DIR}/cmake/build_viewer.cmake
    VERBATIM COMMENT "Building the page of `lemma view`")
elseif(LEMMA_VIEWER STREQUAL "AUTO" OR LEMMA_VIEWER STREQUAL "OFF")
  message(STATUS "no page for `lemma view`: LEMMA_VIEWER is off, or there is no npm and node")
else()
  message(FATAL_ERROR "the page of `lemma view` needs npm and node (-DLEMMA_VIEWER=OFF: without it)")
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

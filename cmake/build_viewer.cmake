# SPDX-License-Identifier: Apache-2.0
# Makes COPY/dist/viewer.html from a copy of SOURCE. Packages are fetched again only if the list of
# them changes.
include(${CMAKE_CURRENT_LIST_DIR}/fetch_packages.cmake)
file(MAKE_DIRECTORY ${COPY})
file(COPY ${SOURCE}/ DESTINATION ${COPY} PATTERN node_modules EXCLUDE PATTERN dist EXCLUDE)
fetch_packages(${NPM} ${COPY} "; -DLEMMA_VIEWER=OFF builds Lemma without the page, \
-DLEMMA_VIEWER_PAGE=FILE with one that was built before")
execute_process(COMMAND ${NODE} build.mjs --out ${COPY}/dist WORKING_DIRECTORY ${COPY}
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${COPY}/dist/viewer.html)
  message(FATAL_ERROR "viewer/build.mjs did not write viewer.html")
endif()

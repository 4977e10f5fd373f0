# SPDX-License-Identifier: Apache-2.0
# Builds the site into OUT, in COPY, a copy of site/ with its npm packages, and checks its links. Packages
# are fetched again only if the list of them changes. BROWSER=ON also opens it in a browser.
include(${CMAKE_CURRENT_LIST_DIR}/fetch_packages.cmake)
file(MAKE_DIRECTORY ${COPY})
file(REMOVE_RECURSE ${COPY}/lib ${COPY}/theme ${COPY}/tests)
file(COPY ${ROOT}/site/ DESTINATION ${COPY} PATTERN node_modules EXCLUDE PATTERN dist EXCLUDE)
fetch_packages(${NPM} ${COPY} "")
execute_process(COMMAND ${NODE} build.mjs --root ${ROOT} --out ${OUT} WORKING_DIRECTORY ${COPY}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${NODE} check.mjs ${OUT} WORKING_DIRECTORY ${COPY}
                COMMAND_ERROR_IS_FATAL ANY)
if(BROWSER)
  execute_process(COMMAND ${NODE} tests/run.mjs ${OUT} WORKING_DIRECTORY ${COPY}
                  COMMAND_ERROR_IS_FATAL ANY)
endif()

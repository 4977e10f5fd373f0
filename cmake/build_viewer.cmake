# SPDX-License-Identifier: Apache-2.0
# Makes COPY/dist/viewer.html from a copy of SOURCE. Packages are fetched again only if the list of
# them changes.
file(MAKE_DIRECTORY ${COPY})
file(COPY ${SOURCE}/ DESTINATION ${COPY} PATTERN node_modules EXCLUDE PATTERN dist EXCLUDE)
file(SHA256 ${SOURCE}/package-lock.json packages)
set(stamp ${COPY}/node_modules/.lemma-packages)
set(fetched "")
if(EXISTS ${stamp})
  file(READ ${stamp} fetched)
endif()
if(NOT fetched STREQUAL packages)
  execute_process(COMMAND ${NPM} ci --no-audit --no-fund --loglevel=error WORKING_DIRECTORY ${COPY}
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "npm could not fetch the packages of viewer/; -DLEMMA_VIEWER=OFF builds Lemma "
                        "without the page, -DLEMMA_VIEWER_PAGE=FILE with one that was built before")
  endif()
  file(WRITE ${stamp} ${packages})
endif()
execute_process(COMMAND ${NODE} build.mjs --out ${COPY}/dist WORKING_DIRECTORY ${COPY}
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${COPY}/dist/viewer.html)
  message(FATAL_ERROR "viewer/build.mjs did not write viewer.html")
endif()

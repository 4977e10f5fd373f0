# SPDX-License-Identifier: Apache-2.0
# Builds the site into OUT, in COPY, a copy of site/ with its npm packages, and checks its links. Packages
# are fetched again only if the list of them changes. BROWSER=ON also opens it in a browser.
file(MAKE_DIRECTORY ${COPY})
file(REMOVE_RECURSE ${COPY}/lib ${COPY}/theme ${COPY}/tests)
file(COPY ${ROOT}/site/ DESTINATION ${COPY} PATTERN node_modules EXCLUDE PATTERN dist EXCLUDE)
file(SHA256 ${COPY}/package-lock.json packages)
set(stamp ${COPY}/node_modules/.lemma-packages)
set(fetched "")
if(EXISTS ${stamp})
  file(READ ${stamp} fetched)
endif()
if(NOT fetched STREQUAL packages)
  execute_process(COMMAND ${NPM} ci --no-audit --no-fund --loglevel=error WORKING_DIRECTORY ${COPY}
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "npm could not fetch the packages of site/")
  endif()
  file(WRITE ${stamp} ${packages})
endif()
execute_process(COMMAND ${NODE} build.mjs --root ${ROOT} --out ${OUT} WORKING_DIRECTORY ${COPY}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${NODE} check.mjs ${OUT} WORKING_DIRECTORY ${COPY}
                COMMAND_ERROR_IS_FATAL ANY)
if(BROWSER)
  execute_process(COMMAND ${NODE} tests/run.mjs ${OUT} WORKING_DIRECTORY ${COPY}
                  COMMAND_ERROR_IS_FATAL ANY)
endif()

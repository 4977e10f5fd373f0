# SPDX-License-Identifier: Apache-2.0
# fetch_packages(npm folder hint): the npm packages of the folder, fetched again only if the list of
# them changes. The hint is told if that fails.
function(fetch_packages npm folder hint)
  file(SHA256 ${folder}/package-lock.json packages)
  set(stamp ${folder}/node_modules/.lemma-packages)
  set(fetched "")
  if(EXISTS ${stamp})
    file(READ ${stamp} fetched)
  endif()
  if(fetched STREQUAL packages)
    return()
  endif()
  execute_process(COMMAND ${npm} ci --no-audit --no-fund --loglevel=error WORKING_DIRECTORY ${folder}
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "npm could not fetch the packages of ${folder}${hint}")
  endif()
  file(WRITE ${stamp} ${packages})
endfunction()

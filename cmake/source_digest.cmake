# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=… -DNAME=… "-DFILES=a;b" -DVERSION=… -P source_digest.cmake: writes a C++ source
# with a digest of the files and the version, for src/codegen/engine_version.h.
set(all "${VERSION}")
foreach(file ${FILES})
  file(SHA256 ${file} digest)
  string(APPEND all ${digest})
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 16 digest)
file(WRITE ${OUTPUT} "#include \"codegen/engine_version.h\"\n\n"
     "namespace lemma::codegen {\nextern const char* const ${NAME} = \"${digest}\";\n}\n")

# SPDX-License-Identifier: Apache-2.0
# lemma_serve: `lemma serve` with gRPC and libmicrohttpd, on the public library. It is built if the
# libraries are there, but not in builds with sanitizers, which test the core alone. LEMMA_SERVE=OFF
# leaves it out, LEMMA_SERVE=ON requires it.
set(LEMMA_SERVE AUTO CACHE STRING "Build `lemma serve`: ON, OFF or AUTO")
if(LEMMA_SERVE STREQUAL "OFF" OR (LEMMA_SERVE STREQUAL "AUTO" AND NOT LEMMA_SHARED))
  return()
endif()
find_library(LEMMA_MICROHTTPD microhttpd)
find_path(LEMMA_MICROHTTPD_INCLUDE microhttpd.h)
find_library(LEMMA_GRPC grpc++)
find_program(LEMMA_GRPC_PLUGIN grpc_cpp_plugin)
find_package(Protobuf QUIET)
set(found FALSE)
if(LEMMA_MICROHTTPD AND LEMMA_MICROHTTPD_INCLUDE AND LEMMA_GRPC AND LEMMA_GRPC_PLUGIN
   AND Protobuf_FOUND AND Protobuf_PROTOC_EXECUTABLE)
  set(found TRUE)
endif()
if(NOT found AND LEMMA_SERVE STREQUAL "AUTO")
  message(STATUS "no gRPC or libmicrohttpd: `lemma serve` is not built")
  return()
elseif(NOT found)
  message(FATAL_ERROR "`lemma serve` needs libgrpc++-dev protobuf-compiler-grpc libprotobuf-dev "
                      "protobuf-compiler libmicrohttpd-dev")
endif()

# The messages and the service are one translation unit: such code takes long to compile.
set(generated ${CMAKE_BINARY_DIR}/generated/serve)
set(proto ${CMAKE_SOURCE_DIR}/src/serve/net/inference.proto)
file(MAKE_DIRECTORY ${generated})
file(WRITE ${generated}/protocol.cpp.in
     "#include \"inference.pb.cc\"\n#include \"inference.grpc.pb.cc\"\n")
configure_file(${generated}/protocol.cpp.in ${generated}/protocol.cpp COPYONLY)
add_custom_command(
  OUTPUT ${generated}/inference.pb.cc ${generated}/inference.pb.h
         ${generated}/inference.grpc.pb.cc ${generated}/inference.grpc.pb.h
  COMMAND ${Protobuf_PROTOC_EXECUTABLE} -I ${CMAKE_SOURCE_DIR}/src/serve/net
          --cpp_out=${generated} --grpc_out=${generated}
          --plugin=protoc-gen-grpc=${LEMMA_GRPC_PLUGIN} ${proto}
  DEPENDS ${proto}
  COMMENT "Generating the messages of the inference protocol")
set_source_files_properties(${generated}/protocol.cpp PROPERTIES
  OBJECT_DEPENDS "${generated}/inference.pb.cc;${generated}/inference.grpc.pb.cc"
  COMPILE_OPTIONS "-w;-O1")

file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/serve/net/*.cpp)
list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/src/serve/net/library.cpp)
set_source_files_properties(${sources} PROPERTIES
                            OBJECT_DEPENDS ${generated}/inference.grpc.pb.cc)
add_library(lemma_serve_net STATIC ${sources} ${generated}/protocol.cpp)
target_include_directories(lemma_serve_net SYSTEM PRIVATE ${generated} ${LEMMA_MICROHTTPD_INCLUDE})
target_compile_options(lemma_serve_net PRIVATE $<$<CONFIG:Release>:-O1>)
target_link_libraries(lemma_serve_net PUBLIC lemma_serve_core PRIVATE lemma_options
                      ${LEMMA_MICROHTTPD} ${LEMMA_GRPC} ${Protobuf_LIBRARIES} grpc gpr absl_synchronization)
if(LEMMA_SHARED)
  # The program loads it (src/driver/commands/serve.cpp).
  add_library(lemma_serve MODULE src/serve/net/library.cpp src/base/part_version.cpp
              src/driver/fmt.cpp)
  target_link_libraries(lemma_serve PRIVATE lemma_serve_net lemma_shared lemma_options)
  target_link_options(lemma_serve PRIVATE -Wl,--as-needed -Wl,--no-undefined
                      -Wl,--exclude-libs,ALL)
  set_target_properties(lemma_serve PROPERTIES PREFIX "" INSTALL_RPATH "$ORIGIN/..")
else()
  set_source_files_properties(src/driver/commands/serve.cpp PROPERTIES
                              COMPILE_DEFINITIONS LEMMA_SERVE_LINKED)
  target_link_libraries(lemma_driver PRIVATE lemma_serve_net lemma_api)
endif()

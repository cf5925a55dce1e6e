# Installs a build into an empty prefix, moves it, and builds what stands in
# tests/package against it.  The build is BUILD_DIR, or where SHARED is set one of
# the core with BUILD_SHARED_LIBS, made here and not optimised, for what it is to
# link is looked at, not how fast it is.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(flags)
if(SANITIZE)
  set(flags "-DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE}")
endif()
set(package ${SOURCE_DIR}/tests/package)
set(api_test ${SOURCE_DIR}/tests/c/api_test.c)
file(REMOVE_RECURSE ${WORK_DIR})
set(bin bin)
set(data share)
set(by -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
if(SHARED)
  set(BUILD_DIR ${WORK_DIR}/shared)
  step(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE_DIR} -B ${BUILD_DIR}
    -DBUILD_SHARED_LIBS=ON -DPROVISO_WITH_TORCH=OFF
    -DPROVISO_BUILD_PYTHON=OFF -DPROVISO_BUILD_TESTS=OFF
    -DPROVISO_BUILD_EXAMPLES=OFF -DPROVISO_PYTHON=${PROVISO_PYTHON}
    -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
    -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
    -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"
    -DCMAKE_INSTALL_BINDIR=tools -DCMAKE_INSTALL_LIBDIR=lib64
    -DCMAKE_INSTALL_INCLUDEDIR=headers -DCMAKE_INSTALL_DATADIR=data)
  step(${CMAKE_COMMAND} --build ${BUILD_DIR} -j 2)
  set(bin tools)
  set(data data)
  # Debian's CMake does not look into lib64 by itself.
  set(by -DProviso_DIR=${WORK_DIR}/prefix/lib64/cmake/Proviso)
endif()
step(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/first)
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/prefix)
file(GLOB licences ${WORK_DIR}/prefix/${data}/licenses/proviso/*)
list(LENGTH licences count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "installed licences: ${licences}")
endif()

step(${CMAKE_COMMAND} -S ${package} -B ${WORK_DIR}/build ${by}
  -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
  -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
  -DAPI_TEST=${api_test} ${flags})
step(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
foreach(program consumer c_consumer broadcast_checker memory_planner
                tile_scheduler loop_plan)
  step(${WORK_DIR}/build/${program})
endforeach()

# The installed commands start, wherever the prefix went.
step(${WORK_DIR}/prefix/${bin}/proviso prove
  --symbol "n in [0, int_oo]" --assume "n % 8 == 0" "n % 4 == 0")
if(EXISTS ${BUILD_DIR}/bin/proviso-pt2)
  execute_process(COMMAND ${WORK_DIR}/prefix/${bin}/proviso show nothing.pt2
                  RESULT_VARIABLE status ERROR_VARIABLE output)
  if(NOT status EQUAL 3 OR NOT output MATCHES "nothing.pt2: cannot be read")
    message(FATAL_ERROR "proviso show ended with ${status}:\n${output}")
  endif()
endif()

# It proves all accesses but the one that is too far.
set(mlir ${WORK_DIR}/build/mlir_bounds)
if(EXISTS ${mlir})
  execute_process(COMMAND ${mlir} ${SOURCE_DIR}/examples/link/accesses.mlir
                  RESULT_VARIABLE status OUTPUT_VARIABLE output)
  if(NOT status EQUAL 1 OR NOT output MATCHES
     "\n10 accesses: 9 proved to be in bounds, 3 by MLIR\n$")
    message(FATAL_ERROR "mlir_bounds ended with ${status}:\n${output}")
  endif()
else()
  message(WARNING "SKIPPED: examples/link/mlir_bounds.cc, for MLIR 16 "
                  "(libmlir-16-dev) is not here")
endif()

if(EXISTS ${BUILD_DIR}/bin/proviso-pt2)
  step(${CMAKE_COMMAND} -S ${package}/tracer -B ${WORK_DIR}/tracer
    ${by} -DTorch_DIR=${TORCH_DIR}/share/cmake/Torch
    -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} ${flags})
  step(${CMAKE_COMMAND} --build ${WORK_DIR}/tracer)
  step(${WORK_DIR}/tracer/tracer_consumer)
  if(NOT output MATCHES "f32.2[*]s0, 2.")
    message(FATAL_ERROR "tracer_consumer printed:\n${output}")
  endif()
  # Without LibTorch the error says what is missing.
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${package}/tracer -B ${WORK_DIR}/no_torch
      ${by} -DPROVISO_PYTHON=/nothing
      -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE output)
  if(status EQUAL 0 OR NOT output MATCHES "needs[ \n]+LibTorch")
    message(FATAL_ERROR "without LibTorch ${status}:\n${output}")
  endif()
endif()

# A machine without the libz3 that the package was built with.
if(Z3_FOLDER)
  set(ignored ${Z3_FOLDER})
  file(GLOB others /usr/lib/libz3.so /usr/lib/*/libz3.so /usr/local/lib/libz3.so)
  foreach(other ${others})
    get_filename_component(folder ${other} DIRECTORY)
    string(REPLACE /usr/lib /lib alias ${folder})
    list(APPEND ignored ${folder} ${alias})
  endforeach()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${package} -B ${WORK_DIR}/no_z3
      ${by} "-DCMAKE_IGNORE_PATH=${ignored}" -DAPI_TEST=${api_test}
      -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE output)
  if(status EQUAL 0 OR NOT output MATCHES "libz3[ \n]+is[ \n]+not[ \n]+on")
    message(FATAL_ERROR "without libz3 ${status}:\n${output}")
  endif()
endif()

foreach(kind inside fetched)
  step(${CMAKE_COMMAND} -S ${package}/${kind} -B ${WORK_DIR}/${kind}
    -DPROVISO_SOURCE=${SOURCE_DIR} -DBUILD_SHARED_LIBS=${SHARED}
    -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})
endforeach()

find_program(pkg_config pkg-config)
if(pkg_config AND NOT SANITIZE)
  file(GLOB_RECURSE about ${WORK_DIR}/prefix/proviso-c.pc)
  get_filename_component(folder "${about}" DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  step(${pkg_config} --cflags --libs proviso-c)
  separate_arguments(words UNIX_COMMAND "${output}")
  step(cc -std=c11 ${api_test} -o ${WORK_DIR}/by_pkg_config ${words} -lm)
  get_filename_component(libraries "${folder}" DIRECTORY)
  set(ENV{LD_LIBRARY_PATH} ${libraries})
  step(${WORK_DIR}/by_pkg_config)
else()
  message(STATUS "pkg-config is not here: proviso-c.pc is not tried")
endif()

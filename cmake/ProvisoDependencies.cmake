# What Proviso is built with: Boost headers (always), Z3 (optional) and LibTorch
# (the tracer alone).
#
#   Boost::headers         Boost.Multiprecision, inside sym/integer.cc
#   Z3::z3                 from Python's z3-solver, else Debian's libz3-dev
#   proviso_torch          LibTorch (ProvisoTorch.cmake)
#   proviso_torch_python   the same and libtorch_python, for the extension

# --- Python: the project's .venv when there is one.  It tells where the wheels
# of torch and Z3 are; the core does without.
if(SKBUILD)  # a wheel is of the Python that builds it
  set(PROVISO_PYTHON ${Python_EXECUTABLE})
endif()
if(NOT PROVISO_PYTHON)
  if(EXISTS ${CMAKE_SOURCE_DIR}/.venv/bin/python)
    set(PROVISO_PYTHON ${CMAKE_SOURCE_DIR}/.venv/bin/python
        CACHE FILEPATH "Python that has torch and z3-solver")
  else()
    find_program(PROVISO_PYTHON NAMES python3
                 DOC "Python that has torch and z3-solver")
  endif()
endif()
if(PROVISO_PYTHON)
  set(Python_EXECUTABLE ${PROVISO_PYTHON})
  set(Python3_EXECUTABLE ${PROVISO_PYTHON})
endif()

# Where Python keeps package `name`; empty when it has none.  Imports nothing:
# importing torch takes seconds.
function(proviso_python_package name result)
  set(${result} "" PARENT_SCOPE)
  if(NOT PROVISO_PYTHON)
    return()
  endif()
  execute_process(
    COMMAND ${PROVISO_PYTHON} -c
      "import importlib.util as u; s = u.find_spec('${name}'); print(s.submodule_search_locations[0] if s else '')"
    OUTPUT_VARIABLE place OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${result} "${place}" PARENT_SCOPE)
endfunction()

# --- Boost
find_package(Boost 1.74 CONFIG QUIET)
if(NOT TARGET Boost::headers)
  find_path(PROVISO_BOOST_INCLUDE boost/multiprecision/cpp_int.hpp)
  if(NOT PROVISO_BOOST_INCLUDE)
    message(FATAL_ERROR
      "Proviso needs Boost's headers (Boost.Multiprecision). On Debian: "
      "apt install libboost-dev; elsewhere set PROVISO_BOOST_INCLUDE.")
  endif()
  add_library(Boost::headers INTERFACE IMPORTED)
  target_include_directories(Boost::headers SYSTEM INTERFACE
                             ${PROVISO_BOOST_INCLUDE})
endif()

# --- Z3
if(PROVISO_WITH_Z3 AND NOT TARGET Z3::z3)
  proviso_python_package(z3 z3_package)
  find_path(PROVISO_Z3_INCLUDE z3++.h HINTS ${z3_package}/include)
  find_library(PROVISO_Z3_LIBRARY z3 HINTS ${z3_package}/lib)
  if(PROVISO_Z3_INCLUDE AND PROVISO_Z3_LIBRARY)
    add_library(Z3::z3 SHARED IMPORTED)
    set_target_properties(Z3::z3 PROPERTIES
      IMPORTED_LOCATION ${PROVISO_Z3_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${PROVISO_Z3_INCLUDE})
    message(STATUS "Z3: ${PROVISO_Z3_LIBRARY}")
  else()
    message(STATUS "Z3: not found; the native tiers answer alone (install "
                   "z3-solver in .venv or Debian's libz3-dev)")
    set(PROVISO_WITH_Z3 OFF)
  endif()
endif()

# --- LibTorch
if(PROVISO_WITH_TORCH AND NOT TARGET proviso_torch)
  set(pins ${CMAKE_CURRENT_LIST_DIR}/../requirements.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pins})
  file(STRINGS ${pins} pin REGEX "^torch==")
  string(REPLACE "torch==" "" PROVISO_TORCH_VERSION "${pin}")
  include(${CMAKE_CURRENT_LIST_DIR}/ProvisoTorch.cmake)
  proviso_find_torch(${PROVISO_TORCH_VERSION} problem)
  if(problem)
    message(FATAL_ERROR "${problem}, or configure with -DPROVISO_WITH_TORCH=OFF"
                        " for the core alone.")
  endif()
endif()

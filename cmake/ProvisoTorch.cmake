# LibTorch, for whoever builds the tracer and for whoever links it:
#
#   proviso_torch          headers as system headers, libraries
#   proviso_torch_python   the same and libtorch_python, where there is one
#
# It is found where find_package(Torch) finds it: PROVISO_TORCH_ROOT (the folder
# that has include/ and lib/), Torch_DIR, CMAKE_PREFIX_PATH, else the torch of
# PROVISO_PYTHON or python3.  TorchConfig itself is not asked: of a CUDA wheel it
# demands the CUDA toolkit, which a program that only traces does not need.

# The places to look at, best first.
function(_proviso_torch_roots result)
  set(roots ${PROVISO_TORCH_ROOT})
  foreach(config "${Torch_DIR}" "$ENV{Torch_DIR}")
    if(config)
      get_filename_component(root "${config}/../../.." ABSOLUTE)
      list(APPEND roots ${root})
    endif()
  endforeach()
  string(REPLACE ":" ";" from_environment "$ENV{CMAKE_PREFIX_PATH}")
  foreach(prefix ${CMAKE_PREFIX_PATH} ${from_environment})
    list(APPEND roots ${prefix} ${prefix}/libtorch)
    # `torch.utils.cmake_prefix_path` is torch/share/cmake.
    get_filename_component(above "${prefix}/../.." ABSOLUTE)
    list(APPEND roots ${above})
  endforeach()
  set(${result} "${roots}" PARENT_SCOPE)
endfunction()

# Where Python keeps torch; empty when it has none.  Imports nothing: importing
# torch takes seconds.
function(_proviso_torch_of_python result)
  set(${result} "" PARENT_SCOPE)
  set(python ${PROVISO_PYTHON})
  if(NOT python)
    find_program(python NAMES python3 NO_CACHE)
  endif()
  if(python)
    execute_process(
      COMMAND ${python} -c
        "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE place OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(${result} "${place}" PARENT_SCOPE)
  endif()
endfunction()

# Makes the targets; `problem` says in words why it could not, else is empty.
function(proviso_find_torch version problem)
  set(${problem} "" PARENT_SCOPE)
  if(TARGET proviso_torch)
    return()
  endif()
  set(about share/cmake/Torch/TorchConfigVersion.cmake)
  set(root)
  _proviso_torch_roots(roots)
  foreach(candidate ${roots})
    if(NOT root AND EXISTS ${candidate}/${about})
      set(root ${candidate})
    endif()
  endforeach()
  if(NOT root)
    _proviso_torch_of_python(root)
  endif()
  if(NOT root OR NOT EXISTS ${root}/${about})
    set(${problem}
      "The tracer needs LibTorch ${version}, and none was found: put it into \
CMAKE_PREFIX_PATH, set Torch_DIR or PROVISO_TORCH_ROOT, or PROVISO_PYTHON to a \
Python that has torch==${version}" PARENT_SCOPE)
    return()
  endif()
  file(STRINGS ${root}/${about} line REGEX "set.PACKAGE_VERSION ")
  string(REGEX MATCH "[0-9.]+" found "${line}")
  if(NOT found VERSION_EQUAL version)
    set(${problem}
      "The tracer is written for LibTorch ${version}, and ${root} is ${found}: \
install torch==${version}" PARENT_SCOPE)
    return()
  endif()
  add_library(proviso_torch INTERFACE IMPORTED GLOBAL)
  target_include_directories(proviso_torch SYSTEM INTERFACE
    ${root}/include ${root}/include/torch/csrc/api/include)
  # The wheels are built with the C++11 ABI; say so whatever the compiler's
  # default is.
  target_compile_definitions(proviso_torch INTERFACE
                             _GLIBCXX_USE_CXX11_ABI=1)
  # By full path, so that CMake adds the run path and programs run in place.
  # Kernels register themselves in static initialisers: nothing need refer to
  # libtorch_cpu by name, so the linker is told to keep it.  A CUDA wheel finds
  # its own libraries when it is loaded.
  target_link_libraries(proviso_torch INTERFACE
    -Wl,--no-as-needed ${root}/lib/libtorch_cpu.so ${root}/lib/libc10.so
    -Wl,--as-needed -Wl,--allow-shlib-undefined)
  set_property(TARGET proviso_torch PROPERTY PROVISO_FOLDER ${root}/lib)
  message(STATUS "Torch: ${found} in ${root}")
  if(EXISTS ${root}/lib/libtorch_python.so)
    add_library(proviso_torch_python INTERFACE IMPORTED GLOBAL)
    target_link_libraries(proviso_torch_python INTERFACE
      ${root}/lib/libtorch_python.so proviso_torch)
  endif()
endfunction()

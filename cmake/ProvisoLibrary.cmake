include(GNUInstallDirs)

# proviso_library(sym integer.cc expr.cc DEPENDS ...): one library a folder,
# target proviso_sym, alias proviso::sym.
function(proviso_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra
    $<$<BOOL:${PROVISO_WERROR}>:-Werror>)
  # GCC 12 sees overlapping copies in std::string::insert and operator+ where
  # there are none (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND
     CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(PROVISO_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${PROVISO_SANITIZE}
      -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${PROVISO_SANITIZE})
  endif()
endfunction()

# <proviso/sym/expr.h> and "sym/expr.h" are found by a project that has Proviso
# inside it as by one that uses the installed package.
set(PROVISO_INCLUDE_ROOT ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${PROVISO_INCLUDE_ROOT}/proviso)
foreach(folder sym solver guards tracer_adapter)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder}
    ${PROVISO_INCLUDE_ROOT}/proviso/${folder} SYMBOLIC)
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in
               ${PROVISO_INCLUDE_ROOT}/proviso/version.h)

# Where installed libraries look for others: beside themselves, and where Z3 was
# when they were built (CMake leaves out what lies in the source tree).
set(PROVISO_INSTALL_RPATH "$ORIGIN")
if(PROVISO_WITH_Z3 AND PROVISO_Z3_LIBRARY)
  get_filename_component(folder ${PROVISO_Z3_LIBRARY} DIRECTORY)
  list(APPEND PROVISO_INSTALL_RPATH ${folder})
endif()

# Static, or shared with BUILD_SHARED_LIBS.  A static core is compiled with hidden
# visibility: a shared library that takes it in shows what sym/api.h says alone.
# Shared, its libraries use one another's internals, and show all; so does the
# tracer, as LibTorch's types are its interface.
function(proviso_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  set(visibility hidden)
  if(BUILD_SHARED_LIBS OR name STREQUAL "tracer")
    set(visibility default)
  endif()
  add_library(proviso_${name} ${ARG_SOURCES})
  add_library(proviso::${name} ALIAS proviso_${name})
  set_target_properties(proviso_${name} PROPERTIES
    EXPORT_NAME ${name}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    CXX_VISIBILITY_PRESET ${visibility}
    VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "${PROVISO_INSTALL_RPATH}")
  target_compile_features(proviso_${name} PUBLIC cxx_std_20)
  target_include_directories(proviso_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/proviso>)
  if(NOT PROJECT_IS_TOP_LEVEL)
    target_include_directories(proviso_${name} PUBLIC
      $<BUILD_INTERFACE:${PROVISO_INCLUDE_ROOT}>)
  endif()
  target_link_libraries(proviso_${name} PUBLIC ${ARG_DEPENDS})
  proviso_options(proviso_${name})
endfunction()

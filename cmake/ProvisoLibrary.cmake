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

# Where headers take most of a unit's time (LibTorch's take three quarters), files
# of one folder are compiled together, `SIZE` at a time (6).  Their names in
# anonymous namespaces must differ.  Files with options of their own stay alone.
function(proviso_unity target)
  cmake_parse_arguments(ARG "" "SIZE" "" ${ARGN})
  if(NOT PROVISO_UNITY)
    return()
  endif()
  if(NOT ARG_SIZE)
    set(ARG_SIZE 6)
  endif()
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes for a header what another file includes.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  get_target_property(sources ${target} SOURCES)
  set(folder)
  foreach(source ${sources})
    get_filename_component(its_folder ${source} DIRECTORY)
    if(NOT its_folder STREQUAL folder OR count EQUAL ARG_SIZE)
      set(folder "${its_folder}")
      set(first ${source})
      set(count 0)
    endif()
    math(EXPR count "${count} + 1")
    string(REPLACE ${CMAKE_CURRENT_SOURCE_DIR}/ "" group ${first})
    string(MAKE_C_IDENTIFIER ${group} group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
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
set(PROVISO_Z3_FOLDER)
if(PROVISO_WITH_Z3 AND PROVISO_Z3_LIBRARY)
  get_filename_component(PROVISO_Z3_FOLDER ${PROVISO_Z3_LIBRARY} DIRECTORY)
endif()
set(PROVISO_INSTALL_RPATH "$ORIGIN" ${PROVISO_Z3_FOLDER})

# What makes a library small and no question slower.  Files that run seldom are
# compiled for size; of those that run now and then fewer functions are inlined
# (a polynomial's destructor in a hundred places).  They come last in the list `variable`, so
# that of an inline function that many files have the linker keeps a quick one.
function(proviso_keep_small variable)
  cmake_parse_arguments(ARG "" "" "SELDOM;NOW_AND_THEN" ${ARGN})
  set(gnu_like $<CXX_COMPILER_ID:GNU,Clang,AppleClang>)
  set(optimised $<CONFIG:Release,RelWithDebInfo>)
  set_property(SOURCE ${ARG_SELDOM} APPEND PROPERTY
    COMPILE_OPTIONS $<$<AND:${gnu_like},${optimised}>:-Os>)
  set_property(SOURCE ${ARG_NOW_AND_THEN} APPEND PROPERTY COMPILE_OPTIONS
    $<$<AND:$<CXX_COMPILER_ID:GNU>,${optimised}>:--param=max-inline-insns-single=15>)
  set(last ${ARG_NOW_AND_THEN} ${ARG_SELDOM})
  list(TRANSFORM last PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(all ${${variable}})
  list(REMOVE_ITEM all ${last})
  set(${variable} ${all} ${last} PARENT_SCOPE)
endfunction()

# What others link: folders, compiler, nothing of the implementation.
function(_proviso_interface target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/proviso>)
  if(NOT PROJECT_IS_TOP_LEVEL)
    target_include_directories(${target} PUBLIC
      $<BUILD_INTERFACE:${PROVISO_INCLUDE_ROOT}>)
  endif()
endfunction()

# proviso_sym, proviso_solver and proviso_guards are static always, compiled with
# hidden visibility: a shared library that takes them in shows what sym/api.h says
# alone.  Our own programs link these.  Others link proviso::sym, proviso::solver
# and proviso::guards: the same, or with BUILD_SHARED_LIBS the one libproviso.so
# (proviso_shared_core).  The tracer shows all, as LibTorch's types are its
# interface.
function(proviso_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(name STREQUAL "tracer")
    add_library(proviso_tracer ${ARG_SOURCES})
    set(visibility default)
  else()
    add_library(proviso_${name} STATIC ${ARG_SOURCES})
    set(visibility hidden)
  endif()
  if(name STREQUAL "tracer" OR NOT BUILD_SHARED_LIBS)
    add_library(proviso::${name} ALIAS proviso_${name})
  endif()
  set_target_properties(proviso_${name} PROPERTIES
    EXPORT_NAME ${name}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    CXX_VISIBILITY_PRESET ${visibility}
    VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "${PROVISO_INSTALL_RPATH}")
  _proviso_interface(proviso_${name})
  target_link_libraries(proviso_${name} PUBLIC ${ARG_DEPENDS})
  proviso_options(proviso_${name})
endfunction()

# target: all of the core in one shared library, which shows what the public
# headers declare.  Templates of the standard library that are compiled into it
# stay inside.
function(proviso_shared_core target)
  set(empty ${PROJECT_BINARY_DIR}/shared_core.cc)
  file(CONFIGURE OUTPUT ${empty} CONTENT "")
  add_library(${target} SHARED ${empty})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME proviso
    EXPORT_NAME core
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    INSTALL_RPATH "${PROVISO_INSTALL_RPATH}")
  _proviso_interface(${target})
  foreach(name guards solver sym)
    add_dependencies(${target} proviso_${name})
    set_property(TARGET ${target} APPEND PROPERTY
      LINK_DEPENDS $<TARGET_FILE:proviso_${name}>)
  endforeach()
  set(whole $<TARGET_FILE:proviso_guards> $<TARGET_FILE:proviso_solver>
    $<TARGET_FILE:proviso_sym>)
  if(APPLE)
    target_link_libraries(${target} PRIVATE -Wl,-all_load ${whole})
  else()
    set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    target_link_libraries(${target} PRIVATE
      -Wl,--whole-archive ${whole} -Wl,--no-whole-archive)
    target_link_options(${target} PRIVATE -Wl,-Bsymbolic-functions
      -Wl,--gc-sections -Wl,--version-script=${exports})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${exports})
  endif()
  if(PROVISO_WITH_Z3)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:Z3::z3>)
  endif()
  if(PROVISO_SANITIZE)
    target_link_options(${target} PUBLIC -fsanitize=${PROVISO_SANITIZE})
  endif()
endfunction()

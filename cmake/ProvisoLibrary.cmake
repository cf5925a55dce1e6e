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

function(proviso_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(proviso_${name} STATIC ${ARG_SOURCES})
  add_library(proviso::${name} ALIAS proviso_${name})
  set_target_properties(proviso_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(proviso_${name} PUBLIC cxx_std_20)
  target_include_directories(proviso_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:include/proviso>)
  target_link_libraries(proviso_${name} PUBLIC ${ARG_DEPENDS})
  proviso_options(proviso_${name})
endfunction()

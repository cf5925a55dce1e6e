# Installed: the public headers under include/proviso, the libraries, the
# command, licences, pkg-config files, and a package:
#
#   find_package(Proviso 0.2 REQUIRED COMPONENTS solver)   # sym solver guards
#   target_link_libraries(mine PRIVATE proviso::solver)    # tracer c
include(CMakePackageConfigHelpers)

option(PROVISO_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
if(NOT PROVISO_INSTALL)
  return()
endif()

# --- headers: what a user may include
set(sym_headers
  api budget canonical cost definition evaluate expr facts integer op operators
  parse polynomial print simplify small_vector symbol_kinds translate)
set(solver_headers
  interval limits options solve solver strategy strided symbolic_bounds)
set(guards_headers
  context_text explain guard_program input_check logs open_question refusal
  requirements shape_env size_set source_text suggest torch_form)
set(tracer_adapter_headers
  control_flow_ops decompositions export exported_program ir/graph
  ir/graph_signature pt2/allowed_operators pt2/program_reader pt2/zip_reader
  run/checked_calls)
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/proviso)
function(proviso_install_headers folder)
  foreach(header ${ARGN})
    get_filename_component(below ${folder}/${header} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/${folder}/${header}.h
      DESTINATION ${headers}/${below})
  endforeach()
endfunction()
foreach(folder sym solver guards)
  proviso_install_headers(${folder} ${${folder}_headers})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/solver/limits.def
  DESTINATION ${headers}/solver)
install(FILES ${PROVISO_INCLUDE_ROOT}/proviso/version.h DESTINATION ${headers})

# --- libraries: an export set a component group, so that whoever needs the
# solver needs no LibTorch
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Proviso)
function(proviso_install_libraries set)
  install(TARGETS ${ARGN} EXPORT Proviso${set}Targets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT Proviso${set}Targets NAMESPACE proviso::
    DESTINATION ${package})
endfunction()

if(BUILD_SHARED_LIBS)
  proviso_install_libraries(Core proviso_core proviso_sym_interface
    proviso_solver_interface proviso_guards_interface)
else()
  proviso_install_libraries(Core proviso_sym proviso_solver proviso_guards)
endif()
if(TARGET proviso_c)
  proviso_install_libraries(C proviso_c)
  install(FILES ${PROJECT_SOURCE_DIR}/bindings/c/include/proviso/proviso.h
    DESTINATION ${headers})
endif()
if(TARGET proviso_tracer)
  proviso_install_libraries(Tracer proviso_tracer)
  proviso_install_headers(tracer_adapter ${tracer_adapter_headers})
endif()
# A command finds our libraries beside its folder, and Z3 and LibTorch where they
# were when it was built.
file(RELATIVE_PATH libraries_of_command
  ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(rpath_of_command "$ORIGIN/${libraries_of_command}" ${PROVISO_Z3_FOLDER})
foreach(command proviso proviso_pt2)
  if(TARGET ${command})
    set_target_properties(${command} PROPERTIES
      INSTALL_RPATH "${rpath_of_command}")
    install(TARGETS ${command} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
if(TARGET proviso_pt2)
  set_property(TARGET proviso_pt2 APPEND PROPERTY INSTALL_RPATH
    $<TARGET_PROPERTY:proviso_torch,PROVISO_FOLDER>)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY.md
  DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/proviso)

# --- the package
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/ProvisoConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ProvisoConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/ProvisoConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/ProvisoConfig.cmake
  ${PROJECT_BINARY_DIR}/ProvisoConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/ProvisoTorch.cmake
  DESTINATION ${package})

# --- pkg-config, by paths from the file itself: the tree may be moved
file(RELATIVE_PATH PROVISO_PC_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
if(BUILD_SHARED_LIBS)
  set(PROVISO_PC_LIBRARIES "-lproviso")
else()
  set(PROVISO_PC_LIBRARIES "-lproviso_guards -lproviso_solver -lproviso_sym")
  if(PROVISO_WITH_Z3)
    string(APPEND PROVISO_PC_LIBRARIES
      " -L${PROVISO_Z3_FOLDER} -Wl,-rpath,${PROVISO_Z3_FOLDER} -lz3")
  endif()
endif()
foreach(name proviso proviso-c)
  if(name STREQUAL "proviso" OR TARGET proviso_c)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in
      ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
      DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endforeach()

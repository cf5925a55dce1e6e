# Installed: include/proviso/<folder>/*.h, the libraries, the command, and a
# package so that find_package(Proviso) gives proviso::sym, proviso::solver,
# proviso::guards and, built with torch, proviso::tracer.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

option(PROVISO_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
if(NOT PROVISO_INSTALL)
  return()
endif()

set(folders sym solver guards)
set(libraries proviso_sym proviso_solver proviso_guards)
if(TARGET proviso_tracer)
  list(APPEND folders tracer_adapter)
  list(APPEND libraries proviso_tracer)
endif()

install(TARGETS ${libraries} EXPORT ProvisoTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(folder ${folders})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/proviso
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
endforeach()
foreach(command proviso proviso_cli)
  if(TARGET ${command})
    get_target_property(kind ${command} TYPE)
    if(kind STREQUAL EXECUTABLE)
      install(TARGETS ${command} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
  endif()
endforeach()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Proviso)
install(EXPORT ProvisoTargets NAMESPACE proviso:: DESTINATION ${package})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/ProvisoConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ProvisoConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/ProvisoConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/ProvisoConfig.cmake
  ${PROJECT_BINARY_DIR}/ProvisoConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/ProvisoDependencies.cmake
  DESTINATION ${package})

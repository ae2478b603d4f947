# What is installed, in four components: program, library, development, c (the C
# interface). For embedders: find_package(dnheap) or
# pkg-config's dnheap, and #include <dnheap/snapshot.h>. Names no path of the machine it was built on.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dnheap)

if(DNHEAP_PROGRAM)
  install(TARGETS dnheap-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  # The manual page, and what shells complete: the program tells them. Where it cannot run here, one built for this machine can.
  if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
    set(made ${PROJECT_BINARY_DIR}/for_shells)
    file(MAKE_DIRECTORY ${made})
    add_custom_command(TARGET dnheap-cli POST_BUILD VERBATIM
      COMMAND dnheap-cli help --man > ${made}/dnheap.1
      COMMAND dnheap-cli completion bash > ${made}/dnheap
      COMMAND dnheap-cli completion zsh > ${made}/_dnheap
      COMMAND dnheap-cli completion fish > ${made}/dnheap.fish)
    foreach(file dnheap.1:${CMAKE_INSTALL_MANDIR}/man1 dnheap:${CMAKE_INSTALL_DATADIR}/bash-completion/completions
            _dnheap:${CMAKE_INSTALL_DATADIR}/zsh/site-functions dnheap.fish:${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
      string(REPLACE ":" ";" file ${file})
      list(POP_FRONT file name)
      install(FILES ${made}/${name} DESTINATION ${file} COMPONENT program)
    endforeach()
  endif()
endif()
install(TARGETS dnheap EXPORT dnheapTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
if(TARGET dnheap-c)
  install(TARGETS dnheap-c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT c)
  install(FILES ${PROJECT_SOURCE_DIR}/include/dnheap.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT c)
endif()

# The public interface, all of it and nothing else.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/dnheap DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development FILES_MATCHING PATTERN "*.h")

install(EXPORT dnheapTargets NAMESPACE dnheap:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/dnheapConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/dnheapConfig.cmake INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/dnheapConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/dnheapDependencies.cmake ${CMAKE_CURRENT_BINARY_DIR}/dnheapConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/dnheapConfigVersion.cmake DESTINATION ${package_dir} COMPONENT development)

set(needs "Requires: libzstd re2 zlib liblzma liblz4 sqlite3")
if(BUILD_SHARED_LIBS)
  set(needs "Requires.private: libzstd re2 zlib liblzma liblz4 sqlite3")
endif()
file(RELATIVE_PATH prefix_from_here /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" prefix_from_here ${prefix_from_here})
if(TARGET dnheap-c)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/dnheap-c.pc.in ${CMAKE_CURRENT_BINARY_DIR}/dnheap-c.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dnheap-c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT c)
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/dnheap.pc.in ${CMAKE_CURRENT_BINARY_DIR}/dnheap.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dnheap.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

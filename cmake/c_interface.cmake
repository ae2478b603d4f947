# libdnheap-c.so: the C interface (include/dnheap.h), for programs that load it while they run: Python's ctypes, .NET's P/Invoke.
# By itself, and not the C++ library under another name: that one exports all of C++, changes its name with each minor version,
# and is an archive as a rule. This one has the archive inside and exports the functions of src/c/exported.map only.
# The words of the command line are understood here as there.
set(c_words answering.cc options/option_table.cc options/options.cc options/values.cc output.cc)
list(TRANSFORM c_words PREPEND ${PROJECT_SOURCE_DIR}/src/cli/)
set(exported ${PROJECT_SOURCE_DIR}/src/c/exported.map)

if(DNHEAP_STATIC AND NOT DNHEAP_C_WHOLE)
  # The program links archives; Debian's of RE2 is for programs only (its thread-local variables are). So these six come as
  # shared libraries here; whoever builds for a system without them gets the program alone.
  set(shared)
  foreach(name zstd re2 z lzma lz4 sqlite3)
    find_library(DNHEAP_SHARED_${name} lib${name}.so)
    mark_as_advanced(DNHEAP_SHARED_${name})
    if(NOT DNHEAP_SHARED_${name})
      message(STATUS "No C interface: it needs lib${name}.so")
      return()
    endif()
    list(APPEND shared ${DNHEAP_SHARED_${name}})
  endforeach()
endif()

add_library(dnheap-c SHARED ${c_sources} ${c_words})
unite(dnheap-c)
set_target_properties(dnheap-c PROPERTIES VERSION 0.${PROJECT_VERSION} SOVERSION 0 CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS ${exported} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  BUILD_RPATH_USE_ORIGIN ON BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
if(WIN32)
  # By what dnheap.h says. Its name is that which P/Invoke and ctypes look for.
  set_target_properties(dnheap-c PROPERTIES PREFIX "" RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_compile_definitions(dnheap-c PRIVATE "DNHEAP_API=__declspec(dllexport)")
else()
  # The old kind of path (no --enable-new-dtags) holds for what is loaded by what is loaded, too: a package has all of it beside.
  target_link_options(dnheap-c PRIVATE -Wl,--version-script=${exported} -Wl,--disable-new-dtags)
  if(NOT CMAKE_CXX_FLAGS MATCHES "sanitize") # whose functions are the program's
    target_link_options(dnheap-c PRIVATE -Wl,-z,defs)
  endif()
endif()
target_link_options(dnheap-c PRIVATE -Wl,--gc-sections)
if(DNHEAP_MAP)
  target_link_options(dnheap-c PRIVATE -Wl,-Map=${PROJECT_BINARY_DIR}/dnheap-c.map)
endif()
target_include_directories(dnheap-c PRIVATE ${PROJECT_SOURCE_DIR}/src
  INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
if(DNHEAP_C_WHOLE)
  target_link_options(dnheap-c PRIVATE -static-libstdc++ -static-libgcc)
endif()
if(DNHEAP_STATIC AND NOT DNHEAP_C_WHOLE)
  target_link_libraries(dnheap-c PRIVATE $<TARGET_FILE:dnheap> ${shared} Threads::Threads)
  target_include_directories(dnheap-c PRIVATE ${PROJECT_SOURCE_DIR}/include)
  add_dependencies(dnheap-c dnheap)
else()
  target_link_libraries(dnheap-c PRIVATE dnheap)
endif()

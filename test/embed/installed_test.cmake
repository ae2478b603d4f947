# Installs what BUILD holds below WORK, and uses it as embedders do: find_package and pkg-config.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

# Components: who wants the program gets the program.
foreach(component program library development c)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/${component} --component ${component})
  files_below(${WORK}/${component} ${component})
endforeach()
if(NOT program STREQUAL "bin/dnheap;share/bash-completion/completions/dnheap;share/fish/vendor_completions.d/dnheap.fish;\
share/man/man1/dnheap.1;share/zsh/site-functions/_dnheap")
  message(FATAL_ERROR "the component program is ${program}")
endif()
if(library)
  message(FATAL_ERROR "there is no shared library, and the component library is ${library}")
endif()

if(EXISTS ${BUILD}/libdnheap-c.so AND NOT "${c}" MATCHES "^include/dnheap\\.h;.*/libdnheap-c\\.so;.*/libdnheap-c\\.so\\.0;.*/libdnheap-c\\.so\\.[0-9.]+;.*/dnheap-c\\.pc$")
  message(FATAL_ERROR "the component c is ${c}")
endif()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
files_below(${WORK}/prefix all)
list(LENGTH all count)
set(parts ${program} ${development} ${c})
list(LENGTH parts in_components)
if(NOT count EQUAL in_components)
  message(FATAL_ERROR "${count} files are installed, ${in_components} are in components")
endif()
expect_no_places(${WORK}/prefix ${BUILD})

# The public headers and no other. That they include nobody else's test/lint/include_order.py sees to.
files_below(${WORK}/prefix/include headers)
file(GLOB expected RELATIVE ${PROJECT}/include ${PROJECT}/include/*.h ${PROJECT}/include/dnheap/*.h)
list(SORT expected)
if(NOT expected OR NOT headers STREQUAL expected)
  message(FATAL_ERROR "the headers that are installed are ${headers}, not ${expected}")
endif()

configure(${CMAKE_CURRENT_LIST_DIR}/installed build ${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
expect_answer(${WORK}/build/embedder)
try_pkg_config(${WORK}/prefix)

execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/absent -B ${WORK}/absent -G ${GENERATOR}
  -D CMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" -D CMAKE_PREFIX_PATH=${WORK}/prefix
  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE code)
if(code OR NOT said MATCHES "-- before\n-- behind: (0|FALSE)\n")
  message(FATAL_ERROR "find_package(dnheap QUIET) is not quiet, or fails: ${said}")
endif()
if(NOT said MATCHES "dnheap needs libzstd")
  message(FATAL_ERROR "find_package(dnheap) does not say what is missing: ${said}")
endif()

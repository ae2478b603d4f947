# What the tests of embedding share. WORK is theirs alone.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Configures the project in FOLDER, in WORK/NAME, against what is installed below PREFIX.
function(configure folder name prefix)
  run(${CMAKE_COMMAND} -S ${folder} -B ${WORK}/${name} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${CXX}
    "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" -D CMAKE_PREFIX_PATH=${prefix} ${ARGN})
endfunction()

# The embedder looks at the sample, and at a dump that is not there: what it says of them is in embedded.txt.
function(expect_answer)
  execute_process(COMMAND ${ARGV} demo.core.zst /no/such/core WORKING_DIRECTORY ${PROJECT}/sample
    OUTPUT_VARIABLE out COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${CMAKE_CURRENT_LIST_DIR}/embedded.txt expected)
  if(NOT out STREQUAL expected)
    message(FATAL_ERROR "the embedder wrote:\n${out}\nand not\n${expected}")
  endif()
endfunction()

# Builds the embedder with what pkg-config says of the installation below PREFIX, and runs it.
function(try_pkg_config prefix)
  find_program(PKG_CONFIG pkg-config)
  if(NOT PKG_CONFIG)
    message("SKIPPED: no pkg-config here")
    return()
  endif()
  file(GLOB_RECURSE module ${prefix}/*/dnheap.pc)
  get_filename_component(folder ${module} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs dnheap OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(flags UNIX_COMMAND "${CXX_FLAGS} ${flags}")
  run(${CXX} -std=c++20 ${CMAKE_CURRENT_LIST_DIR}/main.cc -o ${WORK}/by-pkg-config ${flags})
  get_filename_component(libraries ${folder} DIRECTORY)
  set(ENV{LD_LIBRARY_PATH} ${libraries})
  expect_answer(${WORK}/by-pkg-config)

  # What the guide shows.
  file(READ ${PROJECT}/doc/guide/libraries.md guide)
  string(REGEX MATCH "```cpp\n([^`]*)```" shown "${guide}")
  file(WRITE ${WORK}/guide.cc "${CMAKE_MATCH_1}")
  run(${CXX} -std=c++20 ${WORK}/guide.cc -o ${WORK}/guide ${flags})
  execute_process(COMMAND ${WORK}/guide ${PROJECT}/sample/demo.core.zst OUTPUT_VARIABLE out COMMAND_ERROR_IS_FATAL ANY)
  if(NOT out MATCHES "\n5024\t[0-9]+\tSystem\\.Byte\\[\\]\n")
    message(FATAL_ERROR "the guide's program wrote: ${out}")
  endif()
endfunction()

# What is installed must work elsewhere: nothing in it names a place of this machine.
function(expect_no_places prefix)
  file(GLOB_RECURSE package ${prefix}/*.cmake ${prefix}/*.pc ${prefix}/*.h)
  foreach(file ${package})
    file(READ ${file} text)
    foreach(place ${ARGN} ${prefix} /usr/lib)
      string(FIND "${text}" "${place}" found)
      if(NOT found EQUAL -1)
        message(FATAL_ERROR "${file} names ${place}")
      endif()
    endforeach()
  endforeach()
endfunction()

# The paths of all files below FOLDER, relative to it, sorted.
function(files_below folder result)
  file(GLOB_RECURSE files RELATIVE ${folder} ${folder}/*)
  list(SORT files)
  set(${result} ${files} PARENT_SCOPE)
endfunction()

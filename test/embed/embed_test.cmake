# Installs what BUILD holds below WORK, builds the program in SOURCE against it, runs it.
file(REMOVE_RECURSE ${WORK})
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${CXX}
  -D CMAKE_CXX_FLAGS=${CXX_FLAGS} -D CMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
execute_process(COMMAND ${WORK}/build/embedder OUTPUT_VARIABLE out COMMAND_ERROR_IS_FATAL ANY)
if(NOT out STREQUAL "/no/such/core: No such file or directory\n")
  message(FATAL_ERROR "the embedder wrote: ${out}")
endif()

# What is installed must work elsewhere: no path of this machine's build in it.
file(GLOB_RECURSE package ${WORK}/prefix/*.cmake)
foreach(file ${package})
  file(READ ${file} text)
  if(text MATCHES "${BUILD}|/usr/lib")
    message(FATAL_ERROR "${file} names a path of this machine")
  endif()
endforeach()

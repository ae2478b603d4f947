# unite(TARGET [ROOMS] [ALONE FILE…] [OVERLOADED NAME…]): with CMAKE_UNITY_BUILD up to a dozen files of a folder, with ROOMS of a folder
# and its rooms together, are compiled as if they were one. Headers are then read once for all of them: a whole build takes less than half the time, a change of one file takes
# more. So presets for programs and CI have it, and `dev` does not.
# Such files share their anonymous namespaces. So two files that seem to declare the same name go into different batches. What this
# look at their text misses does not compile; ALONE names files to be compiled by themselves, OVERLOADED functions that several files
# declare with different arguments.
function(unite target)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 with "ROOMS" "" "ALONE;OVERLOADED")
  get_target_property(files ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(file ${with_ALONE})
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${folder} NORMALIZE)
    list(REMOVE_ITEM files ${file})
  endforeach()
  list(FILTER files EXCLUDE REGEX "_windows\\.cc$") # <windows.h> defines words that others use
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  foreach(file ${files})
    get_filename_component(room ${file} DIRECTORY)
    file(RELATIVE_PATH room ${folder} ${room})
    if(with_ROOMS)
      string(REGEX REPLACE "/.*" "" room "${room}")
    endif()
    string(MAKE_C_IDENTIFIER "${room}" room)
    declared_names(names ${file})
    list(REMOVE_ITEM names ${with_OVERLOADED})
    set(batch 0)
    set(fits FALSE)
    while(NOT fits)
      set(fits TRUE)
      list(LENGTH files_${room}_${batch} count)
      if(count GREATER_EQUAL 12)
        set(fits FALSE)
      endif()
      foreach(name ${names})
        if(name IN_LIST names_${room}_${batch})
          set(fits FALSE)
          break()
        endif()
      endforeach()
      if(NOT fits)
        math(EXPR batch "${batch} + 1")
      endif()
    endwhile()
    list(APPEND files_${room}_${batch} ${file})
    list(APPEND names_${room}_${batch} ${names})
    set_property(SOURCE ${file} PROPERTY UNITY_GROUP ${room}_${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage) # it minds anonymous namespaces of what is no main file
    # g++ stops inlining in a unit above this size (10,000 instructions) once it has grown by 40 %: the hot loops of ten files that
    # share a unit lost 5 % by that.
    target_compile_options(${target} PRIVATE --param=large-unit-insns=200000)
  endif()
endfunction()

# precompile(TARGET [HEADER…]): what nearly each of its files includes is read once, in unity builds. Each file still includes what it
# needs: `dev` has none of this.
function(precompile target)
  if(CMAKE_UNITY_BUILD)
    target_precompile_headers(${target} PRIVATE <algorithm> <functional> <map> <memory> <mutex> <optional> <ranges> <span>
      <string> <thread> <unordered_map> <variant> <vector> <fmt/format.h> ${ARGN})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # For ccache; and g++ 12 sees too little of strings whose header is a precompiled one.
      target_compile_options(${target} PRIVATE -fpch-preprocess -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
    endif()
  endif()
endfunction()

# declared_names(RESULT FILE): names of functions, variables and types that are declared at the start of a line, where our layout
# puts everything in namespaces. Too many names do no harm.
function(declared_names result file)
  file(READ ${file} text)
  string(REGEX REPLACE "[][;]" "@" text "\n${text}") # these mean something in CMake's lists
  string(REGEX MATCHALL "\n[a-zA-Z][^\n]*" lines "${text}")
  set(names)
  foreach(line ${lines})
    if(line MATCHES "^\n(namespace|using namespace|TEST|INSTANTIATE)")
      continue()
    endif()
    if(line MATCHES "^\nusing ([a-zA-Z_0-9][a-zA-Z_0-9]+) =") # one letter: the same alias in many tests
      list(APPEND names ${CMAKE_MATCH_1})
    elseif(line MATCHES "^\n(template <[^>]*> )?(struct|class|enum class|enum|union) ([a-zA-Z_0-9]+)")
      list(APPEND names ${CMAKE_MATCH_3})
    elseif(line MATCHES "^\nusing")
      continue()
    elseif(line MATCHES "^\n[^(=]*[ *&]([a-zA-Z_0-9]+)\\(") # a function
      list(APPEND names ${CMAKE_MATCH_1})
    else() # variables
      string(REGEX MATCHALL "[ *&][a-zA-Z_0-9]+(@@)? ?[={@]" found "${line}")
      string(REGEX REPLACE "[ *&={@]" "" found "${found}")
      list(APPEND names ${found})
    endif()
  endforeach()
  list(FILTER names EXCLUDE REGEX "^([0-9].*|[ui](8|16|32|64)|const|override)$") # behind names of members, in other places
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# What an embedder includes, below src/. Nothing else is promised; what these include is installed, too.
set(public_headers
  snapshot/snapshot.h # open a dump or a process; heap, counts, graph, each built when asked for
  snapshot/extract.h # write a smaller core
  base/error.h base/mapping_faults.h base/watch.h # what is thrown, files that fail while read, progress and cancelling
  heap/object_cursor.h # objects one by one
  objects/object_index.h objects/references.h objects/object_graph.h # numbers of objects, and what they refer to
  objects/roots.h objects/live.h algorithms/reach.h # what keeps objects alive, and what that reaches
  algorithms/dominator_tree.h algorithms/retained_by_group.h # what would be freed
  algorithms/shortest_paths.h algorithms/path_folding.h # why something is alive
  analysis/verb.h report/answer.h report/write.h) # the program's questions, and their answers as text, JSON or CSV

# add_included_headers(RESULT FOLDER HEADER…): these, and what they include of FOLDER, directly or not.
function(add_included_headers result folder)
  set(found)
  set(next ${ARGN})
  while(next)
    list(POP_FRONT next header)
    if(NOT header IN_LIST found)
      list(APPEND found ${header})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${header})
      file(STRINGS ${folder}/${header} lines REGEX "^#include \"")
      foreach(line ${lines})
        string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
        list(APPEND next ${included})
      endforeach()
    endif()
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

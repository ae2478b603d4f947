# find_package(dnheap), then target_link_libraries(… dnheap::dnheap) and #include "snapshot/snapshot.h".
include(${CMAKE_CURRENT_LIST_DIR}/dnheapDependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/dnheapTargets.cmake)

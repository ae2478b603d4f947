# What the library links, as targets. Used by the build itself and, installed, by find_package(dnheap).
# With DNHEAP_STATIC the archives are taken.
include(CMakeFindDependencyMacro)
find_dependency(Threads)

foreach(name zstd re2 z)
  if(NOT TARGET dnheap::${name})
    if(DNHEAP_STATIC)
      find_library(DNHEAP_${name}_LIBRARY lib${name}.a)
    else()
      find_library(DNHEAP_${name}_LIBRARY ${name})
    endif()
    if(NOT DNHEAP_${name}_LIBRARY)
      message(FATAL_ERROR "dnheap needs lib${name}: apt-get install libzstd-dev libre2-dev zlib1g-dev")
    endif()
    add_library(dnheap::${name} INTERFACE IMPORTED GLOBAL)
    set_property(TARGET dnheap::${name} PROPERTY INTERFACE_LINK_LIBRARIES ${DNHEAP_${name}_LIBRARY})
  endif()
endforeach()

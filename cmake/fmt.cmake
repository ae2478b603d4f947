# The target dnheap::fmt. Compiling fmt's inner functions with each file takes a quarter of the compiler's time, so programs and
# tests have them once. Not so the library that others link: their own fmt would define the same names.
find_package(fmt REQUIRED)
add_library(dnheap-fmt INTERFACE)
add_library(dnheap::fmt ALIAS dnheap-fmt)
if(DNHEAP_STATIC OR DNHEAP_TESTS)
  get_target_property(folders fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  file(WRITE ${PROJECT_BINARY_DIR}/fmt_fits.cc "#include <fmt/format.h>\n#include <cstdio>\n"
    "int main(int n, char **text) { return std::puts(fmt::format(\"{:>9L} {:.3f} {} {:p}\", n, n / 3., text[0], (void *)text).c_str()); }\n")
  try_compile(DNHEAP_FMT_FITS ${PROJECT_BINARY_DIR}/fmt_fits SOURCES ${PROJECT_BINARY_DIR}/fmt_fits.cc ${PROJECT_SOURCE_DIR}/cmake/fmt.cc
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${folders}" CXX_STANDARD 20)
endif()
if(DNHEAP_FMT_FITS)
  add_library(dnheap-fmt-once OBJECT ${PROJECT_SOURCE_DIR}/cmake/fmt.cc) # becomes part of the library
  target_include_directories(dnheap-fmt-once SYSTEM PRIVATE ${folders})
  target_include_directories(dnheap-fmt SYSTEM INTERFACE ${folders})
else()
  target_link_libraries(dnheap-fmt INTERFACE fmt::fmt-header-only)
endif()

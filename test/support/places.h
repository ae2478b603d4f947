// Where the program and the tests' own files are. Only places.cc is compiled with these paths, so that all other
// objects are the same in every checkout and a compiler cache can share them.
#pragma once
#include <string>

namespace dnheap::test {

// The built program dnheap.
std::string program();
// The folder test/ of the sources.
std::string test_folder();

} // namespace dnheap::test

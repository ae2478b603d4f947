#include "support/places.h"

namespace dnheap::test {

std::string program() { return DNHEAP_PROGRAM; }
std::string test_folder() { return DNHEAP_TEST_FOLDER; }

} // namespace dnheap::test

// Opens an address in the user's browser, where somebody sits before a screen. What does not come to its end, or fails,
// is no harm: the address was printed. Waits for nothing.
#pragma once
#include <string>

namespace dnheap::cli {

void open_browser(const std::string &url);

} // namespace dnheap::cli

// Opens an address in the user's browser if somebody sits at a screen. Failures do not matter, since the address was
// printed. Waits for nothing.
#pragma once
#include <string>

namespace dnheap::cli {

void open_browser(const std::string &url);

} // namespace dnheap::cli

#include "cli/browser.h"

// The second needs the first.
// clang-format off
#include <windows.h>
#include <shellapi.h>
// clang-format on

namespace dnheap::cli {

void open_browser(const std::string &url) {
  DWORD mode = 0; // with a console somebody may be there
  if (::GetConsoleMode(::GetStdHandle(STD_ERROR_HANDLE), &mode))
    ::ShellExecuteA(nullptr, "open", url.c_str(), nullptr, nullptr, SW_SHOWNORMAL);
}

} // namespace dnheap::cli

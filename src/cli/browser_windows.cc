#include "cli/browser.h"

// In this order, as shellapi.h needs windows.h.
// clang-format off
#include <windows.h>
#include <shellapi.h>
// clang-format on

namespace dnheap::cli {

void open_browser(const std::string &url) {
  DWORD mode = 0; // if there is a console, somebody may sit at the screen
  if (::GetConsoleMode(::GetStdHandle(STD_ERROR_HANDLE), &mode))
    ::ShellExecuteA(nullptr, "open", url.c_str(), nullptr, nullptr, SW_SHOWNORMAL);
}

} // namespace dnheap::cli

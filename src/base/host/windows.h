// Shared by the Windows files of base/: paths as Windows takes them (UTF-8 everywhere else), and error texts in the
// words of POSIX hosts. Any thread. Only for files called x_windows.cc.
#pragma once
#include "base/integers.h"

#include <string>
#include <system_error>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

namespace dnheap {

inline std::wstring wide(const std::string &text) {
  const int size = ::MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), nullptr, 0);
  std::wstring out(static_cast<std::size_t>(size), L'\0');
  ::MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), out.data(), size);
  return out;
}

inline std::string narrow(const std::wstring &text) {
  const int size =
      ::WideCharToMultiByte(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), nullptr, 0, nullptr, nullptr);
  std::string out(static_cast<std::size_t>(size), '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), out.data(), size, nullptr, nullptr);
  return out;
}

// Returns "No such file or directory" and the like if POSIX has a text for the error.
inline std::string what_failed(DWORD error = ::GetLastError()) {
  if (error == ERROR_SHARING_VIOLATION)
    return "another program has it open for writing";
  return std::system_category().default_error_condition(static_cast<int>(error)).message();
}

} // namespace dnheap

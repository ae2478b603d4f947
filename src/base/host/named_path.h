// Whether a path that a dump names may be opened on this machine. Any thread.
#pragma once
#include <string_view>

namespace dnheap {

// Returns true for a file on a drive of Windows, "C:\app\shop.pdb". Not for "\\server\share\shop.pdb" or a device: to
// open such a path would send the user's name, and a proof of the password, to a machine that whoever made the dump has
// chosen.
inline bool is_on_drive(std::string_view path) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return path.size() > 3 && is_letter(path[0]) && path[1] == ':' && (path[2] == '\\' || path[2] == '/');
}

// What Windows opens: of its own paths those on drives; of others those that do not begin with two slashes, which mean
// a server there. `windows`: the dump is one of Windows.
inline bool may_open_on_windows(std::string_view path, bool windows) {
  const auto is_slash = [](char c) { return c == '/' || c == '\\'; };
  return windows ? is_on_drive(path) : path.size() < 2 || !is_slash(path[0]) || !is_slash(path[1]);
}

// The rule of this host; POSIX hosts open no path of Windows.
bool may_open_named(std::string_view path, bool windows);

} // namespace dnheap

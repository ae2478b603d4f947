// FolderLock: a folder that one program works in at a time. Goes when the object does, or the process. Not on Windows,
// where the constructor throws Error.
#pragma once
#include <string>

namespace dnheap {

class FolderLock {
public:
  // Throws Error where another has it, or there is no such folder.
  explicit FolderLock(const std::string &folder);
  ~FolderLock();
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

private:
  int folder_ = -1;
};

} // namespace dnheap

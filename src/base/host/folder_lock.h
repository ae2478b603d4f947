// FolderLock: reserves a folder for one program at a time. Released when the object is destroyed or the process ends.
// On Windows the constructor always throws Error.
#pragma once
#include <string>

namespace dnheap {

class FolderLock {
public:
  // Throws Error if another program has the folder, or if there is no such folder.
  explicit FolderLock(const std::string &folder);
  ~FolderLock();
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

private:
  int folder_ = -1;
};

} // namespace dnheap

#include "base/error.h"
#include "base/host/folder_lock.h"

namespace dnheap {

FolderLock::FolderLock(const std::string &folder) { throw Error(folder + ": folders cannot be locked on Windows"); }
FolderLock::~FolderLock() = default;

} // namespace dnheap

#include "base/error.h"
#include "base/host/folder_lock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace dnheap {

// Locks the folder itself, so that nothing has to be written to it. Some network file systems do not support locks.
FolderLock::FolderLock(const std::string &folder) {
  folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0)
    throw Error(folder + ": " + std::strerror(errno));
  if (::flock(folder_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(folder_);
    throw Error("another dnheap watch writes to " + folder + ": each needs a folder of its own");
  }
}

FolderLock::~FolderLock() { ::close(folder_); }

} // namespace dnheap

// LocalListener: a socket of this machine that is a file (AF_UNIX), made by this process, on which others connect. Only
// the file's owner, and root, may. Every call returns within its time limit, or when a signal arrives. Not on Windows.
// One thread at a time.
#pragma once
#include "base/host/local_socket.h"

namespace dnheap {

class LocalListener {
public:
  // Makes the file; that of a socket on which nobody listens any longer is replaced. Throws Error if anything else has
  // that name, a link too.
  explicit LocalListener(const std::string &path);
  // Removes the file, unless another one has its name by now.
  ~LocalListener();
  LocalListener(const LocalListener &) = delete;
  LocalListener &operator=(const LocalListener &) = delete;

  // Returns nullopt if nobody connects within `seconds`.
  std::optional<LocalSocket> accept(double seconds) const;
  const std::string &path() const { return path_; }

private:
  int socket_ = -1;
  std::string path_;
  u64 device_ = 0, inode_ = 0; // of the file
};

} // namespace dnheap

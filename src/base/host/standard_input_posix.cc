#include "base/error.h"
#include "base/host/host.h"
#include "base/host/standard_input.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dnheap {

std::string file_at_standard_input() {
  struct stat input, named;
  if (::fstat(STDIN_FILENO, &input) != 0 || !S_ISREG(input.st_mode) || ::lseek(STDIN_FILENO, 0, SEEK_CUR) != 0)
    return {};
  std::string path(PATH_MAX, '\0');
  const ssize_t length = ::readlink("/proc/self/fd/0", path.data(), path.size());
  if (length <= 0 || static_cast<std::size_t>(length) >= path.size())
    return {};
  path.resize(static_cast<std::size_t>(length));
  const bool is_same =
      ::stat(path.c_str(), &named) == 0 && named.st_dev == input.st_dev && named.st_ino == input.st_ino;
  return is_same && ::access(path.c_str(), R_OK) == 0 ? path : std::string();
}

void read_standard_input(const std::function<void(Bytes)> &take, const std::function<void()> &check) {
  constexpr int wait_milliseconds = 200; // a signal may come between the check and the wait
  if (is_terminal(STDIN_FILENO))
    throw Error("it is a terminal: pipe a dump into it, or name a file");
  std::vector<std::byte> buffer(1 << 20);
  for (;;) {
    check();
    pollfd wait{STDIN_FILENO, POLLIN, 0};
    if (::poll(&wait, 1, wait_milliseconds) == 0)
      continue;
    const ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size == 0)
      return;
    if (size > 0)
      take(Bytes(buffer).first(static_cast<std::size_t>(size)));
    else if (errno != EINTR && errno != EAGAIN)
      throw Error(std::strerror(errno));
  }
}

} // namespace dnheap

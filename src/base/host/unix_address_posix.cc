#include "base/host/unix_address.h"

#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace dnheap {

namespace {

// Returns the folder, opened, if the path is too long for a socket's address: the path through the open folder is
// short. −1 otherwise.
int folder_of_long(const std::string &path) {
  const std::size_t slash = path.rfind('/');
  if (path.size() < sizeof(sockaddr_un::sun_path) || slash == path.npos)
    return -1;
  return ::open(path.substr(0, slash + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

} // namespace

UnixAddress::UnixAddress(const std::string &path) : folder_(folder_of_long(path)) {
  const std::string name =
      folder_ < 0 ? path : "/proc/self/fd/" + std::to_string(folder_) + path.substr(path.rfind('/'));
  fits_ = name.size() < sizeof address_.sun_path;
  address_.sun_family = AF_UNIX;
  if (fits_)
    std::memcpy(address_.sun_path, name.c_str(), name.size() + 1);
}

UnixAddress::~UnixAddress() {
  if (folder_ >= 0)
    ::close(folder_);
}

int new_unix_socket() {
  const int out = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (out >= 0)
    prepare_unix_socket(out);
  return out;
}

void prepare_unix_socket(int socket) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  ::fcntl(socket, F_SETFL, O_NONBLOCK);
#ifdef SO_NOSIGPIPE
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
}

} // namespace dnheap

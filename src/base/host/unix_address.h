// UnixAddress: the address of a socket that is a file (AF_UNIX), also of one whose path is longer than an address may
// be. For local_socket_posix.cc and local_listener_posix.cc alone; any thread.
#pragma once
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

namespace dnheap {

class UnixAddress {
public:
  explicit UnixAddress(const std::string &path);
  ~UnixAddress();
  UnixAddress(const UnixAddress &) = delete;
  UnixAddress &operator=(const UnixAddress &) = delete;

  bool fits() const { return fits_; } // false: there is no address for that path
  const sockaddr *address() const { return reinterpret_cast<const sockaddr *>(&address_); }
  static constexpr socklen_t size() { return sizeof(sockaddr_un); }

private:
  int folder_ = -1;
  bool fits_ = false;
  sockaddr_un address_ = {};
};

// Returns a socket that never blocks and that programs started later do not get; −1 with errno.
int new_unix_socket();
// Sets what new_unix_socket() sets, for one that accept() has returned.
void prepare_unix_socket(int socket);

} // namespace dnheap

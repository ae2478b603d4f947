#include "base/error.h"
#include "explore/sockets.h"

#include <cerrno>
#include <cstring>
#include <event2/util.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dnheap::explore {

// Done by hand, since libevent's own function asks the system to resolve even numeric addresses.
Listening listen_here(u16 port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto *any = reinterpret_cast<sockaddr *>(&address);
  // Set TCP_NODELAY on the listening socket, from which accepted ones inherit it: the end of a long answer is sent at
  // once.
  const int one = 1, listening = ::socket(AF_INET, SOCK_STREAM, 0);
  if (listening < 0 || evutil_make_socket_nonblocking(listening) != 0 ||
      evutil_make_socket_closeonexec(listening) != 0 ||
      ::setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
      ::setsockopt(listening, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0 || ::bind(listening, any, size) != 0 ||
      ::listen(listening, 128) != 0 || ::getsockname(listening, any, &size) != 0) {
    const int error = errno;
    if (listening >= 0)
      ::close(listening);
    throw Error(fmt::format("cannot listen on 127.0.0.1:{}: {}", port, std::strerror(error)));
  }
  return {listening, ntohs(address.sin_port)};
}

void close_socket(Socket socket) { ::close(socket); }

bool has_hung_up(Socket socket) {
  char byte;
  const auto got = ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

SocketPair::SocketPair() {
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) != 0)
    throw Error(std::string("no socket available: ") + std::strerror(errno));
  for (Socket end : ends_) {
    evutil_make_socket_nonblocking(end);
    evutil_make_socket_closeonexec(end);
  }
}

SocketPair::~SocketPair() {
  for (Socket end : ends_)
    if (end >= 0)
      ::close(end);
}

// SIGPIPE cannot occur: make_streams_safe() ignores it, and the other end is open as long as this one.
void SocketPair::send() const { [[maybe_unused]] const auto sent = ::send(ends_[1], "", 1, 0); }

void SocketPair::take_all() const {
  char bytes[256];
  while (::recv(ends_[0], bytes, sizeof bytes, 0) > 0) {
  }
}

} // namespace dnheap::explore

#include "base/error.h"
#include "explore/sockets.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <event2/util.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dnheap::explore {

namespace {

constexpr rlim_t most_asked = 4096; // open files; with more connections, new ones wait until others end

} // namespace

// Avoids libevent's own way, which asks the system for names even if it is given numbers.
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

void require_descriptors() {
  // The server and a live process as target use ten at most; a browser opens six connections.
  constexpr u64 needed = 20;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit more{std::min<rlim_t>(limit.rlim_max, 65536), limit.rlim_max};
    if (more.rlim_cur > limit.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &more) == 0)
      limit = more;
  }
  u64 open = 0;
  const u64 most = std::min<rlim_t>(limit.rlim_cur, 2 * needed + most_asked);
  for (u64 file = 0; file < most; ++file)
    open += ::fcntl(static_cast<int>(file), F_GETFD) != -1;
  if (most - open < needed)
    throw Error(fmt::format("explore needs {} file descriptors besides the {} that are open, but the limit is {}: "
                            "ulimit -n {}",
                            needed, open, limit.rlim_cur, needed + open));
}

bool has_room_for_a_socket() {
  const int one = ::dup(0); // make_streams_safe() makes sure that file 0 is open
  if (one < 0)
    return false;
  ::close(one);
  return true;
}

std::vector<Connection> connections_to(u16 port) {
  std::vector<Connection> out;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return out;
  for (int socket = 0; socket < static_cast<int>(std::min<rlim_t>(limit.rlim_cur, most_asked)); ++socket) {
    sockaddr_in here{}, there{};
    socklen_t size = sizeof here, other_size = sizeof there;
    if (::getsockname(socket, reinterpret_cast<sockaddr *>(&here), &size) == 0 && here.sin_family == AF_INET &&
        ntohs(here.sin_port) == port && ::getpeername(socket, reinterpret_cast<sockaddr *>(&there), &other_size) == 0)
      out.push_back({socket, ntohs(there.sin_port)});
  }
  return out;
}

void end_reading(Socket socket) { ::shutdown(socket, SHUT_RD); }

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

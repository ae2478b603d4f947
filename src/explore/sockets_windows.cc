#include "base/error.h"
#include "explore/sockets.h"

#include <event2/util.h>
#include <fmt/format.h>
#include <winsock2.h>

namespace dnheap::explore {

namespace {

void start_sockets() {
  static const int failed = [] {
    WSADATA about;
    return ::WSAStartup(MAKEWORD(2, 2), &about);
  }();
  if (failed)
    throw Error(std::string("no sockets available: ") + evutil_socket_error_to_string(failed));
}

} // namespace

Listening listen_here(u16 port) {
  start_sockets();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int size = sizeof address;
  auto *any = reinterpret_cast<sockaddr *>(&address);
  const DWORD one = 1;
  const SOCKET listening = ::socket(AF_INET, SOCK_STREAM, 0);
  auto set = [&](int level, int option) {
    return ::setsockopt(listening, level, option, reinterpret_cast<const char *>(&one), sizeof one) == 0;
  };
  // Exclusive use, as Windows would otherwise let other programs listen on the same port.
  if (listening == INVALID_SOCKET || evutil_make_socket_nonblocking(static_cast<evutil_socket_t>(listening)) != 0 ||
      !set(SOL_SOCKET, SO_EXCLUSIVEADDRUSE) || !set(IPPROTO_TCP, TCP_NODELAY) || ::bind(listening, any, size) != 0 ||
      ::listen(listening, 128) != 0 || ::getsockname(listening, any, &size) != 0) {
    const int error = ::WSAGetLastError();
    if (listening != INVALID_SOCKET)
      ::closesocket(listening);
    throw Error(fmt::format("cannot listen on 127.0.0.1:{}: {}", port, evutil_socket_error_to_string(error)));
  }
  return {static_cast<Socket>(listening), ntohs(address.sin_port)};
}

void close_socket(Socket socket) { ::closesocket(static_cast<SOCKET>(socket)); }

bool has_hung_up(Socket socket) {
  char byte;
  // Does not wait, as libevent's sockets never block.
  const int got = ::recv(static_cast<SOCKET>(socket), &byte, 1, MSG_PEEK);
  return got == 0 || (got < 0 && ::WSAGetLastError() != WSAEWOULDBLOCK);
}

void require_descriptors() {}

bool has_room_for_a_socket() { return true; }

std::vector<Connection> connections_to(u16) { return {}; }

void end_reading(Socket socket) { ::shutdown(static_cast<SOCKET>(socket), SD_RECEIVE); }

// Windows has no pairs: libevent connects two over the loopback device.
SocketPair::SocketPair() {
  start_sockets();
  evutil_socket_t ends[2];
  if (evutil_socketpair(AF_INET, SOCK_STREAM, 0, ends) != 0)
    throw Error(std::string("no socket available: ") + evutil_socket_error_to_string(::WSAGetLastError()));
  for (int i = 0; i < 2; ++i) {
    evutil_make_socket_nonblocking(ends[i]);
    ends_[i] = ends[i];
  }
}

SocketPair::~SocketPair() {
  for (Socket end : ends_)
    if (end != -1)
      close_socket(end);
}

void SocketPair::send() const { ::send(static_cast<SOCKET>(ends_[1]), "", 1, 0); }

void SocketPair::take_all() const {
  char bytes[256];
  while (::recv(static_cast<SOCKET>(ends_[0]), bytes, sizeof bytes, 0) > 0) {
  }
}

} // namespace dnheap::explore

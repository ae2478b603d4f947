#include "base/host/local_socket.h"
#include "base/host/unix_address.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace dnheap {

namespace {

using SocketClock = std::chrono::steady_clock;

SocketClock::time_point after_seconds(double seconds) {
  return SocketClock::now() + std::chrono::duration_cast<SocketClock::duration>(std::chrono::duration<double>(seconds));
}

std::error_code socket_error(int number) { return {number, std::generic_category()}; }

// Returns 0, or errno. EAGAIN means that the listener's queue is full.
int connect_until(int socket, const UnixAddress &address, SocketClock::time_point last) {
  while (::connect(socket, address.address(), UnixAddress::size()) != 0) {
    if (errno == EISCONN)
      return 0;
    if (errno != EAGAIN && errno != EINPROGRESS && errno != EALREADY)
      return errno;
    if (SocketClock::now() >= last)
      return ETIMEDOUT;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return 0;
}

// Returns true if the socket is ready before the time is over; false also when a signal arrives.
bool is_ready(int socket, short events, double seconds) {
  constexpr double most = 1e6; // milliseconds fit into an int
  pollfd asked{socket, events, 0};
  return ::poll(&asked, 1, static_cast<int>(std::ceil(std::clamp(seconds, 0.0, most) * 1000))) > 0;
}

#ifdef MSG_NOSIGNAL
constexpr int without_signal = MSG_NOSIGNAL;
#else
constexpr int without_signal = 0;
#endif

} // namespace

std::optional<LocalSocket> LocalSocket::connect(const std::string &path, double seconds, std::error_code &error) {
  const UnixAddress address(path);
  LocalSocket out(new_unix_socket());
  int failure = out.socket_ < 0 ? errno : address.fits() ? 0 : ENAMETOOLONG;
  if (!failure)
    failure = connect_until(out.socket_, address, after_seconds(seconds));
  error = socket_error(failure);
  return failure ? std::nullopt : std::optional(std::move(out));
}

LocalSocket::LocalSocket(LocalSocket &&other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

LocalSocket &LocalSocket::operator=(LocalSocket &&other) noexcept {
  std::swap(socket_, other.socket_);
  return *this;
}

LocalSocket::~LocalSocket() {
  if (socket_ >= 0)
    ::close(socket_);
}

std::optional<u64> LocalSocket::other_end() const {
#ifdef SO_PEERCRED
  ucred peer = {};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket_, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
    return static_cast<u64>(std::max<pid_t>(peer.pid, 0));
#endif
  return std::nullopt;
}

bool LocalSocket::send(Bytes bytes, double seconds) const {
  const auto last = after_seconds(seconds);
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), without_signal);
    if (n > 0)
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    else if (errno != EAGAIN && errno != EINTR)
      return false;
    else if (SocketClock::now() >= last)
      return false;
    else
      is_ready(socket_, POLLOUT, std::chrono::duration<double>(last - SocketClock::now()).count());
  }
  return true;
}

LocalSocket::Received LocalSocket::receive(std::vector<std::byte> &to, u64 most, double seconds) const {
  if (!is_ready(socket_, POLLIN, seconds))
    return Received::nothing;
  const std::size_t before = to.size();
  to.resize(before + most);
  const ssize_t n = ::recv(socket_, to.data() + before, most, 0);
  const int error = errno;
  to.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  if (n > 0)
    return Received::bytes;
  return n < 0 && (error == EAGAIN || error == EINTR) ? Received::nothing : Received::end;
}

} // namespace dnheap

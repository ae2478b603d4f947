#include "base/host/local_socket.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
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

// Returns the folder, opened, if the path is too long for a socket's address: the path through the open folder is
// short. −1 otherwise.
int folder_of_long(const std::string &path) {
  const std::size_t slash = path.rfind('/');
  if (path.size() < sizeof(sockaddr_un::sun_path) || slash == path.npos)
    return -1;
  return ::open(path.substr(0, slash + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool set_address(sockaddr_un &address, const std::string &path, int folder) {
  const std::string name = folder < 0 ? path : "/proc/self/fd/" + std::to_string(folder) + path.substr(path.rfind('/'));
  if (name.size() >= sizeof address.sun_path)
    return false;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  return true;
}

int new_socket() {
  const int out = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (out < 0)
    return out;
  ::fcntl(out, F_SETFD, FD_CLOEXEC);
  ::fcntl(out, F_SETFL, O_NONBLOCK);
#ifdef SO_NOSIGPIPE
  const int yes = 1;
  ::setsockopt(out, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
  return out;
}

// Returns 0, or errno. EAGAIN means that the listener's queue is full.
int connect_until(int socket, const sockaddr_un &address, SocketClock::time_point last) {
  while (::connect(socket, reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0) {
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
  const int folder = folder_of_long(path);
  sockaddr_un address = {};
  LocalSocket out(new_socket());
  int failure = out.socket_ < 0 ? errno : 0;
  if (!failure && !set_address(address, path, folder))
    failure = ENAMETOOLONG;
  if (!failure)
    failure = connect_until(out.socket_, address, after_seconds(seconds));
  if (folder >= 0)
    ::close(folder);
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

std::optional<u64> LocalSocket::listener() const {
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

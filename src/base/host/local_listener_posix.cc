#include "base/error.h"
#include "base/host/local_listener.h"
#include "base/host/unix_address.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace dnheap {

namespace {

constexpr mode_t for_the_owner = S_IRUSR | S_IWUSR;

[[noreturn]] void fail_to_listen(const std::string &path, const std::string &why) {
  throw Error("cannot listen on " + path + ": " + why);
}

[[noreturn]] void fail_to_listen(const std::string &path, int error) {
  fail_to_listen(path, std::error_code(error, std::generic_category()).message());
}

// Removes the file of a socket that ended programs have left.
void remove_dead_socket(const std::string &path) {
  struct stat there = {};
  if (::lstat(path.c_str(), &there) != 0)
    return;
  if (!S_ISSOCK(there.st_mode))
    fail_to_listen(path, S_ISLNK(there.st_mode) ? "it is a link: name the place itself"
                                                : "it is there already, and no socket: name another file");
  std::error_code error;
  constexpr double asking = 1; // seconds
  if (LocalSocket::connect(path, asking, error) || error != std::errc::connection_refused)
    fail_to_listen(path, "it is there already, and a program may listen on it (" +
                             (error ? error.message() : std::string("it accepts")) +
                             "): end that program, or name another file");
  if (::unlink(path.c_str()) != 0)
    fail_to_listen(path, errno);
}

// Before listen() nobody can connect: so no moment is left in which others could.
int bound_socket(const std::string &path) {
  const UnixAddress address(path);
  if (!address.fits())
    fail_to_listen(path, ENAMETOOLONG);
  const int out = new_unix_socket();
  if (out < 0)
    fail_to_listen(path, errno);
  const bool has_mode = ::fchmod(out, for_the_owner) == 0; // on Linux the file gets the socket's mode
  int error = ::bind(out, address.address(), UnixAddress::size()) == 0 ? 0 : errno;
#ifndef __linux__
  if (!error && ::chmod(path.c_str(), for_the_owner) != 0)
    error = errno;
#else
  if (!error && !has_mode)
    error = EPERM;
#endif
  static_cast<void>(has_mode);
  constexpr int waiting = 16;
  if (!error && ::listen(out, waiting) != 0)
    error = errno;
  if (!error)
    return out;
  ::close(out);
  fail_to_listen(path, error);
}

} // namespace

LocalListener::LocalListener(const std::string &path) : path_(path) {
  remove_dead_socket(path);
  socket_ = bound_socket(path);
  struct stat made = {};
  const bool is_there = ::lstat(path.c_str(), &made) == 0;
  device_ = static_cast<u64>(made.st_dev);
  inode_ = static_cast<u64>(made.st_ino);
  if (is_there && S_ISSOCK(made.st_mode) && (made.st_mode & (S_IRWXG | S_IRWXO)) == 0)
    return;
  ::close(socket_);
  if (is_there && S_ISSOCK(made.st_mode))
    ::unlink(path.c_str());
  fail_to_listen(path, "the file system lets others connect: name a file elsewhere");
}

LocalListener::~LocalListener() {
  struct stat there = {};
  if (::lstat(path_.c_str(), &there) == 0 && static_cast<u64>(there.st_dev) == device_ &&
      static_cast<u64>(there.st_ino) == inode_)
    ::unlink(path_.c_str());
  ::close(socket_);
}

std::optional<LocalSocket> LocalListener::accept(double seconds) const {
  pollfd asked{socket_, POLLIN, 0};
  constexpr double most = 3600; // milliseconds fit into an int
  if (::poll(&asked, 1, static_cast<int>(std::ceil(std::clamp(seconds, 0.0, most) * 1000))) <= 0)
    return std::nullopt;
  const int connection = ::accept(socket_, nullptr, nullptr);
  if (connection < 0)
    return std::nullopt;
  prepare_unix_socket(connection);
  return LocalSocket(connection);
}

} // namespace dnheap

// LocalSocket: a connection to a socket of this machine that is a file (AF_UNIX); on Windows to a named pipe. Every
// call returns within its time limit, or when a signal arrives. One thread at a time.
#pragma once
#include "base/bytes.h"

#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace dnheap {

class LocalSocket {
public:
  // Nullopt, with the reason in `error`, if nothing accepts within `seconds`: connection_refused if nobody listens any
  // more, permission_denied if the file belongs to another user.
  static std::optional<LocalSocket> connect(const std::string &path, double seconds, std::error_code &error);
  LocalSocket(LocalSocket &&other) noexcept;
  LocalSocket &operator=(LocalSocket &&other) noexcept;
  ~LocalSocket();
  LocalSocket(const LocalSocket &) = delete;
  LocalSocket &operator=(const LocalSocket &) = delete;

  // Returns the id of the process at the other end, as this process sees it; 0 if it does not see it. Nullopt if the
  // system does not know.
  std::optional<u64> other_end() const;
  // Returns false if the other end takes no more, or not all within `seconds`.
  bool send(Bytes bytes, double seconds) const;
  enum class Received : u8 { bytes, nothing, end };
  // Waits up to `seconds`; appends what is there, at most `most` bytes. `end`: the other end sends nothing more.
  Received receive(std::vector<std::byte> &to, u64 most, double seconds) const;

private:
  friend class LocalListener;
  explicit LocalSocket(int socket) : socket_(socket) {}
  int socket_ = -1;
};

} // namespace dnheap

// Windows: a named pipe. The socket's number is one of the C runtime.
#include "base/host/local_socket.h"
#include "base/host/windows.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fcntl.h>
#include <io.h>
#include <utility>

namespace dnheap {

namespace {

using PipeClock = std::chrono::steady_clock;

HANDLE pipe_of(int socket) { return reinterpret_cast<HANDLE>(::_get_osfhandle(socket)); }

DWORD milliseconds_of(double seconds) {
  constexpr double most = 1e6;
  return static_cast<DWORD>(std::ceil(std::clamp(seconds, 0.0, most) * 1000));
}

// An operation on a pipe that may take its time.
class Overlapped {
public:
  Overlapped() { about_.hEvent = ::CreateEventW(nullptr, TRUE, FALSE, nullptr); }
  ~Overlapped() { ::CloseHandle(about_.hEvent); }
  Overlapped(const Overlapped &) = delete;
  Overlapped &operator=(const Overlapped &) = delete;

  OVERLAPPED *about() { return &about_; }
  // Returns ERROR_SUCCESS with the number of bytes, ERROR_OPERATION_ABORTED if the time was over, or another error.
  // `started`: the result of the call that began it.
  DWORD finish(HANDLE pipe, BOOL started, double seconds, DWORD &bytes) {
    if (!started && ::GetLastError() != ERROR_IO_PENDING)
      return ::GetLastError();
    if (::WaitForSingleObject(about_.hEvent, milliseconds_of(seconds)) != WAIT_OBJECT_0)
      ::CancelIoEx(pipe, &about_);
    // The memory that it uses must stay until it has ended.
    return ::GetOverlappedResult(pipe, &about_, &bytes, TRUE) ? ERROR_SUCCESS : ::GetLastError();
  }

private:
  OVERLAPPED about_{};
};

HANDLE open_pipe(const std::string &path) {
  return ::CreateFileW(wide(path).c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_EXISTING,
                       FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, nullptr);
}

} // namespace

std::optional<LocalSocket> LocalSocket::connect(const std::string &path, double seconds, std::error_code &error) {
  const auto last = PipeClock::now() + std::chrono::duration<double>(seconds);
  HANDLE pipe = open_pipe(path);
  // Another one talks to it, and its next instance is not there yet.
  while (pipe == INVALID_HANDLE_VALUE && ::GetLastError() == ERROR_PIPE_BUSY && PipeClock::now() < last) {
    ::WaitNamedPipeW(wide(path).c_str(), 50);
    pipe = open_pipe(path);
  }
  if (pipe == INVALID_HANDLE_VALUE) {
    error = {static_cast<int>(::GetLastError()), std::system_category()};
    return std::nullopt;
  }
  error.clear();
  return LocalSocket(::_open_osfhandle(reinterpret_cast<std::intptr_t>(pipe), _O_BINARY));
}

LocalSocket::LocalSocket(LocalSocket &&other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

LocalSocket &LocalSocket::operator=(LocalSocket &&other) noexcept {
  std::swap(socket_, other.socket_);
  return *this;
}

LocalSocket::~LocalSocket() {
  if (socket_ >= 0)
    ::_close(socket_);
}

std::optional<u64> LocalSocket::other_end() const {
  ULONG id = 0;
  return ::GetNamedPipeServerProcessId(pipe_of(socket_), &id) && id ? std::optional<u64>(id) : std::nullopt;
}

bool LocalSocket::send(Bytes bytes, double seconds) const {
  const auto last = PipeClock::now() + std::chrono::duration<double>(seconds);
  while (!bytes.empty()) {
    const double left = std::chrono::duration<double>(last - PipeClock::now()).count();
    Overlapped written;
    DWORD size = 0;
    const BOOL started =
        ::WriteFile(pipe_of(socket_), bytes.data(), static_cast<DWORD>(bytes.size()), nullptr, written.about());
    if (written.finish(pipe_of(socket_), started, left, size) != ERROR_SUCCESS || size == 0)
      return false;
    bytes = bytes.subspan(size);
  }
  return true;
}

LocalSocket::Received LocalSocket::receive(std::vector<std::byte> &to, u64 most, double seconds) const {
  std::vector<std::byte> piece(most);
  Overlapped read;
  DWORD size = 0;
  const BOOL started = ::ReadFile(pipe_of(socket_), piece.data(), static_cast<DWORD>(most), nullptr, read.about());
  const DWORD error = read.finish(pipe_of(socket_), started, seconds, size);
  to.insert(to.end(), piece.begin(), piece.begin() + size);
  if (size > 0)
    return Received::bytes;
  return error == ERROR_SUCCESS || error == ERROR_OPERATION_ABORTED ? Received::nothing : Received::end;
}

} // namespace dnheap

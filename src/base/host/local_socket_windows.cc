#include "base/host/local_socket.h"

#include <utility>

namespace dnheap {

bool LocalSocket::is_supported() { return false; }
std::optional<LocalSocket> LocalSocket::connect(const std::string &, double, std::error_code &error) {
  error = std::make_error_code(std::errc::not_supported);
  return std::nullopt;
}
LocalSocket::LocalSocket(LocalSocket &&other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
LocalSocket &LocalSocket::operator=(LocalSocket &&) noexcept { return *this; }
LocalSocket::~LocalSocket() = default;
std::optional<u64> LocalSocket::other_end() const { return std::nullopt; }
bool LocalSocket::send(Bytes, double) const { return false; }
LocalSocket::Received LocalSocket::receive(std::vector<std::byte> &, u64, double) const { return Received::end; }

} // namespace dnheap

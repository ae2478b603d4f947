#include "base/host/kernel_text.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <unistd.h>

namespace dnheap {

std::optional<std::string> kernel_text(const std::string &path, u64 limit) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return std::nullopt;
  std::string out;
  ssize_t n = 0;
  do {
    std::size_t at = out.size();
    out.resize(at + (64 << 10));
    n = ::read(file, out.data() + at, out.size() - at);
    out.resize(at + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  } while (n > 0 && out.size() < limit);
  int error = errno;
  ::close(file);
  errno = error;
  return n < 0 ? std::nullopt : std::optional(std::move(out));
}

std::optional<u64> number_in(std::string_view text, int base) {
  while (text.starts_with(' ') || text.starts_with('\t'))
    text.remove_prefix(1);
  u64 value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

std::optional<u64> number_behind(const std::optional<std::string> &text, std::string_view key, int base) {
  std::size_t at = text ? ("\n" + *text).find("\n" + std::string(key)) : std::string::npos;
  return at == std::string::npos ? std::nullopt : number_in(std::string_view(*text).substr(at + key.size()), base);
}

} // namespace dnheap

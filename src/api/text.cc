#include "dnheap/text.h"

#include "base/nearest.h"
#include "base/sizes.h"
#include "base/text.h"
#include "report/encoding.h"

namespace dnheap::v0 {

std::string bytes_text(std::uint64_t bytes) { return dnheap::bytes_text(bytes); }
std::string count_text(std::uint64_t count) { return dnheap::count_text(count); }

std::string printable_text(std::string_view text) {
  std::string out;
  report::append_printable(out, text);
  return out;
}

std::optional<std::uint64_t> parse_size(std::string_view text) { return dnheap::parse_size(text); }

std::optional<std::uint64_t> parse_duration(std::string_view text) { return dnheap::parse_duration(text); }

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  return dnheap::did_you_mean(word, candidates);
}

} // namespace dnheap::v0

#include "dump/live/process_maps.h"

#include "base/digits.h"
#include "base/process/process.h"

#include <algorithm>
#include <optional>

namespace dnheap {

namespace {

constexpr u64 most_mappings = 1 << 20;

// Parses "fe:00", major and minor number; returns 0 if there is none.
u64 device_number(std::string_view text) {
  std::size_t colon = std::min(text.find(':'), text.size());
  std::optional<u64> major = number_of_digits(text.substr(0, colon), 16),
                     minor = number_of_digits(text.substr(std::min(colon + 1, text.size())), 16);
  return major && minor && *major <= ~u32{0} && *minor <= ~u32{0}
             ? device_of(static_cast<u32>(*major), static_cast<u32>(*minor))
             : 0;
}

} // namespace

std::string_view next_word(std::string_view &text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::string_view word = text.substr(0, text.find_first_of(" \t\n"));
  text.remove_prefix(word.size());
  return word;
}

std::vector<ProcessMapping> parse_process_maps(std::string_view text) {
  std::vector<ProcessMapping> out;
  while (!text.empty() && out.size() < most_mappings) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::string_view range = next_word(line), rights = next_word(line), offset = next_word(line);
    std::string_view device = next_word(line), inode = next_word(line);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    std::size_t dash = range.find('-');
    if (dash == range.npos || rights.size() < 4)
      continue;
    std::optional<u64> start = number_of_digits(range.substr(0, dash), 16),
                       end = number_of_digits(range.substr(dash + 1), 16), at = number_of_digits(offset, 16);
    if (!start || !end || !at || *start >= *end || (!out.empty() && *start < out.back().end))
      continue;
    out.push_back({*start, *end, rights[0] == 'r', rights[1] == 'w', rights[2] == 'x', rights[3] == 's', *at,
                   device_number(device), number_of_digits(inode, 10).value_or(0), line});
  }
  return out;
}

} // namespace dnheap

#include "base/text.h"

#include <chrono>
#include <fmt/format.h>

namespace dnheap {

std::string hex(u64 value) { return fmt::format("{:#x}", value); }

std::string hex_bytes(const u8 *data, u64 size) {
  std::string out;
  out.reserve(size * 2);
  for (u64 i = 0; i < size; ++i)
    fmt::format_to(std::back_inserter(out), "{:02x}", data[i]);
  return out;
}

std::string bytes_text(u64 bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024)
    return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  int unit = 0;
  // 1023.95 would print as 1024.0: use the next unit from there on.
  while (value >= 1023.95 && unit < 6) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char &c : out)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string count_text(u64 count) {
  std::string digits = std::to_string(count);
  for (i64 at = static_cast<i64>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string milliseconds_text(u64 ms) {
  if (ms < 1000)
    return fmt::format("{} ms", ms);
  const double seconds = static_cast<double>(ms) / 1000;
  return seconds < 120      ? fmt::format("{:.4g} s", seconds)
         : seconds < 7200   ? fmt::format("{:.4g} min", seconds / 60)
         : seconds < 172800 ? fmt::format("{:.4g} h", seconds / 3600)
                            : fmt::format("{:.4g} d", seconds / 86400);
}

std::string total_of(u64 count, const char *what) {
  return "total of " + count_text(count) + " " + what + (count == 1 ? "" : "s");
}

std::string shortened(std::string_view text, u64 limit) {
  std::string out(text.substr(0, limit));
  if (text.size() <= limit)
    return out;
  // Do not cut through a UTF-8 sequence.
  while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80)
    out.pop_back();
  if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0)
    out.pop_back();
  return out + "…";
}

std::string printable(std::string_view text, u64 limit) {
  std::string out = shortened(text, limit);
  for (char &c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  return out;
}

std::string utc_text(u64 time, bool compact) {
  using namespace std::chrono;
  const sys_seconds at{seconds(time)};
  const year_month_day date(floor<days>(at));
  const hh_mm_ss clock(at - floor<days>(at));
  const char *const dash = compact ? "" : "-", *const colon = compact ? "" : ":";
  return fmt::format("{:04}{}{:02}{}{:02}T{:02}{}{:02}{}{:02}Z", static_cast<int>(date.year()), dash,
                     static_cast<unsigned>(date.month()), dash, static_cast<unsigned>(date.day()),
                     clock.hours().count(), colon, clock.minutes().count(), colon, clock.seconds().count());
}

} // namespace dnheap

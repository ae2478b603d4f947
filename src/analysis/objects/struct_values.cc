#include "analysis/objects/struct_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 ticks_per_second = 10'000'000, ticks_per_day = 86'400 * ticks_per_second;
constexpr u64 most_ticks = 3'155'378'975'999'999'999; // end of 9999-12-31

// The fields of a struct, by name.
class Parts {
public:
  Parts(const Runtime &runtime, Address method_table, Address at)
      : runtime_(runtime), method_table_(method_table), at_(at) {}

  template <class T> std::optional<T> load(std::string_view name) const {
    const InstanceField *field = find_field(runtime_, method_table_, name);
    return field ? runtime_.memory().try_load<T>(field_address(runtime_, *field, at_)) : std::nullopt;
  }
  // Loads a field of two or four bytes: versions differ.
  std::optional<i64> load_signed(std::string_view name) const {
    const InstanceField *field = find_field(runtime_, method_table_, name);
    if (field && field->type == ElementType::I2)
      if (std::optional<u16> value = load<u16>(name))
        return static_cast<std::int16_t>(*value);
    if (field && field->type == ElementType::I4)
      if (std::optional<u32> value = load<u32>(name))
        return static_cast<i32>(*value);
    return std::nullopt;
  }
  // Returns a struct inside of it.
  std::optional<Parts> inner(std::string_view name) const {
    const InstanceField *field = find_field(runtime_, method_table_, name);
    if (!field || !field->method_table)
      return std::nullopt;
    return Parts(runtime_, field->method_table, field_address(runtime_, *field, at_));
  }

private:
  const Runtime &runtime_;
  const Address method_table_, at_;
};

using Text = std::optional<std::string>;

// Returns ".1234567" without trailing zeros; empty if all digits are zero.
std::string fraction_text(u64 ticks) {
  std::string out = fmt::format(".{:07}", ticks % ticks_per_second);
  out.resize(out.find_last_not_of('0') + 1);
  return out == "." ? "" : out;
}

std::string time_text(u64 ticks) {
  const u64 seconds = ticks / ticks_per_second;
  return fmt::format("{:02}:{:02}:{:02}{}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60, fraction_text(ticks));
}

// Returns the date of a day counted from 0001-01-01. Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms",
// civil_from_days.
std::string date_text(u64 day) {
  const u64 z = day + 306, era = z / 146'097, of_era = z % 146'097; // from 0000-03-01 on
  const u64 year_of_era = (of_era - of_era / 1460 + of_era / 36'524 - of_era / 146'096) / 365;
  const u64 of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const u64 shifted = (5 * of_year + 2) / 153, month = shifted < 10 ? shifted + 3 : shifted - 9;
  return fmt::format("{:04}-{:02}-{:02}", year_of_era + era * 400 + (month <= 2), month,
                     of_year - (153 * shifted + 2) / 5 + 1);
}

Text moment_text(u64 ticks) {
  if (ticks > most_ticks)
    return std::nullopt;
  return date_text(ticks / ticks_per_day) + "T" + time_text(ticks % ticks_per_day);
}

Text date_time(const Parts &parts) {
  constexpr u64 kind_shift = 62, unspecified = 0,
                utc = 1; // other values: local time, two of them to distinguish ambiguous summer time
  const std::optional<u64> data = parts.load<u64>("_dateData");
  if (!data)
    return std::nullopt;
  Text out = moment_text(*data & ((u64{1} << kind_shift) - 1));
  if (!out || *data >> kind_shift == unspecified)
    return out;
  return *out + (*data >> kind_shift == utc ? "Z" : " local");
}

// It contains the moment in UTC, and the clock's offset from UTC in minutes.
Text date_time_offset(const Parts &parts) {
  const std::optional<Parts> moment = parts.inner("_dateTime");
  const std::optional<u64> data = moment ? moment->load<u64>("_dateData") : std::nullopt;
  const std::optional<i64> minutes = parts.load_signed("_offsetMinutes");
  if (!data || !minutes || *minutes < -14 * 60 || *minutes > 14 * 60)
    return std::nullopt;
  const u64 ticks = *data & ((u64{1} << 62) - 1);
  const Text out = moment_text(ticks + static_cast<u64>(*minutes * 60) * ticks_per_second);
  const i64 ahead = *minutes < 0 ? -*minutes : *minutes;
  if (!out)
    return std::nullopt;
  return *out + fmt::format("{}{:02}:{:02}", *minutes < 0 ? '-' : '+', ahead / 60, ahead % 60);
}

Text time_span(const Parts &parts) {
  const std::optional<u64> ticks = parts.load<u64>("_ticks");
  if (!ticks)
    return std::nullopt;
  const bool negative = static_cast<i64>(*ticks) < 0;
  const u64 size = negative ? u64{0} - *ticks : *ticks, days = size / ticks_per_day;
  return (negative ? "-" : "") + (days ? std::to_string(days) + "." : "") + time_text(size % ticks_per_day);
}

Text date_only(const Parts &parts) {
  const std::optional<u32> day = parts.load<u32>("_dayNumber");
  return day && *day <= most_ticks / ticks_per_day ? Text(date_text(*day)) : std::nullopt;
}

Text time_only(const Parts &parts) {
  const std::optional<u64> ticks = parts.load<u64>("_ticks");
  return ticks && *ticks < ticks_per_day ? Text(time_text(*ticks)) : std::nullopt;
}

Text guid(const Parts &parts) {
  const std::optional<u32> a = parts.load<u32>("_a");
  const std::optional<u16> b = parts.load<u16>("_b"), c = parts.load<u16>("_c");
  if (!a || !b || !c)
    return std::nullopt;
  std::string out = fmt::format("{:08x}-{:04x}-{:04x}-", *a, *b, *c);
  for (const char *name : {"_d", "_e", "_f", "_g", "_h", "_i", "_j", "_k"}) {
    const std::optional<u8> byte = parts.load<u8>(name);
    if (!byte)
      return std::nullopt;
    out += fmt::format("{}{:02x}", name[1] == 'f' ? "-" : "", *byte);
  }
  return out;
}

// Returns the decimal digits; the most significant word comes first.
template <std::size_t N> std::string digits_of(std::array<u32, N> words, u64 least) {
  std::string out; // the last digit first
  while (out.size() < least || std::any_of(words.begin(), words.end(), [](u32 word) { return word != 0; })) {
    u64 rest = 0;
    for (u32 &word : words) {
      rest = rest << 32 | word;
      word = static_cast<u32>(rest / 10);
      rest %= 10;
    }
    out += static_cast<char>('0' + rest);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

// A Decimal is 96 bits and the position of the point.
Text decimal(const Parts &parts) {
  const std::optional<u32> flags = parts.load<u32>("_flags"), high = parts.load<u32>("_hi32");
  const std::optional<u64> low = parts.load<u64>("_lo64");
  if (!flags || !high || !low)
    return std::nullopt;
  const u32 scale = *flags >> 16 & 0xff;
  if (scale > 28 || *flags & 0x7f00'ffff)
    return std::nullopt;
  std::string digits = digits_of<3>({*high, static_cast<u32>(*low >> 32), static_cast<u32>(*low)}, u64{scale} + 1);
  if (scale)
    digits.insert(digits.size() - scale, ".");
  return (*flags >> 31 ? "-" : "") + digits;
}

Text wide_integer(const Parts &parts, bool is_signed) {
  std::optional<u64> low = parts.load<u64>("_lower"), high = parts.load<u64>("_upper");
  if (!low || !high)
    return std::nullopt;
  const bool negative = is_signed && *high >> 63;
  if (negative) {
    *low = u64{0} - *low;
    *high = ~*high + (*low == 0);
  }
  return (negative ? "-" : "") + digits_of<4>({static_cast<u32>(*high >> 32), static_cast<u32>(*high),
                                               static_cast<u32>(*low >> 32), static_cast<u32>(*low)},
                                              1);
}

Text int128(const Parts &parts) { return wide_integer(parts, true); }
Text uint128(const Parts &parts) { return wide_integer(parts, false); }

// Reads IEEE 754 binary16.
Text half(const Parts &parts) {
  const std::optional<u16> bits = parts.load<u16>("_value");
  if (!bits)
    return std::nullopt;
  const int exponent = *bits >> 10 & 0x1f, fraction = *bits & 0x3ff;
  const char *sign = *bits >> 15 ? "-" : "";
  if (exponent == 0x1f)
    return fraction ? "NaN" : std::string(sign) + "Infinity";
  // Eleven bits need at most five digits.
  const float value =
      std::ldexp(static_cast<float>(exponent ? fraction | 0x400 : fraction), std::max(exponent, 1) - 25);
  for (int digits = 1; digits < 5; ++digits) {
    std::string shortest = fmt::format("{:.{}g}", value, digits);
    const float back = std::strtof(shortest.c_str(), nullptr);
    const float step = std::ldexp(1.0f, std::max(exponent, 1) - 25);
    if (std::fabs(back - value) < step / 2)
      return sign + fmt::format("{}", back);
  }
  return sign + fmt::format("{:.5g}", value);
}

constexpr std::pair<std::string_view, Text (*)(const Parts &)> known[] = {
    {"System.DateTime", date_time}, {"System.DateTimeOffset", date_time_offset},
    {"System.TimeSpan", time_span}, {"System.DateOnly", date_only},
    {"System.TimeOnly", time_only}, {"System.Guid", guid},
    {"System.Decimal", decimal},    {"System.Half", half},
    {"System.Int128", int128},      {"System.UInt128", uint128},
};

} // namespace

const InstanceField *find_field(const Runtime &runtime, Address method_table, std::string_view name) {
  if (method_table)
    for (const InstanceField &field : runtime.fields().instance_fields(method_table))
      if (field.name == name)
        return &field;
  return nullptr;
}

// Offsets count as if the struct were boxed, after a MethodTable.
Address field_address(const Runtime &runtime, const InstanceField &field, Address at) {
  return at + field.offset - runtime.memory().format().pointer_size;
}

Text struct_text(const Runtime &runtime, const std::string &type, Address method_table, Address at) {
  for (const auto &[name, text] : known)
    if (name == type)
      return text(Parts(runtime, method_table, at));
  return std::nullopt;
}

} // namespace dnheap

#include "analysis/process/stress_log_text.h"

#include "base/text.h"

#include <bit>
#include <cctype>
#include <chrono>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 longest_format = 1024, longest_text = 256, longest_message = 2048, widest = 64;
constexpr u64 object_bits = 7; // bits of a MethodTable in an object's first word, which the GC may have set

// Names of the facility bits, in their order: inc/loglf.h.
constexpr const char *facilities[] = {"GC",
                                      "GCInfo",
                                      "Stubs",
                                      "JIT",
                                      "Loader",
                                      "Metadata",
                                      "Sync",
                                      "EEMem",
                                      "GCAlloc",
                                      "Debugger",
                                      "ClassLoader",
                                      "Profiler",
                                      "DiagnosticsPort",
                                      "DbgAlloc",
                                      "EH",
                                      "EnC",
                                      "Assert",
                                      "Verifier",
                                      "ThreadPool",
                                      "GCRoots",
                                      "Interop",
                                      "Marshaler",
                                      "TieredCompilation",
                                      "Zap",
                                      "Startup",
                                      "AppDomain",
                                      "CodeSharing",
                                      "Store",
                                      "Security",
                                      "Locks",
                                      "BCL"};

// One conversion of a format: "%-08.3llx".
struct Conversion {
  bool left = false, zeros = false, alternate = false, plus = false;
  u64 width = 0;
  std::optional<u64> precision;
  u64 bytes = 4; // size of the number
  bool wide = false;
  char kind = 0;
};

class MessageText {
public:
  MessageText(const Memory &memory, const StressMessage &message, const StressLogNames &names)
      : memory_(memory), message_(message), names_(names) {}

  std::string text(std::string_view format) {
    rest_ = format;
    while (!rest_.empty() && out_.size() < longest_message)
      if (const char c = take(); c != '%')
        out_ += c;
      else if (peek() == '%')
        out_ += take();
      else
        convert();
    while (out_.ends_with('\n') || out_.ends_with(' '))
      out_.pop_back();
    return printable(out_, longest_message);
  }

private:
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  char take() {
    const char out = peek();
    rest_.remove_prefix(rest_.empty() ? 0 : 1);
    return out;
  }
  std::optional<u64> argument() {
    return next_ < message_.arguments.size() ? std::optional(message_.arguments[next_++]) : std::nullopt;
  }
  u64 number() {
    u64 out = 0;
    if (peek() == '*') {
      take();
      return std::min(argument().value_or(0), widest);
    }
    while (std::isdigit(static_cast<unsigned char>(peek())))
      out = std::min(out * 10 + static_cast<u64>(take() - '0'), widest);
    return out;
  }

  Conversion conversion() {
    Conversion out;
    for (;; take())
      if (const char c = peek(); c == '-')
        out.left = true;
      else if (c == '0')
        out.zeros = true;
      else if (c == '#')
        out.alternate = true;
      else if (c == '+')
        out.plus = true;
      else if (c != ' ')
        break;
    out.width = number();
    if (peek() == '.') {
      take();
      out.precision = number();
    }
    read_length(out);
    out.kind = take();
    if (out.kind == 'S') {
      out.kind = 's';
      out.wide = true;
    }
    return out;
  }
  void read_length(Conversion &to) {
    for (;;) {
      if (rest_.starts_with("I64")) {
        rest_.remove_prefix(3);
        to.bytes = 8;
      } else if (rest_.starts_with("I32")) {
        rest_.remove_prefix(3);
      } else if (const char c = peek(); c == 'l' || c == 'z' || c == 'j' || c == 't' || c == 'I' || c == 'q') {
        // "l" means 8 bytes except on Windows, which uses "ll" for that.
        to.wide = c == 'l';
        to.bytes = 8;
        take();
      } else if (c == 'h' || c == 'w') {
        to.wide = c == 'w';
        take();
      } else {
        return;
      }
    }
  }

  void convert() {
    const Conversion of = conversion();
    if (!of.kind)
      return;
    const std::optional<u64> value = argument();
    pad(of, value ? converted(of, *value) : "?");
  }
  std::string converted(const Conversion &of, u64 value) {
    const u64 unsigned_value = of.bytes == 8 ? value : value & 0xffffffff;
    const auto signed_value = of.bytes == 8 ? static_cast<i64>(value) : i64{static_cast<i32>(value)};
    switch (of.kind) {
    case 'd':
    case 'i': return (of.plus && signed_value >= 0 ? "+" : "") + std::to_string(signed_value);
    case 'u': return std::to_string(unsigned_value);
    case 'x': return fmt::format("{}{:x}", of.alternate ? "0x" : "", unsigned_value);
    case 'X': return fmt::format("{}{:X}", of.alternate ? "0X" : "", unsigned_value);
    case 'o': return fmt::format("{:o}", unsigned_value);
    case 'c': return {static_cast<char>(value)};
    case 'f':
    case 'g':
    case 'e': return fmt::format("{:.{}g}", std::bit_cast<double>(value), std::min<u64>(of.precision.value_or(6), 17));
    case 's': return string(of, value);
    case 'p': return pointer(value);
    default: return hex(value);
    }
  }
  std::string string(const Conversion &of, u64 value) const {
    const std::optional<std::string> text =
        of.wide ? memory_.try_text16(value, longest_text) : memory_.try_text(value, longest_text);
    if (!text)
      return "<text " + hex(value) + ">";
    return of.precision ? text->substr(0, *of.precision) : *text;
  }
  // Formats %pT: a type; %pM: a method; %pV: a symbol, %pK: an address in code.
  std::string pointer(u64 value) {
    const char kind = peek();
    if (kind != 'T' && kind != 'M' && kind != 'V' && kind != 'K')
      return hex(value);
    take();
    const std::string name = kind == 'T'   ? names_.type(value & ~object_bits)
                             : kind == 'M' ? names_.method(value)
                                           : std::string();
    return name.empty() ? hex(value) : hex(value) + " (" + shortened(name, longest_text) + ")";
  }
  void pad(const Conversion &of, std::string text) {
    if (text.starts_with("0x") && out_.ends_with("0x")) // the format has its own: "Thread 0x%p"
      text.erase(0, 2);
    const u64 missing = text.size() < of.width ? of.width - text.size() : 0;
    if (of.left)
      out_ += text + std::string(missing, ' ');
    else
      out_ += std::string(missing, of.zeros && of.kind != 's' ? '0' : ' ') + text;
  }

  const Memory &memory_;
  const StressMessage &message_;
  const StressLogNames &names_;
  std::string_view rest_;
  u64 next_ = 0; // the next argument
  std::string out_;
};

} // namespace

std::optional<std::string> stress_message_text(const Memory &memory, const StressMessage &message,
                                               const StressLogNames &names) {
  const std::optional<std::string> format =
      message.format ? memory.try_text(message.format, longest_format) : std::nullopt;
  return format ? std::optional(MessageText(memory, message, names).text(*format)) : std::nullopt;
}

std::string stress_facility_text(u32 facility) {
  std::string out;
  for (u32 bit = 0; bit < std::size(facilities); ++bit)
    if (facility >> bit & 1)
      out += (out.empty() ? "" : " ") + std::string(facilities[bit]);
  if (const u32 unknown = facility >> std::size(facilities) << std::size(facilities); unknown || out.empty())
    out += (out.empty() ? "" : " ") + hex(unknown);
  return out;
}

std::string stress_time_text(u64 file_time) {
  constexpr u64 units = 10'000'000, from_1601_to_1970 = 11'644'473'600, year_3000 = 44'148'153'600;
  const u64 seconds = file_time / units;
  if (seconds < from_1601_to_1970 || seconds > year_3000)
    return "";
  const std::chrono::sys_seconds at{std::chrono::seconds(seconds - from_1601_to_1970)};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(at - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count(), file_time % units / 10);
}

} // namespace dnheap

#include "dump/stored_core.h"

#include "base/digits.h"
#include "base/host/file_attributes.h"
#include "base/host/host.h"

#include <algorithm>
#include <utility>

namespace dnheap {

namespace {

constexpr u64 most_signals = 64;

std::optional<u64> decimal(std::string_view text) { return text.empty() ? std::nullopt : number_of_digits(text, 10); }

// Returns seconds since 1970. systemd counts microseconds; its early versions counted seconds.
std::optional<u64> seconds_of(std::string_view text) {
  constexpr u64 year_2000 = 946'684'800, year_2200 = 7'258'118'400, million = 1'000'000;
  std::optional<u64> out = decimal(text);
  if (out && *out > year_2200)
    *out /= million;
  return out && *out >= year_2000 && *out <= year_2200 ? out : std::nullopt;
}

// Removes the last part of a name, which a dot begins, and returns it; empty if there is none.
std::string_view take_last(std::string_view &name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos)
    return {};
  const std::string_view out = name.substr(dot + 1);
  name = name.substr(0, dot);
  return out;
}

// In names of files systemd writes "\x2e" for a dot, and so on.
std::string without_escapes(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::optional<u64> code =
        text.size() >= 4 && text.starts_with("\\x") ? number_of_digits(text.substr(2, 2), 16) : std::nullopt;
    out += code ? static_cast<char>(*code) : text.front();
    text.remove_prefix(code ? 4 : 1);
  }
  return out;
}

bool is_boot_id(std::string_view text) {
  return text.size() == 32 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

} // namespace

std::optional<CoreRecord> core_record_of_name(std::string_view name) {
  for (const std::string_view ending : {".zst", ".lz4", ".xz", ".gz"})
    if (name.ends_with(ending))
      name.remove_suffix(ending.size());
  constexpr std::string_view front = "core.";
  if (!name.starts_with(front))
    return std::nullopt;
  name.remove_prefix(front.size());
  CoreRecord out;
  out.seconds = seconds_of(take_last(name));
  out.pid = decimal(take_last(name));
  const std::string_view boot = take_last(name);
  out.user = decimal(take_last(name));
  out.name = without_escapes(name);
  return out.seconds && out.pid && out.user && is_boot_id(boot) && !name.empty() ? std::optional(out) : std::nullopt;
}

std::optional<CoreRecord> core_record(const std::string &path) {
  const auto attribute = [&](const char *name) {
    return file_attribute(path, std::string("user.coredump.") + name).value_or("");
  };
  CoreRecord out;
  out.by_attributes = true;
  out.pid = decimal(attribute("pid"));
  out.seconds = seconds_of(attribute("timestamp"));
  if (!out.pid && !out.seconds)
    return core_record_of_name(file_name_of(path));
  out.user = decimal(attribute("uid"));
  out.signal = decimal(attribute("signal"));
  if (out.signal && (*out.signal == 0 || *out.signal > most_signals))
    out.signal.reset();
  out.name = attribute("comm");
  out.executable = attribute("exe");
  out.host = attribute("hostname");
  return out;
}

void add_core_record(Target &target, CoreRecord record) {
  if (record.seconds && !target.taken)
    target.taken = TakenAt{*record.seconds, TakenAt::Clock::dump};
  if (!target.pid)
    target.pid = record.pid.value_or(0);
  if (target.program.empty())
    target.program = record.executable.empty() ? record.name : record.executable;
  if (!target.crash && record.signal && !target.threads.empty()) // the kernel writes the thread that got it first
    target.crash = CrashSignal{target.threads.front().id, static_cast<u32>(*record.signal), {}, {}};
  target.stored = std::move(record);
}

} // namespace dnheap

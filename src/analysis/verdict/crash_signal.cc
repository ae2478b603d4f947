#include "analysis/verdict/crash_signal.h"

#include "base/text.h"

#include <fmt/format.h>
#include <iterator>

namespace dnheap {

namespace {

constexpr const char *signal_names[] = {
    "",          "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
    "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
    "SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
    "SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS"};

struct CodeName {
  u32 code;
  const char *name;
};
constexpr u32 access_violation = 0xc0000005, in_page_error = 0xc0000006;
constexpr CodeName exception_codes[] = {
    {access_violation, "access violation"},      {in_page_error, "in-page error"},
    {windows_overflow, "stack overflow"},        {0xc000001d, "illegal instruction"},
    {0xc0000094, "integer division by zero"},    {0xc0000374, "damaged native heap"},
    {0xc0000409, "fail fast in native code"},    {dotnet_exception, ".NET exception"},
    {code_of_fail_fast, "Environment.FailFast"}, {code_of_fatal_error, "fatal error of the runtime"},
};

const char *name_of_code(u32 code) {
  for (const CodeName &one : exception_codes)
    if (one.code == code)
      return one.name;
  return "exception";
}

const char *access_name(i32 code) { return code == 0 ? "reading" : code == 1 ? "writing to" : "running"; }

// Returns why Linux sent the signal, as far as siginfo_t shows it.
std::string reason_of_signal(const CrashSignal &crash) {
  constexpr i32 no_access = 2, division_by_zero = 1;
  if (crash.number == sig_segv && crash.address)
    return (crash.code == no_access ? "no access to address " : "invalid address ") + hex(*crash.address);
  if (crash.number == sig_segv && crash.code == code_of_kernel)
    return "an invalid address, which the system does not report";
  if (crash.number == sig_fpe && crash.code == division_by_zero)
    return "division by zero" + (crash.address ? " at " + hex(*crash.address) : "");
  if (crash.address)
    return "at address " + hex(*crash.address);
  return "";
}

} // namespace

std::string signal_name(u32 number) {
  return number && number < std::size(signal_names) ? signal_names[number] : "signal " + std::to_string(number);
}

std::string signal_text(const CrashSignal &crash, OperatingSystem os) {
  if (os == OperatingSystem::windows || os == OperatingSystem::macos) {
    std::string out = fmt::format("{} (0x{:08x}", name_of_code(crash.number), crash.number);
    if (crash.code && crash.address)
      out += fmt::format(", {} {}", access_name(*crash.code), hex(*crash.address));
    return out + ")";
  }
  const std::string reason = reason_of_signal(crash);
  return signal_name(crash.number) + (reason.empty() ? "" : " (" + reason + ")");
}

bool is_sent_from_outside(const CrashSignal &crash, u64 pid) { return crash.sender && pid && crash.sender != pid; }

} // namespace dnheap

// Windows: the runtime listens on a named pipe, whose name has the process's id.
#include "base/process/process.h"
#include "dump/live/diagnostics_port.h"

namespace dnheap {

namespace {

std::string why_no_pipe(u64 pid, const std::string &path, const std::error_code &error) {
  const std::string name = "process " + std::to_string(pid), by_memory = "dnheap -p " + std::to_string(pid);
  if (error == std::errc::permission_denied)
    return "the diagnostics port of " + name + ", " + path +
           ", belongs to another user: run as that user, or as administrator";
  if (!process_start(pid))
    return "there is no " + name;
  if (const std::string by = diagnostics_switched_off_by(pid); !by.empty())
    return name + " has no diagnostics port, as its environment has " + by +
           "=0: start it without that, or read its memory, with " + by_memory;
  return name + " has no diagnostics port: there is no " + path +
         ". It is no .NET process, or a NativeAOT program without EventSourceSupport. " + by_memory + " needs no port";
}

} // namespace

std::optional<PortFolder> folder_of_process(u64) { return std::nullopt; } // nothing differs from what others see

PortSearch find_diagnostics_port(u64 pid) {
  const std::string path = "\\\\.\\pipe\\dotnet-diagnostic-" + std::to_string(pid);
  std::error_code error;
  std::optional<LocalSocket> connection = LocalSocket::connect(path, seconds_to_connect, error);
  PortSearch out;
  if (connection && connection->other_end().value_or(pid) == pid)
    out.port.emplace(path, PortFolder(), std::move(*connection));
  else
    out.why_not = why_no_pipe(pid, path, error);
  return out;
}

} // namespace dnheap

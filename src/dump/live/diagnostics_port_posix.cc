#include "base/digits.h"
#include "base/host/host.h"
#include "base/process/process.h"
#include "base/process/process_identity.h"
#include "dump/live/diagnostics_port.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace dnheap {

namespace {

constexpr u64 most_sockets = 64; // of one process's number
constexpr u64 most_names = 1 << 20;

std::string process_called(u64 pid) { return "process " + std::to_string(pid); }

// Returns the key in "dotnet-diagnostic-PID-KEY-socket"; nullopt for other names.
std::optional<u64> key_of_socket(std::string_view name, u64 id) {
  const std::string front = "dotnet-diagnostic-" + std::to_string(id) + "-";
  constexpr std::string_view back = "-socket";
  if (!name.starts_with(front) || !name.ends_with(back) || name.size() <= front.size() + back.size())
    return std::nullopt;
  return number_of_digits(name.substr(front.size(), name.size() - front.size() - back.size()), 10);
}

struct NamedSocket {
  u64 key = 0; // the runtime takes the process's start time
  std::string path;
};

// Returns the process's own socket first, then the latest.
std::vector<NamedSocket> sockets_in(const PortFolder &folder, u64 pid, u64 id) {
  std::vector<NamedSocket> out;
  std::error_code ignored;
  u64 names = 0;
  for (std::filesystem::directory_iterator at(folder.path, ignored), end; !ignored && at != end && names < most_names;
       at.increment(ignored), ++names)
    if (const std::optional<u64> key = key_of_socket(at->path().filename().string(), id))
      out.push_back({*key, at->path().string()});
  const u64 start = process_start(pid).value_or(0);
  std::ranges::sort(out, [&](const NamedSocket &a, const NamedSocket &b) {
    return std::pair(a.key != start, b.key) < std::pair(b.key != start, a.key);
  });
  out.resize(std::min<u64>(out.size(), most_sockets));
  return out;
}

// The runtime makes its socket in $TMPDIR, as that was when it started, or in /tmp. The folder is looked for below the
// process's own root, which is another one in containers.
std::vector<PortFolder> folders_of(u64 pid) {
  std::vector<std::string> inside = {"/tmp"};
  const std::optional<std::string> named = environment_of(pid, "TMPDIR");
  if (const std::string folder = named ? *named : environment("TMPDIR"); !folder.empty())
    inside.insert(inside.begin(), folder);
  const std::string root = "/proc/" + std::to_string(pid) + "/root";
  std::vector<PortFolder> out;
  for (std::string &folder : inside) {
    while (folder.size() > 1 && folder.ends_with('/'))
      folder.pop_back();
    out.push_back({root + folder, folder});
    out.push_back({folder, folder});
  }
  return out;
}

std::string why_nothing_listens(u64 pid, u64 id, const std::vector<PortFolder> &folders) {
  if (own_user() && !process_start(pid))
    return "there is no " + process_called(pid);
  if (const std::string name = diagnostics_switched_off_by(pid); !name.empty())
    return process_called(pid) + " has no diagnostics port, as its environment has " + name +
           "=0: start it without that, or read its memory, with dnheap -p " + std::to_string(pid);
  std::string where = folders.empty() ? "" : folders.front().inside;
  const std::optional<u64> user = user_of(pid), own = own_user();
  std::string out = process_called(pid) + " has no diagnostics port: nothing listens on " + where +
                    "/dotnet-diagnostic-" + std::to_string(id) + "-*-socket";
  if (user && own && *user != *own)
    return out + ", or it may not be seen: the process belongs to user " + std::to_string(*user) + ", this is user " +
           std::to_string(*own) + ": run as that user, or as root";
  return out +
         ". It is no .NET process, a NativeAOT program without EventSourceSupport, the file was removed, or the "
         "process has another folder for temporary files (TMPDIR). dnheap -p " +
         std::to_string(pid) + " needs no port";
}

std::string why_forbidden(u64 pid, const std::string &path) {
  const std::optional<u64> user = user_of(pid), own = own_user();
  return "the diagnostics port of " + process_called(pid) + ", " + path + ", belongs to " +
         (user ? "user " + std::to_string(*user) : std::string("another user")) +
         (own ? ", this is user " + std::to_string(*own) : std::string()) + ": run as that user, or as root";
}

} // namespace

PortSearch find_diagnostics_port(u64 pid, u64 id, const std::vector<PortFolder> &folders) {
  PortSearch out;
  for (const PortFolder &folder : folders)
    for (const NamedSocket &socket : sockets_in(folder, pid, id)) {
      std::error_code error;
      std::optional<LocalSocket> connection = LocalSocket::connect(socket.path, seconds_to_connect, error);
      if (error == std::errc::permission_denied)
        out.why_not = why_forbidden(pid, socket.path);
      if (!connection || connection->other_end().value_or(pid) != pid)
        continue; // it is that of an earlier process, or of one in another container
      out.port.emplace(socket.path, folder, std::move(*connection));
      out.why_not.clear();
      return out;
    }
  if (out.why_not.empty())
    out.why_not = why_nothing_listens(pid, id, folders);
  return out;
}

std::optional<PortFolder> folder_of_process(u64 pid) {
  for (PortFolder &folder : folders_of(pid))
    if (folder.path != folder.inside && is_folder(folder.path))
      return std::move(folder);
  return std::nullopt;
}

PortSearch find_diagnostics_port(u64 pid) { return find_diagnostics_port(pid, id_inside(pid), folders_of(pid)); }

} // namespace dnheap

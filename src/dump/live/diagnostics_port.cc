#include "dump/live/diagnostics_port.h"

#include "base/digits.h"
#include "base/error.h"
#include "base/host/host.h"
#include "base/host/process.h"
#include "base/host/process_identity.h"
#include "base/text.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

namespace dnheap {

namespace {

using PortClock = std::chrono::steady_clock;

constexpr double connecting = 1; // seconds; a runtime that runs accepts at once
constexpr double one_turn = 0.2; // seconds
constexpr u64 most_sockets = 64; // of one process's number
constexpr u64 most_names = 1 << 20;

std::string process_called(u64 pid) { return "process " + std::to_string(pid); }

// Receives until there are `wanted` bytes.
void receive_all(const LocalSocket &socket, std::vector<std::byte> &got, u64 wanted, const Patience &patience,
                 PortClock::time_point last) {
  while (got.size() < wanted) {
    if (patience.turn)
      patience.turn();
    const LocalSocket::Received received = socket.receive(got, wanted - got.size(), one_turn);
    if (received == LocalSocket::Received::end) {
      std::this_thread::sleep_for(std::chrono::duration<double>(one_turn)); // a process that ends closes it first
      if (patience.turn)                                                    // which may know that it has ended
        patience.turn();
      throw Error("the diagnostics port was closed before it answered: the process has probably ended");
    }
    if (got.size() < wanted && patience.seconds > 0 && PortClock::now() > last)
      throw Error("the diagnostics port does not answer: the process may be stopped, by a debugger or SIGSTOP, or busy "
                  "with another command, such as writing a dump: let it go on, and try again");
  }
}

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

// Returns the name of a variable that has switched the port off; empty if there is none.
std::string switched_off_by(u64 pid) {
  for (const char *front : {"DOTNET_", "COMPlus_"})
    for (const char *name : {"EnableDiagnostics", "EnableDiagnostics_IPC"})
      if (const std::string value = environment_of(pid, std::string(front) + name).value_or("");
          !value.empty() && value.find_first_not_of('0') == value.npos)
        return std::string(front) + name;
  return {};
}

std::string why_nothing_listens(u64 pid, u64 id, const std::vector<PortFolder> &folders) {
  if (own_user() && !process_start(pid))
    return "there is no " + process_called(pid);
  if (const std::string name = switched_off_by(pid); !name.empty())
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

DiagnosticsPort::DiagnosticsPort(std::string path, PortFolder folder, LocalSocket connection, Connecting anew)
    : path_(std::move(path)), folder_(std::move(folder)), connection_(std::move(connection)), anew_(std::move(anew)) {}

LocalSocket DiagnosticsPort::connection(const Patience &patience) {
  std::error_code error;
  std::optional<LocalSocket> out = std::move(connection_);
  connection_.reset();
  if (!out && anew_)
    return anew_(patience);
  if (!out)
    out = LocalSocket::connect(path_, connecting, error);
  if (!out)
    throw Error("the diagnostics port " + path_ + " does not accept: " + error.message());
  return std::move(*out);
}

DiagnosticsReply DiagnosticsPort::ask(DiagnosticsCommand command, Bytes payload, const Patience &patience) {
  const std::vector<std::byte> message = diagnostics_message(command, payload);
  const LocalSocket socket = connection(patience);
  const auto last = PortClock::now() +
                    std::chrono::duration_cast<PortClock::duration>(std::chrono::duration<double>(patience.seconds));
  constexpr double sending = 5;
  if (!socket.send(message, sending))
    throw Error("the diagnostics port " + path_ + " takes no command: the process has probably ended");
  std::vector<std::byte> got;
  receive_all(socket, got, diagnostics_header_size, patience, last);
  receive_all(socket, got, size_of_reply(got), patience, last);
  return parse_reply(got);
}

PortSearch find_diagnostics_port(u64 pid, u64 id, const std::vector<PortFolder> &folders) {
  PortSearch out;
  for (const PortFolder &folder : folders)
    for (const NamedSocket &socket : sockets_in(folder, pid, id)) {
      std::error_code error;
      std::optional<LocalSocket> connection = LocalSocket::connect(socket.path, connecting, error);
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

PortSearch find_diagnostics_port(u64 pid) {
  if (!LocalSocket::is_supported())
    return {std::nullopt, "processes cannot be asked on their diagnostics port on this system yet: dotnet-dump collect "
                          "-p " +
                              std::to_string(pid) + " takes a dump"};
  return find_diagnostics_port(pid, id_inside(pid), folders_of(pid));
}

std::optional<PortFolder> folder_of_process(u64 pid) {
  for (PortFolder &folder : folders_of(pid))
    if (folder.path != folder.inside && is_folder(folder.path))
      return std::move(folder);
  return std::nullopt;
}

PortProcess ask_for_process(DiagnosticsPort &port, const Patience &patience) {
  constexpr DiagnosticsCommand newest = {4, 8}, newer = {4, 4}, first = {4, 0};
  DiagnosticsReply reply;
  DiagnosticsCommand asked;
  for (DiagnosticsCommand command : {newest, newer, first}) {
    reply = port.ask(command, {}, patience);
    asked = command;
    if (reply.is_ok || reply.error != DiagnosticsReply::unknown_command)
      break;
  }
  if (!reply.is_ok)
    throw Error("the diagnostics port says nothing of its process: error " + hex(reply.error));
  constexpr u64 size_of_cookie = 16;
  DiagnosticsReader reader(reply.payload);
  if (asked == newest)
    reader.number(); // a version
  PortProcess out;
  out.pid = reader.long_number().value_or(0);
  reader.skip(size_of_cookie);
  for (std::string *text : {&out.command_line, &out.os, &out.architecture, &out.assembly, &out.version})
    *text = reader.text().value_or("");
  return out;
}

} // namespace dnheap

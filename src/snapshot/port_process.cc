#include "snapshot/port_process.h"

#include "base/error.h"
#include "base/host/host.h"
#include "base/process/process_identity.h"
#include "base/text.h"

#include <chrono>
#include <filesystem>
#include <thread>

namespace dnheap {

namespace {

// Returns where the process can write: its folder for temporary files; or, if it has no number here, the socket's
// folder, which both sides see, usually at the same path.
PortFolder folder_to_write(u64 pid, const std::string &socket) {
  if (const std::optional<PortFolder> own = pid ? folder_of_process(pid) : std::nullopt)
    return *own;
  const std::string beside = std::filesystem::absolute(socket).parent_path().string();
  return {beside, beside};
}

// The runtime knows no more than the program's path until it begins to run the program's assembly.
bool has_begun(const PortProcess &process) { return process.command_line.find(".dll") != std::string::npos; }

void resume(DiagnosticsPort &port, const Patience &patience) {
  constexpr DiagnosticsCommand resume_runtime = {4, 1}; // does nothing to one that runs
  const DiagnosticsReply reply = port.ask(resume_runtime, {}, patience);
  if (!reply.is_ok)
    throw Error("the runtime does not go on: error " + hex(reply.error) +
                (reply.message.empty() ? "" : ", " + printable(reply.message, 200)));
}

// Gives a program that only starts some time to begin; one that does not is dumped as it is.
PortProcess wait_until_begun(DiagnosticsPort &port, PortProcess process, const Patience &patience) {
  constexpr int looks = 100;
  constexpr auto between = std::chrono::milliseconds(20);
  for (int i = 0; i < looks && !has_begun(process); ++i) {
    std::this_thread::sleep_for(between);
    process = ask_for_process(port, patience);
  }
  return process;
}

} // namespace

PortArrival wait_for_runtime(const std::shared_ptr<DiagnosticsListener> &listener, double seconds, const Watch &watch) {
  const std::function<void()> turn = [&watch] { watch.check(); };
  const Timer timer(watch, "wait for a runtime");
  DiagnosticsListener::Arrival arrival = listener->wait({seconds, turn});
  const u64 pid = arrival.connection.other_end().value_or(0);
  DiagnosticsPort port = port_of_arrival(listener, std::move(arrival), folder_to_write(pid, listener->path()));
  const Patience patience = {5, turn};
  PortArrival out{{pid, std::move(port), {}}, false};
  out.process.described = ask_for_process(out.process.port, patience);
  out.was_starting = !has_begun(out.process.described);
  resume(out.process.port, patience);
  out.process.described = wait_until_begun(out.process.port, std::move(out.process.described), patience);
  return out;
}

ListeningProcess connect_to_process(const std::string &path, const Watch &watch) {
  constexpr double connecting = 1; // seconds; a runtime that runs accepts at once
  std::error_code error;
  std::optional<LocalSocket> connection = LocalSocket::connect(path, connecting, error);
  if (!connection)
    throw Error("no .NET runtime listens on " + path + ": " + error.message());
  const u64 pid = connection->other_end().value_or(0);
  ListeningProcess out{pid, DiagnosticsPort(path, folder_to_write(pid, path), std::move(*connection)), {}};
  out.described = ask_for_process(out.port, {5, [&watch] { watch.check(); }});
  return out;
}

} // namespace dnheap

#include "dump/live/diagnostics_port.h"

#include "base/digits.h"
#include "base/error.h"
#include "base/process/process_identity.h"
#include "base/text.h"

#include <chrono>
#include <thread>
#include <utility>

namespace dnheap {

namespace {

using PortClock = std::chrono::steady_clock;

constexpr double one_turn = 0.2; // seconds

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

} // namespace

std::string diagnostics_switched_off_by(u64 pid) {
  for (const char *front : {"DOTNET_", "COMPlus_"})
    for (const char *name : {"EnableDiagnostics", "EnableDiagnostics_IPC"})
      if (const std::string value = environment_of(pid, std::string(front) + name).value_or("");
          !value.empty() && value.find_first_not_of('0') == value.npos)
        return std::string(front) + name;
  return {};
}

DiagnosticsPort::DiagnosticsPort(std::string path, PortFolder folder, LocalSocket connection, Connecting anew)
    : path_(std::move(path)), folder_(std::move(folder)), connection_(std::move(connection)), anew_(std::move(anew)) {}

LocalSocket DiagnosticsPort::connection(const Patience &patience) {
  std::error_code error;
  std::optional<LocalSocket> out = std::move(connection_);
  connection_.reset();
  if (!out && anew_)
    return anew_(patience);
  if (!out)
    out = LocalSocket::connect(path_, seconds_to_connect, error);
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

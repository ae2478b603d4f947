#include "dump/live/diagnostics_listener.h"

#include "base/error.h"
#include "target/memory.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace dnheap {

namespace {

using ListenerClock = std::chrono::steady_clock;

constexpr double listener_turn = 0.2; // seconds
constexpr double introducing = 2;     // seconds; a runtime says who it is at once

ListenerClock::time_point listener_time_after(double seconds) {
  return ListenerClock::now() +
         std::chrono::duration_cast<ListenerClock::duration>(std::chrono::duration<double>(seconds));
}

// Returns what the runtime says first; less if it does not, or if it has gone already.
std::vector<std::byte> introduction(const LocalSocket &socket, const Patience &patience) {
  const auto last = listener_time_after(introducing);
  std::vector<std::byte> out;
  while (out.size() < advertisement_size && ListenerClock::now() < last) {
    if (patience.turn)
      patience.turn();
    if (socket.receive(out, advertisement_size - out.size(), listener_turn) == LocalSocket::Received::end)
      break;
  }
  return out;
}

} // namespace

std::optional<Advertisement> parse_advertisement(Bytes bytes) {
  constexpr char magic[8] = "ADVR_V1";
  constexpr u64 cookie_at = sizeof magic, pid_at = cookie_at + 16;
  if (bytes.size() < advertisement_size || std::memcmp(bytes.data(), magic, sizeof magic) != 0)
    return std::nullopt;
  Advertisement out;
  std::ranges::copy(bytes.subspan(cookie_at, out.cookie.size()), out.cookie.begin());
  out.pid = load<u64>(bytes.data() + pid_at, ByteOrder::little);
  return out;
}

std::optional<DiagnosticsListener::Arrival> DiagnosticsListener::next(const Patience &patience) {
  if (patience.turn)
    patience.turn();
  std::optional<LocalSocket> connection = listener_.accept(listener_turn);
  if (!connection)
    return std::nullopt;
  const std::optional<Advertisement> runtime = parse_advertisement(introduction(*connection, patience));
  return runtime ? std::optional(Arrival{std::move(*connection), *runtime}) : std::nullopt;
}

DiagnosticsListener::Arrival DiagnosticsListener::wait(const Patience &patience) {
  const auto last = listener_time_after(patience.seconds);
  while (patience.seconds <= 0 || ListenerClock::now() < last)
    if (std::optional<Arrival> out = next(patience))
      return std::move(*out);
  throw Error(fmt::format("no .NET runtime has connected to {} within {} s: start the program with "
                          "DOTNET_DiagnosticPorts={},nosuspend, as the same user",
                          path(), patience.seconds, path()));
}

LocalSocket DiagnosticsListener::wait_for(const Advertisement &runtime, const Patience &patience) {
  const auto last = listener_time_after(patience.seconds);
  while (patience.seconds <= 0 || ListenerClock::now() < last)
    if (std::optional<Arrival> out = next(patience); out && out->runtime.cookie == runtime.cookie)
      return std::move(out->connection);
  throw Error("the runtime does not connect to " + path() + " again: the process has probably ended");
}

DiagnosticsPort port_of_arrival(std::shared_ptr<DiagnosticsListener> listener, DiagnosticsListener::Arrival arrival,
                                PortFolder folder) {
  const std::string path = listener->path();
  return DiagnosticsPort(path, std::move(folder), std::move(arrival.connection),
                         [listener = std::move(listener), runtime = arrival.runtime](const Patience &patience) {
                           constexpr double connecting_anew = 10; // seconds; it tries twice a second
                           return listener->wait_for(runtime, {connecting_anew, patience.turn});
                         });
}

} // namespace dnheap

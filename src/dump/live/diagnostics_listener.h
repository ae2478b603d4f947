// DiagnosticsListener: a socket on which .NET runtimes connect that were started with DOTNET_DiagnosticPorts=PATH, and
// then take commands as on their own port. A runtime says who it is on every connection, and connects anew after each
// command. Only the file's owner, and root, may connect. Waits no longer than it is asked to. One thread at a time.
#pragma once
#include "base/host/local_listener.h"
#include "dump/live/diagnostics_port.h"

#include <array>
#include <memory>

namespace dnheap {

// How a runtime introduces itself.
struct Advertisement {
  std::array<std::byte, 16> cookie = {}; // of this run of the program, the same on all of its connections
  u64 pid = 0;                           // as the process knows itself
};
inline constexpr u64 advertisement_size = 34;
// Returns nullopt if the bytes are none.
std::optional<Advertisement> parse_advertisement(Bytes bytes);

class DiagnosticsListener {
public:
  // Throws Error if no such socket can be made.
  explicit DiagnosticsListener(const std::string &path) : listener_(path) {}

  struct Arrival {
    LocalSocket connection;
    Advertisement runtime;
  };
  // Waits for a runtime; passes over whatever connects and does not say that it is one. Throws Error if none comes in
  // time; whatever `turn` throws.
  Arrival wait(const Patience &patience);
  // Waits for the next connection of that runtime; others are refused, and connect again.
  LocalSocket wait_for(const Advertisement &runtime, const Patience &patience);
  const std::string &path() const { return listener_.path(); }

private:
  std::optional<Arrival> next(const Patience &patience);

  LocalListener listener_;
};

// Returns the port of a runtime that has connected; the first command goes over that connection.
DiagnosticsPort port_of_arrival(std::shared_ptr<DiagnosticsListener> listener, DiagnosticsListener::Arrival arrival,
                                PortFolder folder);

} // namespace dnheap

// FakeRuntime: connects to a socket as a .NET runtime does that was started with DOTNET_DiagnosticPorts=PATH, again
// after each command, in a thread of this process, and answers as a test wants. Linux.
#pragma once
#include "support/fake_port.h"

namespace dnheap::test {

class FakeRuntime {
public:
  FakeRuntime(std::string path, FakePort::Answer answer, u8 cookie = 1);
  ~FakeRuntime();

  static std::vector<std::byte> advertisement(u8 cookie, u64 pid);

private:
  void serve();

  std::string path_;
  FakePort::Answer answer_;
  u8 cookie_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

} // namespace dnheap::test

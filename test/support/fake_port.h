// FakePort: something that listens as a .NET runtime's diagnostics port does, in a thread of this process, and answers
// as a test wants. Linux.
#pragma once
#include "dump/live/diagnostics_message.h"

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace dnheap::test {

class FakePort {
public:
  // Gets what the other side has sent, header and all. Nullopt: says nothing, and leaves the connection open.
  using Answer = std::function<std::optional<std::vector<std::byte>>(Bytes request)>;

  // Listens on a socket of this process, as its runtime would call it, in a new folder.
  explicit FakePort(Answer answer);
  ~FakePort();

  const std::string &path() const { return path_; }
  std::string folder() const { return folder_; }

  // What a runtime would answer.
  static std::vector<std::byte> ok(Bytes payload = {});
  static std::vector<std::byte> error(u32 code, const std::string &message = {});
  static DiagnosticsCommand command_of(Bytes request);
  // The answer to a question about the process: the newest one, of this process.
  static std::vector<std::byte> this_process(const std::string &version = "10.0.15+abc");

private:
  void serve();
  void answer_one(int connection);

  std::string folder_, path_;
  Answer answer_;
  int socket_ = -1;
  std::vector<int> silent_; // connections that are left open
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

} // namespace dnheap::test

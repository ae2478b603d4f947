// The two files of the stdio transport: one that is waited for, while the other one's reader may go. Hosts differ in
// that. Cost: on Windows a thread, which reads. wait() on one thread; write() on any, one at a time.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace dnheap::mcp {

class Pipes {
public:
  enum class Event { none, input, input_ended, reader_gone };

  Pipes(int input, int output);
  ~Pipes();
  Pipes(const Pipes &) = delete;
  Pipes &operator=(const Pipes &) = delete;

  // Waits so long at most. `bytes`: what came, at most 64 KiB. Behind the input's end: for the reader's alone.
  Event wait(int milliseconds, std::string &bytes);
  // All of it. What went wrong, as errno has it, or 0; EPIPE: nobody reads it any more.
  int write(std::string_view text);

private:
  struct State;
  std::shared_ptr<State> state_;
};

} // namespace dnheap::mcp

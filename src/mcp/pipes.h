// Pipes: the two files of the stdio transport: waits for input, and notices when the output's reader has gone. Hosts
// differ in that. Costs a reading thread on Windows. wait() on one thread; write() on any, one at a time.
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

  // Waits at most so long. `bytes`: the input, at most 64 KiB. After the input's end it waits for the reader to go.
  Event wait(int milliseconds, std::string &bytes);
  // Writes the whole text. Returns 0 or an errno; EPIPE: nobody reads the pipe any more.
  int write(std::string_view text);

private:
  struct State;
  std::shared_ptr<State> state_;
};

} // namespace dnheap::mcp

// The protocol's stdio transport: one message a line, in and out. The thread that calls serve() reads, and answers what
// takes no time, even while a second thread runs a tool, one call after the other. Memory: the message being read, and
// at most 64 waiting calls.
#pragma once
#include "mcp/protocol.h"

#include <functional>

namespace dnheap::mcp {

// The progress of the running call.
struct Step {
  double done = 0; // grows
  std::string text;
};

struct Tools {
  // Called on a thread of its own, always the same. Throws nothing.
  std::function<ToolResult(const Call &call)> call;
  // Called from the other thread. step() returns the progress of the running call; nullopt: unknown. cancel() makes the
  // call end soon, as it is no longer wanted.
  std::function<std::optional<Step>()> step;
  std::function<void()> cancel;
};

// Returns when the input has ended and all requests are answered, or when nobody reads the answers any more. Throws
// std::system_error if answers cannot be written for another reason.
void serve(const Protocol &protocol, const Tools &tools, int input, int output);

} // namespace dnheap::mcp

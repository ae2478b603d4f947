// The protocol's stdio transport: one message a line, in and out. Whoever calls serve() reads and answers what takes no
// time, also while a tool is called, which a second thread does, one call after the other. Memory: the message that is
// read, and the calls that wait, at most 64.
#pragma once
#include "mcp/protocol.h"

#include <functional>

namespace dnheap::mcp {

// How far the call is that runs.
struct Step {
  double done = 0; // grows
  std::string text;
};

struct Tools {
  // On a thread of its own, always the same. Throws nothing.
  std::function<ToolResult(const Call &call)> call;
  // From the other thread: of the call that runs; nothing: not known. And: it is to end soon, as nobody wants it any
  // more.
  std::function<std::optional<Step>()> step;
  std::function<void()> cancel;
};

// Returns when the input has ended and what was asked until then is answered, or nobody reads the answers any more.
// Throws std::system_error when answers cannot be written for another reason.
void serve(const Protocol &protocol, const Tools &tools, int input, int output);

} // namespace dnheap::mcp

// Windows cannot wait for a pipe and a reader at once, as the server does on POSIX hosts.
#include "mcp/stdio_server.h"

#include <stdexcept>

namespace dnheap::mcp {

void serve(const Protocol &, const Tools &, int, int) {
  throw std::runtime_error("mcp is served on Linux only, so far");
}

} // namespace dnheap::mcp

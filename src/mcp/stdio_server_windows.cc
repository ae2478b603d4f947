// Windows cannot wait for a pipe and for its reader's end at once, as the server does on POSIX hosts.
#include "mcp/stdio_server.h"

#include <system_error>

namespace dnheap::mcp {

void serve(const Protocol &, const Tools &, int, int) {
  throw std::system_error(std::make_error_code(std::errc::function_not_supported),
                          "mcp is served on Linux only, so far");
}

} // namespace dnheap::mcp

#include "base/error.h"
#include "base/host/host.h"
#include "base/host/standard_input.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <io.h>

namespace dnheap {

// A redirected file is read as a pipe is: its name is not asked for.
std::string file_at_standard_input() { return {}; }

void read_standard_input(const std::function<void(Bytes)> &take, const std::function<void()> &check) {
  if (is_terminal(0))
    throw Error("it is a terminal: pipe a dump into it, or name a file");
  ::_setmode(0, _O_BINARY);
  std::vector<std::byte> buffer(1 << 20);
  for (;;) {
    check();
    const int size = ::_read(0, buffer.data(), static_cast<unsigned>(buffer.size()));
    if (size == 0)
      return;
    if (size < 0)
      throw Error(std::strerror(errno));
    take(Bytes(buffer).first(static_cast<std::size_t>(size)));
  }
}

} // namespace dnheap

#include "cli/browser.h"

#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

extern "C" char **environ; // some hosts do not declare it

namespace dnheap::cli {

void open_browser(const std::string &url) {
#ifdef __APPLE__
  std::string program = "open";
#else
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY"))
    return;
  std::string program = "xdg-open";
#endif
  posix_spawn_file_actions_t streams; // hides the browser's own messages
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&streams, 2, "/dev/null", O_WRONLY, 0);
  std::string address = url;
  char *arguments[] = {program.data(), address.data(), nullptr};
  pid_t child = 0;
  posix_spawnp(&child, program.c_str(), &streams, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&streams);
}

} // namespace dnheap::cli

#include "mcp/pipes.h"

#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace dnheap::mcp {

struct Pipes::State {
  int input, output;
  bool has_ended = false;
};

Pipes::Pipes(int input, int output) : state_(std::make_shared<State>(State{input, output})) {}
Pipes::~Pipes() = default;

Pipes::Event Pipes::wait(int milliseconds, std::string &bytes) {
  bytes.clear();
  pollfd files[] = {{state_->has_ended ? -1 : state_->input, POLLIN, 0}, {state_->output, 0, 0}};
  if (::poll(files, 2, milliseconds) < 0)
    return errno == EINTR ? Event::none : Event::reader_gone;
  if (files[1].revents & (POLLERR | POLLHUP | POLLNVAL))
    return Event::reader_gone;
  if (!files[0].revents)
    return Event::none;
  bytes.resize(65536);
  const ssize_t count = ::read(state_->input, bytes.data(), bytes.size());
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (count > 0)
    return Event::input;
  if (count < 0 && (errno == EINTR || errno == EAGAIN))
    return Event::none;
  state_->has_ended = true;
  return Event::input_ended;
}

int Pipes::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(state_->output, text.data(), text.size());
    if (count >= 0)
      text.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

} // namespace dnheap::mcp

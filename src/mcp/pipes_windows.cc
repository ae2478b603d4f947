// Windows can neither wait for a pipe with a limit, nor see that a pipe's reader has gone. So a thread reads, and a
// missing reader is noticed when something is written.
#include "mcp/pipes.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <io.h>
#include <mutex>
#include <thread>
#include <utility>

namespace dnheap::mcp {

// Shared with the thread, which may still wait for input after the owner has gone.
struct Pipes::State {
  int input, output;
  std::mutex mutex; // guards the members below
  std::condition_variable changed;
  std::string bytes;
  bool has_ended = false, is_told = false;
};

Pipes::Pipes(int input, int output) : state_(std::make_shared<State>()) {
  state_->input = input;
  state_->output = output;
  std::thread([state = state_] {
    std::string bytes(65536, 0);
    int count = 0;
    do {
      count = ::_read(state->input, bytes.data(), static_cast<unsigned>(bytes.size()));
      std::unique_lock lock(state->mutex);
      state->changed.wait(lock, [&] { return state->bytes.empty(); });
      state->bytes.assign(bytes, 0, count > 0 ? static_cast<std::size_t>(count) : 0);
      state->has_ended = count <= 0;
      state->changed.notify_all();
    } while (count > 0);
  }).detach();
}

Pipes::~Pipes() = default;

Pipes::Event Pipes::wait(int milliseconds, std::string &bytes) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, std::chrono::milliseconds(milliseconds),
                           [&] { return !state_->bytes.empty() || (state_->has_ended && !state_->is_told); });
  bytes = std::exchange(state_->bytes, {});
  state_->changed.notify_all();
  if (!bytes.empty())
    return Event::input;
  if (!state_->has_ended || std::exchange(state_->is_told, true))
    return Event::none;
  return Event::input_ended;
}

int Pipes::write(std::string_view text) {
  while (!text.empty()) {
    const int count =
        ::_write(state_->output, text.data(), static_cast<unsigned>(std::min<std::size_t>(text.size(), 1 << 20)));
    if (count < 0)
      return errno == EINVAL ? EPIPE : errno; // Windows reports closed pipes in this way
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

} // namespace dnheap::mcp

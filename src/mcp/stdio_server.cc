#include "mcp/stdio_server.h"

#include "mcp/pipes.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace dnheap::mcp {

namespace {

constexpr std::size_t most_waiting = 64;
constexpr int step_milliseconds = 250;

class Server {
public:
  Server(const Protocol &protocol, const Tools &tools, int input, int output)
      : protocol_(protocol), tools_(tools), pipes_(input, output), worker_([this] { work(); }) {}

  ~Server() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    wake_.notify_all();
    worker_.join();
  }

  void run() {
    std::string bytes;
    while (!is_abandoned_ && !(has_ended_ && is_idle())) {
      switch (pipes_.wait(step_milliseconds, bytes)) {
      case Pipes::Event::none: break;
      case Pipes::Event::input: take(bytes); break;
      case Pipes::Event::input_ended:
        has_ended_ = true;
        if (!line_.empty()) // the last line needs no end
          take_line();
        break;
      case Pipes::Event::reader_gone: is_abandoned_ = true;
      }
      tell_step();
    }
    if (is_abandoned_)
      abandon();
    if (failed_ && failed_ != EPIPE) // EPIPE is no error: nobody listens any more
      throw std::system_error(failed_, std::generic_category(), "cannot write answers");
  }

private:
  void take(std::string_view rest) {
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      if (!is_too_long_)
        line_ += rest.substr(0, end);
      if (line_.size() > longest_message) {
        is_too_long_ = true;
        line_.clear();
        line_.shrink_to_fit();
      }
      if (end < rest.size())
        take_line();
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  void take_line() {
    const std::string line = std::exchange(line_, {});
    if (std::exchange(is_too_long_, false)) {
      send(Protocol::too_long());
      return;
    }
    if (line.find_first_not_of(" \t\r") == line.npos)
      return;
    Taken taken = protocol_.take(line);
    if (taken.answer)
      send(*taken.answer);
    if (taken.cancelled)
      cancel(*taken.cancelled);
    if (taken.call)
      queue(std::move(*taken.call));
  }

  void queue(Call call) {
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() < most_waiting) {
        waiting_.push_back(std::move(call));
        wake_.notify_all();
        return;
      }
    }
    send(
        protocol_.answer_to(call, {.texts = {"64 calls are waiting already: call again when some of them are answered"},
                                   .is_error = true}));
  }

  // A cancelled call gets no answer.
  void cancel(const Json &id) {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [&](const Call &call) { return call.id == id; });
    if (running_ && running_->id == id) {
      is_cancelled_ = true;
      tools_.cancel();
    }
  }

  void abandon() {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    if (running_) {
      is_cancelled_ = true;
      tools_.cancel();
    }
  }

  bool is_idle() {
    const std::lock_guard lock(mutex_);
    return waiting_.empty() && !running_;
  }

  void tell_step() {
    Json message;
    {
      const std::lock_guard lock(mutex_);
      if (!running_ || is_cancelled_ || running_->progress_token.is_null())
        return;
      const std::optional<Step> step = tools_.step();
      if (!step || step->done <= told_)
        return;
      told_ = step->done;
      message = Protocol::progress_of(*running_, step->done, step->text);
      send(message); // before the call's answer, which needs this lock
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return is_ending_ || !waiting_.empty(); });
      if (waiting_.empty())
        return;
      running_ = std::move(waiting_.front());
      waiting_.pop_front();
      is_cancelled_ = false;
      told_ = 0;
      const Call call = *running_;
      lock.unlock();
      const ToolResult result = tools_.call(call);
      lock.lock();
      running_.reset();
      if (!is_cancelled_)
        send(protocol_.answer_to(call, result));
    }
  }

  void send(const Json &message) {
    // Texts of a dump may be invalid UTF-8.
    const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    const std::lock_guard lock(output_mutex_);
    if (is_abandoned_)
      return;
    if (const int error = pipes_.write(text))
      failed_ = error, is_abandoned_ = true;
  }

  const Protocol &protocol_;
  const Tools &tools_;
  Pipes pipes_;
  std::string line_;
  bool is_too_long_ = false, has_ended_ = false;
  std::atomic<bool> is_abandoned_ = false;
  std::atomic<int> failed_ = 0; // why nothing could be written

  std::mutex output_mutex_;
  std::mutex mutex_; // guards the members below
  std::condition_variable wake_;
  std::deque<Call> waiting_;
  std::optional<Call> running_;
  bool is_cancelled_ = false, is_ending_ = false;
  double told_ = 0;
  std::thread worker_; // last, as it uses all of the above
};

} // namespace

void serve(const Protocol &protocol, const Tools &tools, int input, int output) {
  Server(protocol, tools, input, output).run();
}

} // namespace dnheap::mcp

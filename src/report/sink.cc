#include "report/sink.h"

#include "base/host/host.h"

#include <cerrno>
#include <cstring>
#include <utility>

namespace dnheap::report {

namespace {

constexpr std::size_t buffer_size = 256 * 1024;
constexpr std::size_t worth_a_write = 32 * 1024; // larger output is not copied into the buffer

[[noreturn]] void fail(const std::string &name, int error) {
  if (error == EPIPE)
    throw OutputClosed();
  if (error == EINTR)
    throw Interrupted();
  throw Error("cannot write to " + name + ": " + std::strerror(error));
}

} // namespace

void Sink::write(std::string_view bytes) {
  if (text_) {
    text_->append(bytes);
    return;
  }
  if (bytes.size() >= worth_a_write) {
    flush();
    put(bytes);
    return;
  }
  buffer_.append(bytes);
  if (buffer_.size() >= buffer_size)
    flush();
}

void Sink::flush() {
  if (!file_)
    return;
  std::string full = std::exchange(buffer_, {});
  put(full);
  full.clear();
  buffer_ = std::move(full); // keeps its capacity
}

void Sink::put(std::string_view bytes) {
  if (int error = write_all(file_, bytes))
    fail(name_, error);
}

} // namespace dnheap::report

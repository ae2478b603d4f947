#include "support/fake_runtime.h"

#include "base/host/local_socket.h"

#include <chrono>
#include <unistd.h>

namespace dnheap::test {

FakeRuntime::FakeRuntime(std::string path, FakePort::Answer answer, u8 cookie)
    : path_(std::move(path)), answer_(std::move(answer)), cookie_(cookie), thread_([this] { serve(); }) {}

FakeRuntime::~FakeRuntime() {
  ends_ = true;
  thread_.join();
}

std::vector<std::byte> FakeRuntime::advertisement(u8 cookie, u64 pid) {
  std::vector<std::byte> out;
  for (char c : {'A', 'D', 'V', 'R', '_', 'V', '1', '\0'})
    out.push_back(static_cast<std::byte>(c));
  out.insert(out.end(), 16, std::byte{cookie});
  for (int i = 0; i < 8; ++i)
    out.push_back(static_cast<std::byte>(pid >> (8 * i)));
  out.insert(out.end(), 2, std::byte{0});
  return out;
}

void FakeRuntime::serve() {
  while (!ends_) {
    std::error_code error;
    const std::optional<LocalSocket> socket = LocalSocket::connect(path_, 0.1, error);
    if (!socket || !socket->send(advertisement(cookie_, static_cast<u64>(::getpid())), 1)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    std::vector<std::byte> request;
    u64 wanted = diagnostics_header_size;
    bool is_open = true;
    while (!ends_ && is_open && request.size() < wanted) {
      is_open = socket->receive(request, wanted - request.size(), 0.02) != LocalSocket::Received::end;
      if (request.size() == diagnostics_header_size)
        wanted = size_of_reply(request);
    }
    if (request.size() >= wanted)
      if (const std::optional<std::vector<std::byte>> answer = answer_(request))
        socket->send(*answer, 1);
  }
}

} // namespace dnheap::test

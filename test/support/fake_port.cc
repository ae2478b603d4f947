#include "support/fake_port.h"

#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace dnheap::test {

namespace {

constexpr DiagnosticsCommand port_is_ok = {0xff, 0}, port_is_wrong = {0xff, 0xff};

std::string new_folder_for_port() {
  std::string out = (std::filesystem::temp_directory_path() / "dnheap-port-XXXXXX").string();
  if (!::mkdtemp(out.data()))
    throw std::runtime_error("no folder for a socket");
  return out;
}

} // namespace

FakePort::FakePort(Answer answer)
    : folder_(new_folder_for_port()),
      path_(folder_ + "/dotnet-diagnostic-" + std::to_string(::getpid()) + "-17-socket"), answer_(std::move(answer)) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
  socket_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (::bind(socket_, reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0 || ::listen(socket_, 8) != 0)
    throw std::runtime_error("cannot listen on " + path_);
  thread_ = std::thread([this] { serve(); });
}

FakePort::~FakePort() {
  ends_ = true;
  thread_.join();
  for (int connection : silent_)
    ::close(connection);
  ::close(socket_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void FakePort::serve() {
  while (!ends_) {
    pollfd asked{socket_, POLLIN, 0};
    if (::poll(&asked, 1, 20) > 0)
      if (const int connection = ::accept(socket_, nullptr, nullptr); connection >= 0)
        answer_one(connection);
  }
}

void FakePort::answer_one(int connection) {
  std::vector<std::byte> request;
  auto receive = [&](u64 wanted) {
    while (request.size() < wanted) {
      const u64 before = request.size();
      request.resize(wanted);
      const ssize_t n = ::recv(connection, request.data() + before, wanted - before, 0);
      request.resize(before + static_cast<u64>(n > 0 ? n : 0));
      if (n <= 0)
        return false;
    }
    return true;
  };
  if (!receive(diagnostics_header_size) || !receive(size_of_reply(request))) {
    ::close(connection);
    return;
  }
  const std::optional<std::vector<std::byte>> answer = answer_(request);
  if (!answer) {
    silent_.push_back(connection);
    return;
  }
  ::send(connection, answer->data(), answer->size(), MSG_NOSIGNAL);
  ::close(connection);
}

std::vector<std::byte> FakePort::ok(Bytes payload) { return diagnostics_message(port_is_ok, payload); }

std::vector<std::byte> FakePort::error(u32 code, const std::string &message) {
  DiagnosticsPayload payload;
  payload.put(code);
  if (!message.empty())
    payload.put(std::string_view(message));
  return diagnostics_message(port_is_wrong, payload.bytes());
}

DiagnosticsCommand FakePort::command_of(Bytes request) {
  return {static_cast<u8>(request[16]), static_cast<u8>(request[17])};
}

std::vector<std::byte> FakePort::this_process(const std::string &version) {
  DiagnosticsPayload payload;
  payload.put(u32{1});
  payload.put(static_cast<u64>(::getpid()));
  payload.put(u64{5});
  payload.put(u64{6});
  for (const std::string &text : {std::string("/app/shop --all"), std::string("Linux"), std::string("x64"),
                                  std::string("shop"), version, std::string("linux-x64")})
    payload.put(std::string_view(text));
  return ok(payload.bytes());
}

} // namespace dnheap::test

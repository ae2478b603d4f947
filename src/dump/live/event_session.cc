#include "dump/live/event_session.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <chrono>

namespace dnheap {

namespace {

using SessionClock = std::chrono::steady_clock;

constexpr u8 event_commands = 2;
constexpr DiagnosticsCommand stop_tracing = {event_commands, 1};
constexpr double connect_seconds = 1, send_seconds = 5, one_wait = 0.2;

// The forms of the command that begins a session, the newest first.
enum class WishForm : u8 {
  collect_2 = 3,
  collect_4 = 5, // since 9: with keywords for the rundown
  collect_6 = 7, // since 11: the process waits when its buffer is full, and loses nothing
};

void put_byte(DiagnosticsPayload &payload, std::vector<std::byte> &to, u8 value) {
  to.insert(to.end(), payload.bytes().begin(), payload.bytes().end());
  to.push_back(static_cast<std::byte>(value));
  payload = {};
}

std::vector<std::byte> session_message(const EventWish &wish, WishForm form) {
  constexpr u32 nettrace = 1, streaming = 0, blocks_when_full = 1, enough_if_blocking = 256;
  std::vector<std::byte> out;
  DiagnosticsPayload part;
  if (form == WishForm::collect_6)
    part.put(streaming);
  part.put(form == WishForm::collect_6 ? std::min(wish.buffer_mb, enough_if_blocking) : wish.buffer_mb);
  part.put(nettrace);
  if (form == WishForm::collect_2) {
    put_byte(part, out, wish.rundown_keywords != 0);
  } else {
    part.put(wish.rundown_keywords);
    put_byte(part, out, 0); // no stacks
  }
  part.put(u32{1}); // providers
  part.put(wish.keywords);
  part.put(wish.level);
  part.put(wish.provider);
  part.put(u32{0}); // no arguments
  if (form == WishForm::collect_6) {
    put_byte(part, out, 0); // leaves out events with these numbers: none
    part.put(u32{0});
    part.put(blocks_when_full);
  }
  const Bytes rest = part.bytes();
  out.insert(out.end(), rest.begin(), rest.end());
  return diagnostics_message({event_commands, static_cast<u8>(form)}, out);
}

LocalSocket connect_to(const std::string &path) {
  std::error_code error;
  std::optional<LocalSocket> out = LocalSocket::connect(path, connect_seconds, error);
  if (!out)
    throw Error("the diagnostics port " + path + " does not accept: " + error.message());
  return std::move(*out);
}

// Returns a whole reply, and nothing of what comes behind it.
DiagnosticsReply receive_reply(const LocalSocket &from, const Patience &patience) {
  const auto last = SessionClock::now() +
                    std::chrono::duration_cast<SessionClock::duration>(std::chrono::duration<double>(patience.seconds));
  std::vector<std::byte> got;
  u64 wanted = diagnostics_header_size;
  while (got.size() < wanted) {
    if (patience.turn)
      patience.turn();
    if (from.receive(got, wanted - got.size(), one_wait) == LocalSocket::Received::end)
      throw Error("the diagnostics port was closed before it answered: the process has probably ended");
    if (got.size() >= diagnostics_header_size)
      wanted = size_of_reply(got);
    if (got.size() < wanted && SessionClock::now() > last)
      throw Error("the process does not answer on its diagnostics port within " +
                  milliseconds_text(static_cast<u64>(patience.seconds * 1000)) +
                  ": it may be stopped, by a debugger or SIGSTOP, or busy with another command: let it go on, and try "
                  "again");
  }
  return parse_reply(got);
}

} // namespace

EventSession::EventSession(DiagnosticsPort &port, const EventWish &wish, const Patience &patience)
    : path_(port.path()) {
  DiagnosticsReply reply;
  for (WishForm form : {WishForm::collect_6, WishForm::collect_4, WishForm::collect_2}) {
    stream_ = connect_to(path_);
    if (!stream_->send(session_message(wish, form), send_seconds))
      throw Error("the diagnostics port " + path_ + " takes no command: the process has probably ended");
    reply = receive_reply(*stream_, patience);
    if (reply.is_ok ||
        (reply.error != DiagnosticsReply::unknown_command && reply.error != DiagnosticsReply::bad_encoding))
      break;
  }
  if (!reply.is_ok)
    throw Error("the runtime refuses to send events: error " + hex(reply.error) +
                (reply.message.empty() ? "" : ": " + printable(reply.message)));
  id_ = DiagnosticsReader(reply.payload).long_number().value_or(0);
  has_begun_ = true;
}

EventSession::~EventSession() {
  if (!has_begun_ || has_ended_)
    return;
  try {
    stop();
    stream_.reset(); // nobody reads it: the runtime must not wait for that
    receive_reply(*stopping_, {2, {}});
  } catch (const Error &) { // the process has ended, or stands still; once it goes on, it finds that nobody listens
  }
}

bool EventSession::receive(std::vector<std::byte> &to, u64 most) {
  has_ended_ = has_ended_ || stream_->receive(to, most, one_wait) == LocalSocket::Received::end;
  return !has_ended_;
}

void EventSession::stop() {
  if (stopping_)
    return;
  DiagnosticsPayload payload;
  payload.put(id_);
  stopping_ = connect_to(path_);
  stopping_->send(diagnostics_message(stop_tracing, payload.bytes()), send_seconds);
}

} // namespace dnheap

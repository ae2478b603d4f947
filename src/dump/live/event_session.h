// EventSession: events of a .NET process, which its runtime sends over the diagnostics port as long as this object
// lives. The process makes and sends them itself: it is not stopped by a tracer. Ended in any case, also when the
// stream is not read to its end. One thread at a time. Linux and other POSIX hosts.
#pragma once
#include "dump/live/diagnostics_port.h"

#include <functional>

namespace dnheap {

struct EventWish {
  std::string provider;
  u64 keywords = 0;
  u32 level = 0;
  u64 rundown_keywords = 0; // 0: none. Runtimes before 9 know only all or none
  // Memory that the process takes for events that are not sent yet, at most. Since 11 it takes 256 MiB at most, and
  // waits when they are full; before, what finds no room is lost.
  u32 buffer_mb = 256;
};

class EventSession {
public:
  // Begins the session; returns when the runtime has done what the wish asks it to do at once, such as a collection.
  // `patience.seconds`: for that. Throws Error if the runtime refuses.
  EventSession(DiagnosticsPort &port, const EventWish &wish, const Patience &patience);
  ~EventSession();
  EventSession(const EventSession &) = delete;
  EventSession &operator=(const EventSession &) = delete;

  // Appends what came, at most `most` bytes, after up to 0.2 seconds. False: the stream has ended.
  bool receive(std::vector<std::byte> &to, u64 most);
  // Asks the runtime to send what is left, and then to end. The stream must be read on.
  void stop();

private:
  std::string path_;
  std::optional<LocalSocket> stream_, stopping_;
  u64 id_ = 0;
  bool has_begun_ = false, has_ended_ = false;
};

} // namespace dnheap

// NettraceParser: the events of a stream in the nettrace format, version 4 (what .NET's runtimes write on the
// diagnostics port), as its bytes arrive. Keeps no more than one block and the descriptions of events. What comes in is
// not trusted: what does not fit the format is an Error, and nothing is read beyond a block. One thread at a time.
// Source: PerfView's NetTraceFormat_v5.md.
#pragma once
#include "base/bytes.h"

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace dnheap {

// A kind of event, as the stream describes it.
struct NettraceKind {
  std::string provider; // "Microsoft-Windows-DotNETRuntime"
  u32 number = 0, version = 0;
};

struct NettraceEvent {
  const NettraceKind &kind;
  u64 thread = 0;   // that has written it
  u32 sequence = 0; // counts the thread's events; a step beyond 1: events were lost
  u64 time = 0;     // in ticks
  Bytes payload;    // valid during the visit
};

class NettraceParser {
public:
  using Visit = std::function<void(const NettraceEvent &)>;

  explicit NettraceParser(Visit visit) : visit_(std::move(visit)) {}

  // Takes the next bytes, of any number, and visits the events that are complete with them. Throws Error, or what
  // `visit` throws; then nothing more can be fed.
  void feed(Bytes bytes);
  // True once the stream has said that it ends. What follows is ignored.
  bool has_ended() const { return has_ended_; }

  // Known before the first event.
  u8 pointer_size() const { return pointer_size_; }
  u64 ticks_per_second() const { return ticks_per_second_; }
  u64 pid() const { return pid_; } // as the process knows itself

private:
  struct Header;
  class Cursor;

  bool take_header(Cursor &cursor);
  bool take_object(Cursor &cursor);
  void take_trace(Bytes fields);
  void take_events(Bytes block, bool describes);
  void take_event(const Header &header, Bytes payload, bool describes);
  void describe(Bytes payload);

  Visit visit_;
  std::vector<std::byte> waiting_; // the bytes that are not understood yet
  u64 behind_ = 0;                 // bytes of the stream before these
  bool has_begun_ = false, has_ended_ = false;
  u8 pointer_size_ = 0;
  u64 ticks_per_second_ = 0, pid_ = 0;
  std::unordered_map<u32, NettraceKind> kinds_;
};

} // namespace dnheap

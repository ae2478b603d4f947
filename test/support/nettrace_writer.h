// NettraceWriter: a stream in the nettrace format, version 4, as a .NET runtime writes it, with the events that a test
// wants. Each event is in a block of its own unless they are written together.
#pragma once
#include "base/bytes.h"

#include <string>
#include <utility>
#include <vector>

namespace dnheap::test {

// Fields of an event's payload, one after the other.
class EventFields {
public:
  EventFields &byte(u64 value) { return put(value, 1); }
  EventFields &half(u64 value) { return put(value, 2); }
  EventFields &word(u64 value) { return put(value, 4); }
  EventFields &quad(u64 value) { return put(value, 8); }
  EventFields &text(const std::string &value); // as UTF-16 with a zero
  const std::vector<std::byte> &bytes() const { return bytes_; }

private:
  EventFields &put(u64 value, u64 size);
  std::vector<std::byte> bytes_;
};

class NettraceWriter {
public:
  explicit NettraceWriter(u32 pointer_size = 8);

  // Describes a kind of event; returns its number in the stream.
  u32 describe(const std::string &provider, u32 number, u32 version);
  // An event of thread 7, a millisecond after the one before.
  void event(u32 kind, const EventFields &fields);
  void lose_event() { ++sequence_; }
  // A block of another type, which readers go over.
  void block(const std::string &type, const std::vector<std::byte> &content);
  // The stream so far, with its end.
  std::vector<std::byte> finished() const;
  std::vector<std::byte> &bytes() { return bytes_; }

private:
  void event_block(const std::string &type, const std::vector<std::byte> &events);

  std::vector<std::byte> bytes_;
  u32 kinds_ = 0, sequence_ = 0;
  u64 time_ = 0;
};

// The events of a full collection of a heap of three objects: a Node that refers to a string and an array, the string
// held by the static field "Shop.Cache.first", the Node by a pinned handle; the array depends on the string. `change`
// is called before the event at which the collection ends.
struct ListedHeap {
  static constexpr Address node = 0x7f0000001000, text = 0x7f0000001020, array = 0x7f0000001040;
  bool with_types = true, with_end = true;
  u32 first_index = 0; // of the event with objects; 0 unless events were lost
  u64 node_degree = 2;
};
NettraceWriter listed_heap(const ListedHeap &how = {}, u32 pointer_size = 8);

} // namespace dnheap::test

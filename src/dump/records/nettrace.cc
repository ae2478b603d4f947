#include "dump/records/nettrace.h"

#include "base/error.h"
#include "base/text.h"
#include "target/memory.h"

#include <algorithm>
#include <optional>

namespace dnheap {

namespace {

using namespace std::string_view_literals;
constexpr std::string_view stream_begin = "Nettrace\x14\0\0\0!FastSerialization.1"sv;
constexpr u8 null_tag = 1, begin_tag = 5, end_tag = 6;
constexpr u64 largest_block = u64{16} << 20; // runtimes write at most 100 KiB, unless one event is longer
constexpr u64 most_kinds = 1 << 16;
constexpr u64 size_of_trace_fields = 48;

[[noreturn]] void fail_stream(const std::string &what) { throw Error("the stream of events cannot be read: " + what); }

// Fields of an event's header that are present, or otherwise as in the event before it.
enum HeaderFlag : u8 {
  has_kind = 1,
  has_sequence = 2,
  has_thread = 4,
  has_stack = 8,
  has_activity = 16,
  has_related_activity = 32,
  has_size = 128,
};

} // namespace

struct NettraceParser::Header {
  u32 kind = 0, sequence = 0, size = 0;
  u64 thread = 0, time = 0;
};

// Reads the waiting bytes. Where bytes may still come, functions return false; within blocks they throw.
class NettraceParser::Cursor {
public:
  explicit Cursor(Bytes bytes, u64 at = 0) : bytes_(bytes), at_(at) {}

  u64 at() const { return at_; }
  bool is_at_end() const { return at_ == bytes_.size(); }
  std::optional<Bytes> take(u64 size) {
    if (size > bytes_.size() - at_)
      return std::nullopt;
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }
  Bytes must_take(u64 size) {
    const std::optional<Bytes> out = take(size);
    if (!out)
      fail_stream("a block ends within an event");
    return *out;
  }
  template <class T> std::optional<T> number() {
    const std::optional<Bytes> out = take(sizeof(T));
    return out ? std::optional(load<T>(out->data(), ByteOrder::little)) : std::nullopt;
  }
  template <class T> T must_number() { return load<T>(must_take(sizeof(T)).data(), ByteOrder::little); }
  // Seven bits in each byte, the lowest first.
  u64 must_short_number() {
    u64 out = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      const auto byte = must_number<u8>();
      out |= shift < 64 ? u64{byte & 0x7fu} << shift : 0;
      if (!(byte & 0x80))
        return out;
    }
    fail_stream("a number is too long");
  }
  // UTF-16 up to a zero.
  std::string must_text() {
    const u64 start = at_;
    while (must_number<u16>())
      ;
    return utf16_to_utf8(bytes_.subspan(start, at_ - start - 2), ByteOrder::little);
  }

private:
  Bytes bytes_;
  u64 at_ = 0;
};

void NettraceParser::feed(Bytes bytes) {
  if (has_ended_)
    return;
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  Cursor cursor(waiting_);
  u64 done = 0;
  while (!has_ended_ && (has_begun_ ? take_object(cursor) : take_header(cursor)))
    done = cursor.at();
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(done));
  behind_ += done;
}

bool NettraceParser::take_header(Cursor &cursor) {
  const std::string_view there = as_text(waiting_).substr(0, stream_begin.size());
  if (there != stream_begin.substr(0, there.size()))
    fail_stream(there.starts_with("Nettrace") && there.size() > 12
                    ? "it is in another version of the nettrace format than 4, the one that dnheap reads"
                    : "it is not in the nettrace format");
  return has_begun_ = cursor.take(stream_begin.size()).has_value();
}

// An object: its type, fields, and an end. Returns false if it is not complete.
bool NettraceParser::take_object(Cursor &cursor) {
  constexpr u64 longest_name = 64;
  const std::optional<u8> tag = cursor.number<u8>();
  if (tag == null_tag)
    return has_ended_ = true;
  if (!tag)
    return false;
  const std::optional<u8> begin_type = cursor.number<u8>(), type_of_type = cursor.number<u8>();
  const std::optional<u32> version = cursor.number<u32>(), least_reader = cursor.number<u32>(),
                           length = cursor.number<u32>();
  if (*tag != begin_tag || begin_type.value_or(begin_tag) != begin_tag || type_of_type.value_or(null_tag) != null_tag ||
      length.value_or(0) > longest_name)
    fail_stream("byte " + std::to_string(behind_ + cursor.at()) + " begins no object");
  const std::optional<Bytes> name = length ? cursor.take(*length) : std::nullopt;
  const std::optional<u8> end_of_type = name ? cursor.number<u8>() : std::nullopt;
  if (!version || !least_reader || !end_of_type)
    return false;
  if (*end_of_type != end_tag)
    fail_stream("the name of an object does not end");
  const std::string_view kind = as_text(*name);
  std::optional<Bytes> fields;
  if (kind == "Trace") {
    fields = cursor.take(size_of_trace_fields);
  } else {
    const std::optional<u32> size = cursor.number<u32>();
    if (size.value_or(0) > largest_block)
      fail_stream("a block of " + bytes_text(*size) + " is too large");
    const u64 padding = (4 - (behind_ + cursor.at()) % 4) % 4;
    fields = size && cursor.take(padding) ? cursor.take(*size) : std::nullopt;
  }
  const std::optional<u8> end = fields ? cursor.number<u8>() : std::nullopt;
  if (!end)
    return false;
  if (*end != end_tag)
    fail_stream("an object of type " + printable(kind) + " does not end where it should");
  if (kind == "Trace")
    take_trace(*fields);
  else if (pointer_size_ == 0)
    fail_stream("it does not begin with a description of itself");
  else if (kind == "EventBlock" || kind == "MetadataBlock")
    take_events(*fields, kind == "MetadataBlock");
  return true;
}

void NettraceParser::take_trace(Bytes fields) {
  constexpr u64 time_in_words = 16, sync_time = 8;
  Cursor cursor(fields);
  cursor.must_take(time_in_words + sync_time);
  ticks_per_second_ = cursor.must_number<u64>();
  const u32 pointer_size = cursor.must_number<u32>();
  pid_ = cursor.must_number<u32>();
  if ((pointer_size != 4 && pointer_size != 8) || ticks_per_second_ == 0)
    fail_stream("it says that pointers have " + std::to_string(pointer_size) + " bytes, and a second " +
                std::to_string(ticks_per_second_) + " ticks");
  pointer_size_ = static_cast<u8>(pointer_size);
}

void NettraceParser::take_events(Bytes block, bool describes) {
  constexpr u16 is_compressed = 1;
  Cursor cursor(block);
  const auto header_size = cursor.must_number<u16>(), flags = cursor.must_number<u16>();
  if (header_size < 4 || !(flags & is_compressed))
    fail_stream("a block of events has a form that no .NET runtime writes");
  cursor.must_take(header_size - 4u);
  Header header;
  while (!cursor.is_at_end()) {
    const auto has = cursor.must_number<u8>();
    if (has & has_kind)
      header.kind = static_cast<u32>(cursor.must_short_number());
    if (has & has_sequence) {
      header.sequence += static_cast<u32>(cursor.must_short_number());
      header.thread = cursor.must_short_number();
      cursor.must_short_number(); // the processor
    }
    header.sequence += header.kind != 0;
    if (has & has_thread)
      cursor.must_short_number(); // which the event is about
    if (has & has_stack)
      cursor.must_short_number();
    header.time += cursor.must_short_number();
    for (u8 activity : {has_activity, has_related_activity})
      if (has & activity)
        cursor.must_take(16);
    if (has & has_size)
      header.size = static_cast<u32>(cursor.must_short_number());
    take_event(header, cursor.must_take(header.size), describes);
  }
}

void NettraceParser::take_event(const Header &header, Bytes payload, bool describes) {
  if (describes) {
    describe(payload);
    return;
  }
  const auto kind = kinds_.find(header.kind & ~(u32{1} << 31));
  if (kind == kinds_.end())
    fail_stream("an event is of a kind that was not described");
  visit_({kind->second, header.thread, header.sequence, header.time, payload});
}

void NettraceParser::describe(Bytes payload) {
  Cursor cursor(payload);
  const auto id = cursor.must_number<u32>();
  NettraceKind kind;
  kind.provider = cursor.must_text();
  kind.number = cursor.must_number<u32>();
  cursor.must_text(); // a name, which is empty in runtimes' events
  cursor.must_number<u64>();
  kind.version = cursor.must_number<u32>();
  if (kinds_.size() >= most_kinds)
    fail_stream("it describes more kinds of events than any runtime has");
  kinds_[id] = std::move(kind);
}

} // namespace dnheap

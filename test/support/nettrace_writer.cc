#include "support/nettrace_writer.h"

namespace dnheap::test {

namespace {

void put_number(std::vector<std::byte> &to, u64 value, u64 size) {
  for (u64 i = 0; i < size; ++i)
    to.push_back(static_cast<std::byte>(i < 8 ? value >> (8 * i) : 0));
}

void put_short(std::vector<std::byte> &to, u64 value) {
  for (; value >= 0x80; value >>= 7)
    to.push_back(static_cast<std::byte>(value | 0x80));
  to.push_back(static_cast<std::byte>(value));
}

void put_chars(std::vector<std::byte> &to, std::string_view text) {
  for (char c : text)
    to.push_back(static_cast<std::byte>(c));
}

void begin_object(std::vector<std::byte> &to, const std::string &type, u32 version) {
  put_number(to, 0x010505, 3);
  put_number(to, version, 4);
  put_number(to, version, 4);
  put_number(to, type.size(), 4);
  put_chars(to, type);
  put_number(to, 6, 1);
}

} // namespace

EventFields &EventFields::put(u64 value, u64 size) {
  put_number(bytes_, value, size);
  return *this;
}

EventFields &EventFields::text(const std::string &value) {
  for (char c : value)
    half(static_cast<u8>(c));
  return half(0);
}

NettraceWriter::NettraceWriter(u32 pointer_size) {
  put_chars(bytes_, "Nettrace");
  put_number(bytes_, 20, 4);
  put_chars(bytes_, "!FastSerialization.1");
  begin_object(bytes_, "Trace", 4);
  bytes_.resize(bytes_.size() + 16 + 8);
  for (auto [value, size] : {std::pair<u64, u64>{1000, 8}, {pointer_size, 4}, {4711, 4}, {2, 4}, {0, 4}, {6, 1}})
    put_number(bytes_, value, size);
}

void NettraceWriter::block(const std::string &type, const std::vector<std::byte> &content) {
  begin_object(bytes_, type, 2);
  put_number(bytes_, content.size(), 4);
  bytes_.resize((bytes_.size() + 3) / 4 * 4);
  bytes_.insert(bytes_.end(), content.begin(), content.end());
  put_number(bytes_, 6, 1);
}

void NettraceWriter::event_block(const std::string &type, const std::vector<std::byte> &events) {
  std::vector<std::byte> content;
  put_number(content, 20, 2); // the header's size
  put_number(content, 1, 2);  // headers are compressed
  put_number(content, 0, 16); // times
  content.insert(content.end(), events.begin(), events.end());
  block(type, content);
}

u32 NettraceWriter::describe(const std::string &provider, u32 number, u32 version) {
  EventFields fields;
  fields.word(++kinds_).text(provider).word(number).text("").quad(0).word(version).word(4).word(0);
  std::vector<std::byte> event;
  put_number(event, 0x80, 1); // a size
  put_short(event, time_);
  put_short(event, fields.bytes().size());
  event.insert(event.end(), fields.bytes().begin(), fields.bytes().end());
  event_block("MetadataBlock", event);
  return kinds_;
}

void NettraceWriter::event(u32 kind, const EventFields &fields) {
  std::vector<std::byte> event;
  put_number(event, 1 | 2 | 4 | 8 | 128, 1);
  put_short(event, kind);
  put_short(event, sequence_++);
  put_short(event, 7); // the thread
  put_short(event, 1); // the processor
  put_short(event, 7); // the thread that the event is about
  put_short(event, 0); // the stack
  put_short(event, ++time_);
  put_short(event, fields.bytes().size());
  event.insert(event.end(), fields.bytes().begin(), fields.bytes().end());
  event_block("EventBlock", event);
}

std::vector<std::byte> NettraceWriter::finished() const {
  std::vector<std::byte> out = bytes_;
  put_number(out, 1, 1);
  return out;
}

NettraceWriter listed_heap(const ListedHeap &how, u32 pointer_size) {
  constexpr const char *runtime = "Microsoft-Windows-DotNETRuntime";
  constexpr u64 node_type = 0x100, text_type = 0x200, array_type = 0x300, module = 0x400;
  NettraceWriter out(pointer_size);
  auto pointer = [&](EventFields &to, u64 value) -> EventFields & {
    return pointer_size == 8 ? to.quad(value) : to.word(value);
  };
  auto fire = [&](u32 number, const EventFields &fields) { out.event(out.describe(runtime, number, 0), fields); };
  fire(9, EventFields().word(1).word(5).half(0));
  fire(1, EventFields().word(4).word(0).word(0).word(0).half(0).quad(0)); // another one, of generation 0
  fire(2, EventFields().word(4).word(0).half(0));
  fire(1, EventFields().word(5).word(2).word(1).word(0).half(0).quad(0));
  if (how.with_types) {
    EventFields types;
    types.word(3).half(0);
    types.quad(node_type).quad(module).word(1).word(0).byte(0x12).text("Shop.Node`1[System.Int32]").word(0);
    types.quad(text_type).quad(module).word(2).word(0).byte(0x0e).text("System.String").word(0);
    types.quad(array_type).quad(module).word(0).word(8).byte(0x1d).text("").word(1).quad(node_type);
    fire(15, types);
  }
  EventFields nodes;
  nodes.word(how.first_index).word(3).half(0);
  pointer(nodes, ListedHeap::node).quad(24).quad(node_type).quad(how.node_degree);
  pointer(nodes, ListedHeap::text).quad(30).quad(text_type).quad(0);
  pointer(nodes, ListedHeap::array).quad(40).quad(array_type).quad(1);
  fire(18, nodes);
  EventFields edges;
  edges.word(0).word(3).half(0);
  for (Address target : {ListedHeap::text, ListedHeap::array, ListedHeap::node})
    pointer(edges, target).word(0);
  fire(19, edges);
  EventFields roots;
  roots.word(0).word(3).half(0);
  pointer(pointer(roots, ListedHeap::node).byte(2).word(1), 0x5000); // a pinned handle
  pointer(pointer(roots, ListedHeap::text).byte(2).word(2), 0x5008); // a weak one
  pointer(pointer(roots, ListedHeap::array).byte(0).word(0), 0);     // the stack
  fire(16, roots);
  EventFields dependents;
  dependents.word(0).word(2).half(0);
  pointer(pointer(pointer(dependents, ListedHeap::text), ListedHeap::array), 0x5010);
  pointer(pointer(pointer(dependents, 0), ListedHeap::node), 0x5018); // its key is dead
  fire(17, dependents);
  fire(38,
       EventFields().word(1).quad(0).half(0).quad(0x6000).quad(ListedHeap::text).quad(text_type).word(0).text("first"));
  EventFields range;
  pointer(range.byte(2), ListedHeap::node & ~u64{0xfff}).quad(0x1000).quad(0x10000).half(0);
  fire(23, range);
  if (how.with_end) {
    fire(2, EventFields().word(5).word(2).half(0));
    fire(3, EventFields().half(0));
  }
  out.event(out.describe("Microsoft-Windows-DotNETRuntimeRundown", 154, 2),
            EventFields().quad(module).quad(0).word(0).word(0).text("/app/Shop.dll").text(""));
  return out;
}

} // namespace dnheap::test

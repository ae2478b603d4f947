#include "support/gcdump_writer.h"

#include <bit>

namespace dnheap::test {

namespace {

class GcDumpBytes {
public:
  std::vector<std::byte> out;

  void byte(u64 value) { out.push_back(static_cast<std::byte>(value)); }
  void number(u64 value, int bytes) {
    for (int i = 0; i < bytes; ++i)
      byte(value >> 8 * i & 0xff);
  }
  void text(const std::string &ascii) {
    number(ascii.size(), 4);
    for (char c : ascii)
      byte(static_cast<u8>(c));
  }
  void text_or_null(const std::string &ascii) { ascii.empty() ? number(~u32{0}, 4) : text(ascii); }
  void type(const std::string &name, u32 version, u32 least) {
    for (u64 tag : {4, 4, 1})
      byte(tag);
    number(version, 4);
    number(least, 4);
    text(name);
    byte(6);
  }
  // Five groups, whatever the value: readers take any number of them.
  void compressed(i64 value) {
    for (int group = 4; group >= 0; --group)
      byte((static_cast<u64>(value >> 7 * group) & 0x7f) | (group ? 0x80 : 0));
  }
};

} // namespace

u32 GcDumpWriter::add_type(const std::string &name, i32 size, const std::string &module) {
  types.push_back({name, size, module});
  return static_cast<u32>(types.size() - 1);
}

u32 GcDumpWriter::add_node(u32 type, u64 size, Address address, std::vector<u32> children) {
  nodes.push_back({type, size, address, std::move(children)});
  return static_cast<u32>(nodes.size() - 1);
}

u32 GcDumpWriter::add_group(const std::string &name, std::vector<u32> children) {
  return add_node(add_type(name, 0), 0, 0, std::move(children));
}

std::vector<std::byte> GcDumpWriter::write() const {
  GcDumpBytes file, blob;
  file.text("!FastSerialization.1");
  file.type("GCHeapDump", version, 8);
  file.type("Graphs.MemoryGraph", 1, 0);
  file.number(0, 8); // the sum of sizes, which nobody needs
  file.number(0, 4); // the root
  file.number(types.size(), 4);
  for (const Type &type : types) {
    file.text(type.name);
    file.number(static_cast<u32>(type.size), 4);
    file.text_or_null(type.module);
  }
  file.number(nodes.size(), 4);
  blob.number(0, 2); // what nodes without description lead to
  for (u64 i = 0; i < nodes.size(); ++i) {
    const Node &node = nodes[i];
    file.number(node.type ? blob.out.size() : 0, 4);
    if (!node.type)
      continue;
    const bool differs = types[node.type].size < 0 || node.size != static_cast<u64>(types[node.type].size);
    blob.compressed(node.type * 2 + differs);
    if (differs)
      blob.compressed(static_cast<i64>(node.size));
    blob.compressed(static_cast<i64>(node.children.size()));
    for (u32 child : node.children)
      blob.compressed(static_cast<i64>(child) - static_cast<i64>(i));
  }
  file.number(blob.out.size(), 4);
  file.out.insert(file.out.end(), blob.out.begin(), blob.out.end());
  file.number(nodes.size(), 4);
  for (const Node &node : nodes)
    file.number(node.address, 8);
  file.byte(8);
  file.byte(is_64_bit);
  file.byte(6); // the end of the graph
  file.byte(is_64_bit);
  file.number(std::bit_cast<u32>(sampling), 4);
  file.number(std::bit_cast<u32>(1.0F), 4);
  file.byte(1);
  if (has_heap_info || !segments.empty()) {
    file.type("DotNetHeapInfo", 0, 0);
    file.number(0, 8);
    file.number(segments.size(), 4);
    u64 known = 0;
    for (const Segment &segment : segments) {
      if (!known) {
        known = file.out.size() + 1;
        file.type("GCHeapDumpSegment", 1, 1);
      } else {
        file.byte(4);
        file.byte(2);
        file.number(known, 4);
      }
      file.number(segment.start, 8);
      file.number(segment.end, 8);
      for (Address end : segment.ends)
        file.number(end, 8);
      file.byte(6);
    }
    file.byte(6);
  } else {
    file.byte(1);
  }
  file.text_or_null("");
  file.number(static_cast<u64>(ticks), 8);
  file.text_or_null("");
  file.text_or_null(process);
  file.number(pid, 4);
  file.number(0, 8);
  file.number(0, 8);
  file.number(0, 4);
  file.byte(12);
  file.number(0, 4);
  if (has_interop)
    file.number(0x0102030405060708, 8);
  else
    file.byte(1);
  const u64 behind = file.out.size();
  file.byte(13);
  file.text(tool);
  file.byte(6);
  file.byte(6);
  const u64 table = file.out.size();
  file.number(1, 4);
  file.number(behind, 4);
  const u64 last = file.out.size();
  file.number(table, 4);
  file.number(last, 4);
  return file.out;
}

} // namespace dnheap::test

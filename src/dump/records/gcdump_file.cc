#include "dump/records/gcdump_file.h"

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "dump/records/gcdump_reader.h"

#include <algorithm>
#include <atomic>
#include <bit>

namespace dnheap {

namespace {

using namespace std::string_view_literals;
constexpr std::string_view signature = "\x14\0\0\0!FastSerialization.1"sv;
constexpr u32 oldest_version = 9; // older files have other values behind the graph

// A signed number in groups of seven bits, the highest first. Returns false, with nothing read, if it ends outside.
bool read_number(Bytes blob, u64 &at, i64 &out) {
  u64 place = at;
  if (place >= blob.size())
    return false;
  auto byte = static_cast<u8>(blob[place++]);
  i64 value = static_cast<i64>(byte & 0x7f) - (byte & 0x40 ? 0x80 : 0);
  for (int groups = 1; byte & 0x80; ++groups) {
    if (groups == 5 || place >= blob.size())
      return false;
    byte = static_cast<u8>(blob[place++]);
    value = value * 128 + (byte & 0x7f);
  }
  at = place;
  out = value;
  return true;
}

} // namespace

bool GcDumpFile::is_one(Bytes file) {
  return as_text(file.first(std::min(file.size(), signature.size()))) == signature;
}

GcDumpFile::GcDumpFile(Bytes file) {
  GcDumpReader reader(file);
  reader.text("the signature");
  GcDumpReader::ObjectType type;
  if (!reader.begin_object(type, "the dump") || type.name != "GCHeapDump")
    throw Error("it is in the format of .gcdump files, but holds something else: " + printable(type.name));
  if (type.version < oldest_version)
    throw Error("it is a .gcdump of version " + std::to_string(type.version) + "; dnheap reads version " +
                std::to_string(oldest_version) + " and later: write it anew with dotnet-gcdump");
  if (!reader.begin_object(type, "the graph") || type.name != "Graphs.MemoryGraph")
    throw Error("it is a .gcdump without a graph of objects");
  read_graph(reader, type.least_reader >= 1);
  try {
    read_rest(reader);
  } catch (const Error &error) {
    problem_ = error.what();
  }
}

void GcDumpFile::read_graph(GcDumpReader &reader, bool has_deferred_types) {
  reader.quad("the graph");
  root_ = reader.word("the root");
  types_.resize(reader.count(12, "the number of types"));
  for (Type &type : types_) {
    type.name = reader.text("a type");
    type.size = static_cast<u64>(std::max<i32>(static_cast<i32>(reader.word("a type")), 0));
    type.module = reader.text("a type");
  }
  if (types_.empty())
    throw Error("it is a .gcdump without types");
  const u64 nodes = reader.count(4, "the number of nodes");
  places_ = reader.array(nodes, 4, "the list of nodes");
  blob_ = reader.array(reader.count(1, "the size of the nodes"), 1, "the nodes");
  if (has_deferred_types && reader.has_tag(GcDumpReader::tag_skip))
    reader.skip_region("names of types");
  const u64 addresses = reader.count(8, "the number of addresses");
  addresses_ = reader.array(addresses, 8, "the list of addresses");
  if (addresses < nodes)
    throw Error("the .gcdump is damaged: it has " + count_text(nodes) + " nodes, but " + count_text(addresses) +
                " addresses");
  if (reader.has_tag(GcDumpReader::tag_byte))
    is_64_bit_ = reader.byte("the size of pointers") != 0;
  reader.end_object("the end of the graph");
}

void GcDumpFile::read_rest(GcDumpReader &reader) {
  constexpr u64 ticks_of_1970 = 621355968000000000, ticks_per_second = 10000000;
  reader.byte("the size of pointers");
  sampling_ = std::bit_cast<float>(reader.word("the share of objects"));
  reader.word("the share of sizes");
  GcDumpReader::ObjectType type;
  if (reader.begin_object(type, "the heap of JavaScript"))
    throw Error("it has a heap of JavaScript, too");
  if (reader.begin_object(type, "the segments"))
    read_segments(reader);
  reader.text("the log");
  const u64 ticks = reader.quad("the time");
  if (ticks > ticks_of_1970)
    seconds_ = (ticks - ticks_of_1970) / ticks_per_second;
  reader.text("the machine");
  process_ = reader.text("the process");
  pid_ = reader.word("the process");
  reader.quad("the committed bytes");
  reader.quad("the working set");
  reader.array(reader.count(4, "the shares"), 4, "the shares");
  if (reader.has_tag(GcDumpReader::tag_skip)) // COM objects
    reader.skip_region("COM objects");
  if (reader.has_tag(GcDumpReader::tag_text))
    tool_ = reader.text("the tool");
}

// A segment has the end of each generation in it, the oldest first.
void GcDumpFile::read_segments(GcDumpReader &reader) {
  constexpr u64 least_bytes = 50;
  reader.quad("the segments");
  for (u64 left = reader.count(least_bytes, "the segments"); left; --left) {
    GcDumpReader::ObjectType type;
    if (!reader.begin_object(type, "a segment"))
      continue;
    Address at = reader.quad("a segment");
    const Address end = reader.quad("a segment");
    Address ends[5] = {};
    for (int generation = 0; generation < (type.version >= 1 ? 5 : 4); ++generation)
      ends[generation] = reader.quad("a segment");
    for (int generation = 4; generation >= 0; --generation)
      if (const Address to = std::min(ends[generation], end); to > at) {
        segments_.push_back({at, to, generation});
        at = to;
      }
    reader.end_object("a segment");
  }
  reader.end_object("the segments");
}

Address GcDumpFile::address(u64 node) const { return load<u64>(addresses_.data() + node * 8, ByteOrder::little); }

GcDumpFile::Node GcDumpFile::read(u64 number) const {
  Node out;
  read(number, out);
  return out;
}

u64 GcDumpFile::read(u64 number, Node &node) const {
  node = Node{.children = std::move(node.children)};
  node.children.clear();
  const u64 start = load<u32>(places_.data() + number * 4, ByteOrder::little);
  u64 at = start;
  i64 word = 0, children = 0, size = 0;
  if (!read_number(blob_, at, word) || word < 0 || static_cast<u64>(word) / 2 >= types_.size())
    return 0;
  node.type = static_cast<u32>(word / 2);
  node.size = types_[node.type].size;
  if (word % 2) {
    if (!read_number(blob_, at, size) || size < 0)
      return 0;
    node.size = static_cast<u64>(size);
  }
  if (!read_number(blob_, at, children) || children < 0)
    return at - start;
  for (; children; --children) {
    i64 distance = 0;
    if (!read_number(blob_, at, distance))
      return at - start;
    const i64 child = static_cast<i64>(number) + distance;
    if (child >= 0 && static_cast<u64>(child) < nodes())
      node.children.push_back(static_cast<u32>(child));
  }
  node.is_sound = true;
  return at - start;
}

GcDumpFile::Check GcDumpFile::check(unsigned threads, const Watch &watch) const {
  constexpr u64 part = 1 << 16;
  Timer timer(watch, "check nodes", blob_.size());
  std::vector<Check> found(std::max(threads, 1u));
  std::atomic<u64> bytes = 0;
  parallel_for_parts(nodes(), part, threads, [&](u64 first, u64 last, unsigned worker) {
    watch.check();
    Check &to = found[worker];
    Node node;
    for (u64 number = first; number < last; ++number) {
      const u64 length = read(number, node);
      if (is_undefined(node)) {
        to.undefined += address(number) != 0;
        continue;
      }
      to.damaged += !node.is_sound;
      to.objects += address(number) != 0;
      to.references += node.children.size();
      if (bytes.fetch_add(length, std::memory_order_relaxed) + length > blob_.size())
        throw Error("the .gcdump is damaged: its nodes overlap");
    }
    if (watch.progress)
      watch.progress->done.store(bytes.load());
  });
  Check out;
  for (const Check &one : found) {
    out.objects += one.objects;
    out.references += one.references;
    out.damaged += one.damaged;
    out.undefined += one.undefined;
  }
  return out;
}

void GcDumpFile::for_each(u64 first, u64 last, const Visit &visit) const {
  Node node;
  std::vector<Address> references;
  for (u64 number = first; number < last; ++number) {
    const Address here = address(number);
    if (!here)
      continue;
    read(number, node);
    if (is_undefined(node))
      continue;
    references.clear();
    for (u32 child : node.children)
      if (const Address to = address(child))
        references.push_back(to);
    visit({here, node.type, node.size, references});
  }
}

} // namespace dnheap

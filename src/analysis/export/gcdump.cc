// gcdump: the format of PerfView and Visual Studio: a graph in the layout of their FastSerialization, little endian,
// byte for byte as they write it. Nodes are numbered, and the file has the position of each: so objects are read three
// times, for the sums, for the positions and for the nodes themselves, and no reference is kept.
// A type is stored as its name, size (-1: no instance) and module; a node as type × 2, or as type × 2 + 1 and the
// node's own size, then the number of its children, and each of these as child − node.
#include "analysis/export/exporter.h"
#include "analysis/export/held_roots.h"
#include "analysis/export/object_stream.h"
#include "base/text.h"
#include "base/utf8.h"

#include <atomic>
#include <bit>

namespace dnheap {

namespace {

constexpr i64 largest = 0x7fffffff; // sizes and positions have 31 bits in the format

enum Tag : u8 { tag_null = 1, tag_again = 2, tag_begin = 4, tag_end = 6, tag_byte = 8, tag_skip = 12, tag_text = 13 };

void put(std::string &out, u64 value, u64 size) {
  for (u64 i = 0; i < size; ++i)
    out += static_cast<char>(value >> 8 * i);
}

// Appends a signed number in groups of seven bits, the highest first.
void put_number(std::string &out, i64 value) {
  int groups = 1;
  while (groups < 5 && (value < -(i64{1} << (7 * groups - 1)) || value >= i64{1} << (7 * groups - 1)))
    ++groups;
  for (int i = groups - 1; i >= 0; --i)
    out += static_cast<char>((value >> 7 * i & 0x7f) | (i ? 0x80 : 0));
}

// Appends the number of UTF-16 units, then each unit as if it were a character of its own.
void put_text(std::string &out, std::string_view text) {
  std::string units;
  u64 count = 0;
  auto unit = [&](u32 one) {
    ++count;
    if (one < 0x80)
      units += static_cast<char>(one);
    else if (one < 0x800)
      (units += static_cast<char>(0xc0 | one >> 6)) += static_cast<char>(0x80 | (one & 0x3f));
    else
      ((units += static_cast<char>(0xe0 | one >> 12)) += static_cast<char>(0x80 | (one >> 6 & 0x3f))) +=
          static_cast<char>(0x80 | (one & 0x3f));
  };
  while (!text.empty()) {
    const u64 length = utf8_length(text);
    u32 character = length == 1 ? static_cast<u8>(text[0])
                    : length    ? static_cast<u8>(text[0]) & (0x7f >> length)
                                : 0xfffd;
    for (u64 i = 1; i < length; ++i)
      character = character << 6 | (static_cast<u8>(text[i]) & 0x3f);
    if (character >= 0x10000) {
      unit(0xd800 + ((character - 0x10000) >> 10));
      unit(0xdc00 + ((character - 0x10000) & 0x3ff));
    } else {
      unit(character);
    }
    text.remove_prefix(std::max<u64>(length, 1));
  }
  put(out, count, 4);
  out += units;
}

void put_type(std::string &out, std::string_view name, u32 version, u32 least) {
  ((out += tag_begin) += tag_begin) += tag_null;
  put(out, version, 4);
  put(out, least, 4);
  put_text(out, name);
  out += tag_end;
}

// One of the nodes that precede the nodes of objects.
struct Grouping {
  std::string name;
  std::vector<i64> children; // numbers of nodes
};

class GraphFile {
public:
  GraphFile(const ExportJob &job, NewFile &file)
      : job_(job), snapshot_(job.snapshot), file_(file), stream_(snapshot_), roots_(snapshot_),
        names_(exported_type_names(snapshot_)) {
    group();
    const TypeSystem &system = snapshot_.runtime().types();
    const HeapTypes &types = snapshot_.references().types();
    for (u32 i = 0; i < types.size(); ++i) {
      const std::optional<ObjectLayout> layout = system.object_layout(types[TypeId{i}].method_table);
      sizes_.push_back(
          layout ? static_cast<i64>(align_up(layout->base_size, snapshot_.references().format().pointer_size)) : 0);
    }
    sizes_.push_back(0);
  }

  Exported write() {
    count();
    write_head();
    write_places();
    write_nodes();
    write_addresses();
    write_rest();
    Exported out;
    out.objects = snapshot_.index().count();
    out.bytes = bytes_;
    out.references = references_;
    out.types = names_.size() - 1;
    out.roots = roots_.roots();
    out.unreachable = unreachable_;
    if (clamped_)
      out.notes.add("the file gives " + count_text(clamped_) + (clamped_ == 1 ? " object" : " objects") +
                    " of 2 GiB or more the size 2 GiB - 1, as the format keeps sizes in 31 bits");
    if (!roots_.problem().empty())
      out.notes.add(roots_.problem());
    return out;
  }

private:
  // Returns the names that PerfView uses.
  static std::string kind_name(const HeldRoots::Kind &kind) {
    switch (kind.owners.front().kind) {
    case RootKind::static_field: return "[static vars]";
    case RootKind::thread_static: return "[thread static vars]";
    case RootKind::stack: return "[local vars]";
    case RootKind::stack_conservative: return "[local vars (may be chance)]";
    case RootKind::handle: return "[GC handles]";
    case RootKind::finalizer: return "[finalizer Handles]";
    case RootKind::com: return "[COM/WinRT Objects]";
    }
    return "[other roots]";
  }
  static std::string owner_name(const std::string &name) {
    for (const auto &[before, after] :
         {std::pair("static ", "static var "), std::pair("thread_static ", "thread static var ")})
      if (name.starts_with(before))
        return "[" + std::string(after) + name.substr(std::string_view(before).size()) + "]";
    return "[" + name + "]";
  }

  // Makes the nodes before the objects: node 0 is the root, then come kinds of roots, then their owners.
  void group() {
    groups_.push_back({"[.NET Roots]", {}});
    for (const HeldRoots::Kind &kind : roots_.kinds()) {
      groups_[0].children.push_back(static_cast<i64>(groups_.size()));
      groups_.push_back({kind_name(kind), {}});
    }
    u64 number = 1;
    const u64 first_object = groups_.size() + roots_.owners();
    for (const HeldRoots::Kind &kind : roots_.kinds()) {
      for (const HeldRoots::Owner &owner : kind.owners) {
        groups_[number].children.push_back(static_cast<i64>(groups_.size()));
        groups_.push_back({owner_name(owner.name), {}});
        for (const HeldRoots::Held &held : owner.objects)
          groups_.back().children.push_back(static_cast<i64>(first_object + static_cast<u32>(held.object)));
      }
      ++number;
    }
  }

  i64 node_of(ObjectId object) const { return static_cast<i64>(groups_.size() + static_cast<u32>(object)); }

  void put_group(std::string &out, u64 node) const {
    put_number(out, static_cast<i64>((1 + node) << 1)); // each has a type of its own, after UNDEFINED
    put_number(out, static_cast<i64>(groups_[node].children.size()));
    for (i64 child : groups_[node].children)
      put_number(out, child - static_cast<i64>(node));
  }

  // Appends a node without its children.
  void put_front(std::string &out, const ObjectStream::Item &item, u64 degree) const {
    const u64 type = item.object.type ? static_cast<u32>(item.object.id) : names_.size() - 1;
    const i64 size = std::min(static_cast<i64>(item.aligned_bytes), largest);
    const bool differs = size != sizes_[type];
    put_number(out, static_cast<i64>((1 + groups_.size() + type) << 1 | differs));
    if (differs)
      put_number(out, size);
    put_number(out, static_cast<i64>(degree));
  }

  struct Length {
    u64 bytes = 0, degree = 0;
  };
  Length length_of(const ObjectStream::Item &item) const {
    Length out;
    std::string text; // short, so it allocates nothing
    const i64 here = node_of(item.id);
    stream_.for_each_reference(item, [&](const ObjectStream::Reference &reference) {
      text.clear();
      put_number(text, node_of(reference.target) - here);
      out.bytes += text.size();
      ++out.degree;
    });
    text.clear();
    put_front(text, item, out.degree);
    out.bytes += text.size();
    return out;
  }

  void count() {
    std::string front(2, '\0'); // UNDEFINED
    for (u64 node = 0; node < groups_.size(); ++node) {
      group_places_.push_back(front.size());
      put_group(front, node);
    }
    front_ = std::move(front);
    std::atomic<u64> references{0}, unreachable{0}, bytes{0}, clamped{0};
    before_.assign(stream_.blocks() + 1, 0);
    stream_.look("count references", [&](const ObjectStream::Item &item, u64 block) {
      const Length length = length_of(item);
      before_[block + 1] += length.bytes;
      references.fetch_add(length.degree, std::memory_order_relaxed);
      unreachable.fetch_add(roots_.is_unreachable(item.address), std::memory_order_relaxed);
      bytes.fetch_add(item.aligned_bytes, std::memory_order_relaxed);
      clamped.fetch_add(static_cast<i64>(item.aligned_bytes) > largest, std::memory_order_relaxed);
    });
    before_[0] = front_.size();
    for (u64 i = 0; i < stream_.blocks(); ++i)
      before_[i + 1] += before_[i];
    references_ = references, unreachable_ = unreachable, bytes_ = bytes, clamped_ = clamped;
    const u64 nodes = groups_.size() + snapshot_.index().count();
    // Positions in the file have 32 bits, those in the graph 31.
    if (before_.back() > static_cast<u64>(largest) || nodes > static_cast<u64>(largest) ||
        before_.back() + nodes * 12 + (u64{1} << 28) > ~u32{0})
      throw Error("a .gcdump cannot hold so many objects and references: " + count_text(nodes) + " and " +
                  count_text(references_) +
                  " need more than 2 GiB of graph or 4 GiB of file; --as heapsnapshot, ndjson or "
                  "sqlite can");
  }

  void write_head() {
    FileText out(file_);
    std::string &text = out.text;
    put_text(text, "!FastSerialization.1");
    put_type(text, "GCHeapDump", 10, 8);
    put_type(text, "Graphs.MemoryGraph", 1, 0);
    put(text, bytes_, 8);
    put(text, 0, 4); // the root's node
    put(text, 1 + groups_.size() + names_.size(), 4);
    auto add_type = [&](std::string_view name, i64 size, const std::string &module) {
      put_text(text, name);
      put(text, static_cast<u64>(size), 4);
      module.empty() ? put(text, ~u64{0}, 4) : put_text(text, module);
      out.flush_if_large();
    };
    add_type("UNDEFINED", 0, "");
    for (const Grouping &group : groups_)
      add_type(group.name, 0, "");
    const HeapTypes &types = snapshot_.references().types();
    for (u32 i = 0; i < names_.size(); ++i)
      add_type(names_[i], std::min(sizes_[i], largest),
               i < types.size() ? snapshot_.runtime().types().assembly(types[TypeId{i}].method_table) : "");
    put(text, groups_.size() + snapshot_.index().count(), 4);
    for (u64 place : group_places_)
      put(text, place, 4);
    out.flush();
  }

  void write_places() {
    std::vector<u64> next = before_;
    stream_.write(file_, "places", [&](FileText &to, const ObjectStream::Item &item, u64 block) {
      put(to.text, next[block], 4);
      next[block] += length_of(item).bytes;
    });
  }

  void write_nodes() {
    FileText out(file_);
    put(out.text, before_.back(), 4);
    out.text += front_;
    out.flush();
    stream_.write(file_, "nodes", [&](FileText &to, const ObjectStream::Item &item, u64) {
      put_front(to.text, item, length_of(item).degree);
      const i64 here = node_of(item.id);
      stream_.for_each_reference(item, [&](const ObjectStream::Reference &reference) {
        put_number(to.text, node_of(reference.target) - here);
        to.flush_if_large();
      });
    });
  }

  void write_addresses() {
    FileText out(file_);
    put(out.text, groups_.size() + snapshot_.index().count(), 4);
    for (u64 i = 0; i < groups_.size(); ++i) {
      put(out.text, 0, 8);
      out.flush_if_large();
    }
    out.flush();
    stream_.write(file_, "addresses",
                  [&](FileText &to, const ObjectStream::Item &item, u64) { put(to.text, item.address, 8); });
  }

  // Appends the heap's segments. In the format a segment has an address for each generation, but here it is of one
  // generation: younger generations get its end, the others its start.
  void put_segments(std::string &text, u64 text_begins_at) {
    const std::span<const HeapSegment> segments = snapshot_.heap().segments();
    put(text, segments.size(), 4);
    std::optional<u64> type_at;
    for (const HeapSegment &segment : segments) {
      if (!type_at) {
        type_at = text_begins_at + text.size() + 1;
        put_type(text, "GCHeapDumpSegment", 1, 1);
      } else {
        (text += tag_begin) += tag_again;
        put(text, *type_at, 4);
      }
      put(text, segment.start, 8);
      put(text, segment.end, 8);
      const u32 generation =
          segment.generation == GCSegmentGeneration::frozen ? 2 : static_cast<u32>(segment.generation);
      for (u32 i = 0; i < 5; ++i)
        put(text, i <= generation ? segment.end : segment.start, 8);
      text += tag_end;
    }
  }

  // Returns the program's name without its arguments, which may be secrets.
  static std::string_view program_name(std::string_view command) {
    command = command.substr(0, command.find(' '));
    return command.substr(command.find_last_of("/\\") + 1);
  }

  std::string log() const {
    const report::Completeness &walk = job_.completeness;
    std::string out = std::string("dnheap: ") + (walk.complete() ? "complete\n" : "incomplete\n");
    for (const auto &gap : walk.gaps)
      out += "not walked: " + hex(gap.start) + "-" + hex(gap.end) + ": " + gap.reason + "\n";
    for (const Note &note : walk.notes)
      out += "note: " + note.sentence() + "\n";
    return out;
  }

  void write_rest() {
    constexpr u64 ticks_of_1970 = 621355968000000000, ticks_per_second = 10000000;
    const Target &target = snapshot_.target();
    const bool is64 = target.format().pointer_size == 8;
    FileText out(file_);
    std::string &text = out.text;
    text += tag_byte;
    text += static_cast<char>(is64);
    text += tag_end; // of the graph
    text += static_cast<char>(is64);
    for (int i = 0; i < 2; ++i) // averages for sampled graphs: one object stands for one
      put(text, std::bit_cast<u32>(1.0F), 4);
    text += tag_null; // no JavaScript
    put_type(text, "DotNetHeapInfo", 0, 0);
    put(text, snapshot_.heap().segment_bytes(), 8);
    put_segments(text, file_.size());
    text += tag_end;
    put_text(text, log());
    put(text, target.taken ? ticks_of_1970 + target.taken->seconds * ticks_per_second : 0, 8);
    put_text(text, "");
    put_text(text, program_name(target.program));
    put(text, target.pid, 4);
    put(text, 0, 8); // committed bytes, working set: not given
    put(text, 0, 8);
    put(text, 0, 4); // no multipliers per type
    text += tag_skip;
    put(text, 0, 4);
    text += tag_null; // no COM data
    const u64 behind_skip = file_.size() + text.size();
    text += tag_text;
    put_text(text, "dnheap");
    ((text += tag_end)) += tag_end;
    const u64 forward = file_.size() + text.size();
    put(text, 1, 4);
    put(text, behind_skip, 4);
    const u64 end = file_.size() + text.size();
    put(text, forward, 4);
    put(text, end, 4);
    out.flush();
  }

  const ExportJob &job_;
  const Snapshot &snapshot_;
  NewFile &file_;
  ObjectStream stream_;
  const HeldRoots roots_;
  const std::vector<std::string> names_;
  std::vector<i64> sizes_; // by type: the usual size of its objects
  std::vector<Grouping> groups_;
  std::vector<u64> group_places_;
  std::string front_;       // the graph's data up to the first object
  std::vector<u64> before_; // for each block the position of its first node
  u64 references_ = 0, unreachable_ = 0, bytes_ = 0, clamped_ = 0;
};

} // namespace

Exported export_gcdump(const ExportJob &job, NewFile &file) { return GraphFile(job, file).write(); }

} // namespace dnheap

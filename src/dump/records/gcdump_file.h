// GcDumpFile: a .gcdump, as dotnet-gcdump, PerfView, Visual Studio and dnheap write it: a graph of nodes with their
// types, sizes and children, in the format of FastSerialization, little endian. Nodes with an address are objects; the
// others group roots. Points into the file; only types are copied. Nodes are decoded at each visit. Source: PerfView's
// src/FastSerialization, src/MemoryGraph, src/HeapDump.
#pragma once
#include "base/bytes.h"
#include "base/watch.h"
#include "dump/records/listed_objects.h"
#include "target/heap_record.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

class GcDumpReader;

class GcDumpFile : public ListedObjects {
public:
  struct Type {
    std::string name, module;
    u64 size = 0;
  };
  struct Node {
    u32 type = 0;
    u64 size = 0;
    std::vector<u32> children; // those that exist
    bool is_sound = false;     // false: it ends outside of the graph, or its type is unknown; the rest is what was read
  };

  // True if the file begins as all of them do.
  static bool is_one(Bytes file);
  // Throws Error if the graph cannot be read. What comes after the graph may be missing.
  explicit GcDumpFile(Bytes file);

  const std::vector<Type> &types() const { return types_; }
  bool is_64_bit() const { return is_64_bit_; }
  u64 nodes() const { return places_.size() / 4; }
  u64 root() const { return root_; }
  const std::string &tool() const { return tool_; }       // "dotnet-gcdump"; empty: not stated
  const std::string &process() const { return process_; } // empty: not stated
  u64 pid() const { return pid_; }                        // 0: not stated
  std::optional<u64> seconds() const { return seconds_; } // since 1970
  // The file holds one of so many objects; 1: all.
  float sampling() const { return sampling_; }
  const std::vector<HeapRecord::Segment> &segments() const { return segments_; }
  // Empty, or why the part after the graph is unknown.
  const std::string &problem() const { return problem_; }

  // 0: the node is no object. `node` must be below nodes().
  Address address(u64 node) const;
  Node read(u64 node) const;
  // True if the node is named by others, but was never described.
  bool is_undefined(const Node &node) const { return node.type == 0 && types_[0].name == "UNDEFINED"; }

  // What the nodes lack.
  struct Check {
    u64 objects = 0, references = 0;
    u64 damaged = 0;   // nodes that are not sound
    u64 undefined = 0; // objects that others refer to, but that are not described
  };
  // Reads all nodes once. Throws Error if nodes share their bytes: a small file could make billions of references so.
  Check check(unsigned threads, const Watch &watch) const;

  u64 entries() const override { return nodes(); }
  void for_each(u64 first, u64 last, const Visit &visit) const override;

private:
  u64 read(u64 number, Node &node) const; // returns how many bytes it takes
  void read_graph(GcDumpReader &reader, bool has_deferred_types);
  void read_rest(GcDumpReader &reader);
  void read_segments(GcDumpReader &reader);

  std::vector<Type> types_;
  Bytes places_, blob_, addresses_;
  u64 root_ = 0;
  bool is_64_bit_ = true;
  std::string tool_, process_, problem_;
  u64 pid_ = 0;
  std::optional<u64> seconds_;
  float sampling_ = 1;
  std::vector<HeapRecord::Segment> segments_;
};

} // namespace dnheap

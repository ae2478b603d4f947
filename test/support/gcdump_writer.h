// Writes .gcdump files for tests, as dotnet-gcdump lays them out: fill the struct, call write(). Node 0 is the root.
// Source: PerfView's src/FastSerialization, src/MemoryGraph and src/HeapDump.
#pragma once
#include "base/bytes.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap::test {

struct GcDumpWriter {
  struct Type {
    std::string name = {};
    i32 size = 0; // -1: no instance
    std::string module = {};
  };
  struct Node {
    u32 type = 0;
    u64 size = 0;
    Address address = 0; // 0: a group of roots
    std::vector<u32> children = {};
  };
  struct Segment {
    Address start = 0, end = 0;
    Address ends[5] = {}; // of generations
  };

  bool is_64_bit = true;
  std::vector<Type> types = {{"UNDEFINED", 0, ""}};
  std::vector<Node> nodes = {};
  std::vector<Segment> segments = {};
  bool has_heap_info = false; // segments or none
  float sampling = 1;
  u32 version = 10;
  i64 ticks = 0; // of .NET
  std::string process = {}, tool = "dotnet-gcdump";
  u32 pid = 0;
  bool has_interop = false; // a region to be skipped

  u32 add_type(const std::string &name, i32 size = -1, const std::string &module = "");
  u32 add_node(u32 type, u64 size, Address address, std::vector<u32> children = {});
  // A node without address; its type is its name.
  u32 add_group(const std::string &name, std::vector<u32> children = {});
  std::vector<std::byte> write() const;
};

} // namespace dnheap::test

// HeapRecord: names of types, roots and segments from a listing of a heap (a .gcdump, events of the GC). The objects
// themselves become memory of the target. The listing has no contents: of each object only its type, size and
// references are known. Plain data, filled by dump/records, read by runtime/recorded.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dnheap {

struct HeapRecord {
  struct Type {
    std::string name, assembly; // empty: unknown
    u32 base_size = 0, component_size = 0;
    bool has_references = false;
  };

  // What keeps an object alive, in the words of the listing.
  enum class RootKind : u8 {
    strong_handle,
    pinned_handle,
    async_pinned_handle,
    ref_counted_handle,
    dependent_handle,
    finalizer,
    static_field,
    thread_static,
    com,
    stack,
    conservative_stack, // perhaps no reference
  };
  struct Root {
    Address object = 0;
    RootKind kind = RootKind::strong_handle;
    u32 name = 0;   // index into `names`; 0: none
    u64 thread = 0; // the operating system's number; 0: unknown
  };

  struct Segment {
    Address start = 0, end = 0;
    int generation = 2; // 0, 1, 2, 3: large objects, 4: pinned objects
  };

  std::string source; // "a .gcdump of dotnet-gcdump": for messages
  // Type i's MethodTable is first_type + i * type_stride; type 0 fills the room between objects.
  Address first_type = 0;
  u64 type_stride = 0;
  std::vector<Type> types;
  std::vector<std::string> names = {""};
  std::vector<Root> roots;
  std::vector<Segment> segments; // by address; each begins with an object, and ends where one ends
  bool has_generations = false;  // false: the listing says nothing about generations
  // References that an object has beyond those for which it has room: (object, target).
  std::vector<std::pair<Address, Address>> hidden;
  // How long the process stood still for the listing; nullopt: it did not, or nothing is known.
  std::optional<double> paused_seconds = {};

  // Returns the number of the type with that MethodTable; types.size() if there is none.
  u64 type_at(Address method_table) const {
    const u64 offset = method_table - first_type;
    return method_table < first_type || type_stride == 0 || offset % type_stride ? types.size() : offset / type_stride;
  }
};

} // namespace dnheap

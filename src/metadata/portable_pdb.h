// PortablePdb: which line of which source file the IL of a method comes from, as compilers write it into a .pdb, and
// where an asynchronous method's awaits stand in it, and what its variables are called. Read in place from bytes that
// are not trusted, which must outlive this; what does not fit is nullopt or empty. A line costs one pass over a
// method's sequence points, some dozens. All functions from any thread. Format: dotnet/runtime
// docs/design/specs/PortablePdb-Metadata.md.
#pragma once
#include "metadata/ecma335.h"

#include <string>

namespace dnheap {

struct SourcePoint {
  u32 document = 0, line = 0;
  bool operator==(const SourcePoint &) const = default;
};

class PortablePdb {
public:
  // Nullopt: it is none.
  static std::optional<PortablePdb> parse(Bytes file);

  Bytes id() const { return metadata_.pdb_id(); }
  // The last visible one at or before that offset. `method`: its row in the module's metadata.
  std::optional<SourcePoint> find(u32 method, u32 il_offset) const;
  std::string document(u32 number) const; // its path, as the compiler was told; empty: it has none
  // Of the method that goes on after an await (MoveNext): the IL offsets at which it is left, in the order of awaits.
  std::vector<u32> awaits(u32 method) const;

  // Of the method's local variable with that number, the name that it has at that offset; empty: none.
  std::string local(u32 method, u32 number, u32 il_offset) const;

private:
  explicit PortablePdb(Metadata metadata) : metadata_(std::move(metadata)) {}

  Metadata metadata_;
};

} // namespace dnheap

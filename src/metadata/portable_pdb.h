// PortablePdb: reads a .pdb: source lines of a method's IL, positions of an asynchronous method's awaits, and names of
// local variables. Read in place from untrusted bytes, which must outlive this object; anything invalid is nullopt or
// empty. A line costs one pass over a method's sequence points, some dozens. All functions from any thread. Format:
// dotnet/runtime docs/design/specs/PortablePdb-Metadata.md.
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
  // Nullopt: not a portable PDB.
  static std::optional<PortablePdb> parse(Bytes file);

  Bytes id() const { return metadata_.pdb_id(); }
  // Returns the last visible sequence point at or before that offset. `method`: its row in the module's metadata.
  std::optional<SourcePoint> find(u32 method, u32 il_offset) const;
  std::string document(u32 number) const; // the path given to the compiler; empty: none
  // Takes the method that resumes after an await (MoveNext). Returns the IL offsets at which the method is suspended,
  // in the order of its awaits.
  std::vector<u32> awaits(u32 method) const;

  // Returns the name of the method's local variable with that number at that offset; empty: none.
  std::string local(u32 method, u32 number, u32 il_offset) const;

private:
  explicit PortablePdb(Metadata metadata) : metadata_(std::move(metadata)) {}

  Metadata metadata_;
};

} // namespace dnheap

// RUNTIME_FUNCTION: a range of code that is unwound by one UNWIND_INFO; all addresses in it are relative to the image's
// base. On x64 {u32 begin, u32 end, u32 unwind data}, on others {u32 begin, u32 unwind data}, with the length in the
// unwind data; on x86 the unwind data is only the length. Reads a few words each; any thread. Format: Windows' PE
// format (.pdata, .xdata), which the runtime uses on every system.
#pragma once
#include "target/target.h"

#include <optional>

namespace dnheap {

struct RuntimeFunction {
  u32 begin = 0, unwind_data = 0;
};

class RuntimeFunctions {
public:
  // `count` of them, one after another, from `table` on.
  RuntimeFunctions(const Target &target, Address table, u32 count)
      : memory_(&target.memory), has_end_(target.architecture == Architecture::x64),
        is_x86_(target.architecture == Architecture::x86), table_(table), count_(count) {}

  u32 count() const { return count_; }
  // These throw Error if the data is not in the dump.
  u32 begin(u32 index) const;
  RuntimeFunction at(u32 index) const;
  // Returns the number of bytes of code.
  u64 length(u32 index, Address image_base) const;
  // Returns the size of the UNWIND_INFO that lies there; the method's GC info follows it in ReadyToRun images.
  u64 unwind_info_size(Address unwind_info) const;
  u64 size() const { return has_end_ ? 12 : 8; }

private:
  const Memory *memory_;
  bool has_end_, is_x86_;
  Address table_;
  u32 count_;
};

} // namespace dnheap

// EhFrame: where a mapped ELF module lists its functions, each with how to leave it: .eh_frame, by way of the sorted
// table in .eh_frame_hdr. Opening it reads the image's headers and a dozen bytes more; a look-up some 20 entries and
// the function's two records. Any thread. Format: Linux Standard Base, "Exception Frames"; DWARF 5, 6.4.
#pragma once
#include "runtime/compiled/frame_records.h"
#include "runtime/compiled/read_outcome.h"
#include "target/memory.h"

#include <optional>

namespace dnheap {

class EhFrame {
public:
  // Of the ELF image whose header lies at `base`. Anything but done: it has none that can be looked up, or the dump
  // lacks that, and then `to` is as it was.
  static ReadOutcome open(const Memory &memory, Address base, std::optional<EhFrame> &to);

  // The function that holds an address.
  ReadOutcome find(Address address, FunctionFrame &to) const;

private:
  struct Record;
  EhFrame(const Memory &memory) : memory_(&memory) {}
  ReadOutcome record(Address address, Record &to) const;

  const Memory *memory_;
  Address base_ = 0, end_ = 0; // of the image
  Address header_ = 0;         // .eh_frame_hdr: what its table is relative to
  Address table_ = 0;
  u64 count_ = 0;
};

} // namespace dnheap

// EhFrame: the functions of a mapped ELF module, each with its unwind rules: .eh_frame, by way of the sorted table in
// .eh_frame_hdr. Opening it reads the image's headers and a dozen bytes more; a look-up some 20 entries and the
// function's two records. Any thread. Format: Linux Standard Base, "Exception Frames"; DWARF 5, 6.4.
#pragma once
#include "runtime/compiled/frame_records.h"
#include "runtime/compiled/read_outcome.h"
#include "target/memory.h"

#include <optional>

namespace dnheap {

class EhFrame {
public:
  // Opens the ELF image whose header lies at `base`. Any outcome but done: it has no such table, or the table is not in
  // the dump; `to` is unchanged.
  static ReadOutcome open(const Memory &memory, Address base, std::optional<EhFrame> &to);

  // Finds the function that contains an address.
  ReadOutcome find(Address address, FunctionFrame &to) const;

private:
  struct Record;
  EhFrame(const Memory &memory) : memory_(&memory) {}
  ReadOutcome record(Address address, Record &to) const;

  const Memory *memory_;
  Address base_ = 0, end_ = 0; // of the image
  Address header_ = 0;         // .eh_frame_hdr: the base of its table's addresses
  Address table_ = 0;
  u64 count_ = 0;
};

} // namespace dnheap

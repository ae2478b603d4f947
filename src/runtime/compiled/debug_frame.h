// DebugFrame: finds unwind rules as EhFrame does, but in .debug_frame of a debug file: for functions whose module has
// no unwind data for them. The first look-up reads the section once and keeps 24 bytes per function, so not from
// several threads at once. Format: DWARF 5, 6.4.1.
#pragma once
#include "runtime/compiled/frame_records.h"

#include <optional>
#include <vector>

namespace dnheap {

class DebugFrame {
public:
  DebugFrame() = default; // has no functions
  // `bias` is added to the file's addresses to get those in the process. `storage` keeps the bytes alive.
  DebugFrame(Bytes section, u64 bias, Format format, std::shared_ptr<const void> storage)
      : section_(section), bias_(bias), format_(format), storage_(std::move(storage)) {}

  bool empty() const { return section_.empty(); }
  // Returns the function that contains an address; its rules are for addresses in the process.
  std::optional<FunctionFrame> find(Address address) const;

private:
  struct Entry {
    Address start = 0, end = 0; // in the file
    u64 at = 0;                 // offset of the record's content in the section
  };
  void read() const;
  std::optional<FunctionFrame> function_at(u64 at) const;

  Bytes section_;
  u64 bias_ = 0;
  Format format_;
  std::shared_ptr<const void> storage_;
  mutable bool is_read_ = false;
  mutable std::vector<Entry> entries_; // by start
};

} // namespace dnheap

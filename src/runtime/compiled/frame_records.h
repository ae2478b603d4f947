// The two DWARF records with a function's unwind rules: the part that several functions share (CIE) and its own part
// (FDE), as in .eh_frame and .debug_frame. Plain parsing of bytes; returns false for malformed ones. Any thread. Names
// and formats: call_frame.h, eh_frame.h.
#pragma once
#include "runtime/compiled/frame_bytes.h"

#include <memory>

namespace dnheap {

// A function, from its two records.
struct FunctionFrame {
  Address start = 0, end = 0;
  u64 code_alignment = 1;
  i64 data_alignment = 1;
  u64 return_register = 0; // by DWARF's numbers
  // Nobody called this function: it is the return point of a signal handler, and the next frame was interrupted at its
  // ip.
  bool is_signal = false;
  Bytes shared, own;                      // call frame instructions of the two, to be executed in this order
  std::shared_ptr<const void> storage[2]; // keeps these alive
};

// Data in a CIE for the FDEs that share it, beyond its instructions.
struct SharedFrame {
  u8 pointers = 0; // encoding of the FDEs' addresses: DW_EH_PE_*
  bool has_augmentation = false;
};

// `from` begins after the record's length and id. Results go to `to`.
bool read_shared_frame(FrameBytes from, SharedFrame &shared, FunctionFrame &to);
bool read_own_frame(FrameBytes from, const SharedFrame &shared, FunctionFrame &to);

} // namespace dnheap

// The two records of DWARF that tell how a function is left: what several functions share (CIE) and what is its own
// (FDE), as .eh_frame and .debug_frame have them. Plain parsing of bytes; what does not fit is false. Any thread. Names
// and formats: call_frame.h, eh_frame.h.
#pragma once
#include "runtime/compiled/frame_bytes.h"

#include <memory>

namespace dnheap {

// A function as its records tell it.
struct FunctionFrame {
  Address start = 0, end = 0;
  u64 code_alignment = 1;
  i64 data_alignment = 1;
  u64 return_register = 0; // by DWARF's numbers
  // Nobody called it: it is where a signal's handler returns to, and what it leaves stands at its ip.
  bool is_signal = false;
  Bytes shared, own;                      // call frame instructions of the two, carried out in this order
  std::shared_ptr<const void> storage[2]; // keeps these alive
};

// What a CIE says of the FDEs that share it, beyond its instructions.
struct SharedFrame {
  u8 pointers = 0; // how they have addresses: DW_EH_PE_*
  bool has_augmentation = false;
};

// `from`: behind the record's length and identification. What is told goes to `to`.
bool read_shared_frame(FrameBytes from, SharedFrame &shared, FunctionFrame &to);
bool read_own_frame(FrameBytes from, const SharedFrame &shared, FunctionFrame &to);

} // namespace dnheap

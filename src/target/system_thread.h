// SystemThread: the operating system's data on a thread of a running process. Plain data.
#pragma once
#include "base/integers.h"

#include <string>

namespace dnheap {

struct SystemThread {
  std::string name;       // at most 15 bytes; a program may have set it
  bool is_ready = false;  // on a processor, or ready for one
  bool is_halted = false; // the whole process was stopped by a signal, or by a debugger
  u64 ticks = 0;          // processor time so far, in hundredths of a second
};

} // namespace dnheap

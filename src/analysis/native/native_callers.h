// NativeCallers: the program's methods that get native memory: by Marshal or NativeMemory, or from a native function
// (P/Invoke) that returns a pointer and whose library is loaded; and the functions of such a library that free, but
// that no code calls which ran. Blocks of malloc do not record who asked for them, so this is where to look, and no
// proof. Costs a ProgramIl, and a look at its uses. Throws Error, Interrupted. Not for several threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <string>
#include <string_view>

namespace dnheap {

// " In the program, Shop.Resizer.Measure calls img_decode of libcodec.so, which returns a pointer; nothing that ran
// calls img_free." Empty: there are no such methods, or they are unknown.
std::string native_callers_text(const Snapshot &snapshot);

// " In the program, Shop.Tiles.Map calls mmap.": the callers of one native function. Empty: there are none.
std::string native_function_callers_text(const Snapshot &snapshot, std::string_view function);

} // namespace dnheap

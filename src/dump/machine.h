// What differs between processors, by their number in ELF headers: what they are called, and where Linux keeps a
// thread's general registers, in NT_PRSTATUS of a core and for whoever traces a process.
#pragma once
#include "target/target.h"

namespace dnheap {

Architecture architecture_of(u16 machine);
// 0: has none.
u16 machine_number(Architecture architecture);

// How many words the set of general registers has; nullopt: not known.
std::optional<u64> register_count(u16 machine, Format format);

// Leaves the thread as it is when the machine is not known; what `set` is too short for is left out.
void read_registers(Thread &thread, Bytes set, u16 machine, Format format);

} // namespace dnheap

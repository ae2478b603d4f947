// Differences between processors, by their number in ELF headers: their names, and the order in which Linux stores a
// thread's general registers, in NT_PRSTATUS of a core and for tracers.
#pragma once
#include "target/target.h"

namespace dnheap {

Architecture architecture_of(u16 machine);
// Returns 0 if there is none.
u16 machine_number(Architecture architecture);

// Returns how many words the set of general registers has; nullopt: unknown.
std::optional<u64> register_count(u16 machine, Format format);

// Does nothing if the machine is unknown. Leaves out registers for which `set` is too short.
void read_registers(Thread &thread, Bytes set, u16 machine, Format format);

} // namespace dnheap

// Names signals of Linux and exception codes of Windows and macOS: the reason that a dump's container gives for the end
// of a process. Pure; any thread.
#pragma once
#include "target/target.h"

#include <string>

namespace dnheap {

inline constexpr u32 sig_abort = 6, sig_fpe = 8, sig_segv = 11;
inline constexpr i32 code_of_kernel = 0x80; // SI_KERNEL
inline constexpr u32 windows_overflow = 0xc00000fd, dotnet_exception = 0xe0434352, code_of_fail_fast = 0x80131623,
                     code_of_fatal_error = 0x80131506;

// "SIGSEGV", "signal 64"
std::string signal_name(u32 number);
// "SIGSEGV (invalid address 0x10)", "access violation (0xc0000005, writing to 0x10)"
std::string signal_text(const CrashSignal &crash, OperatingSystem os);
// True if another process sent the signal. A process that sends one to itself ends itself.
bool is_sent_from_outside(const CrashSignal &crash, u64 pid);

} // namespace dnheap

// What systemd-coredump says of a process beside its core: in attributes of the file (user.coredump.*), which copying
// usually drops, or else in the file's name. A file's name and attributes are not trusted: texts are not printable yet,
// and numbers are checked. A few system calls; any thread.
#pragma once
#include "target/target.h"

namespace dnheap {

// Nullopt if the file is none that systemd-coredump has stored.
std::optional<CoreRecord> core_record(const std::string &path);
// "core.NAME.UID.BOOTID.PID.TIME[.zst]", as systemd-coredump calls its files; nullopt for other names.
std::optional<CoreRecord> core_record_of_name(std::string_view file_name);

// Puts the record into the target, and what the core itself lacks into the target's own fields: the time, the process's
// number, its name, the signal.
void add_core_record(Target &target, CoreRecord record);

} // namespace dnheap

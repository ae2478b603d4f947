// Finds the images of a process of macOS: in the container's own list (lldb's), else in the list of the dynamic linker
// (dyld_all_image_infos) in the process's memory, else by their headers. Reads the headers of all images; looking for
// headers also goes over the pages of code in the dump. For dump/macho_core.cc.
#pragma once
#include "dump/macho_core_notes.h"
#include "target/target.h"

namespace dnheap {

// Fills modules and program; memory and mappings must be there.
void find_macho_modules(const MachoCoreNotes &notes, Target &target);

} // namespace dnheap

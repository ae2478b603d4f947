// What identifies the build that a module or a file belongs to, as a text that is the same for both: "build id 0102…"
// (ELF, Mach-O), "image 5f…-1a000 01…" (PE: time stamp,
// size and the GUID of its .pdb), "pdb …" (portable). For snapshot/.
#pragma once
#include "target/target.h"

#include <string>
#include <vector>

namespace dnheap {

// Empty if the id is too short to identify a build.
std::string identity_of_build(const std::vector<u8> &id);
std::string identity_of_pdb(Bytes id);
// Returns what the target says of the module's file; empty: nothing.
std::string identity_of_module(const Target &target, const Module &module);
// Returns the builds in a file: several for a universal Mach-O file, none for a text. Reads headers only.
std::vector<std::string> identities_of_file(Bytes file);

} // namespace dnheap

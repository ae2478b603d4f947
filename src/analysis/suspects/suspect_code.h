// SuspectCode: the program's code behind what a suspect holds, by the IL: the methods that add to the collection, and
// those that remove from it (if none does, or none of these ran, that is said); else those that make the objects, or
// that ask the runtime to keep them. It is where to look, and no proof: what is passed to another method is not
// followed. Costs a ProgramIl, and some looks at its uses. Throws Error, Interrupted. Not for several threads at once.
#pragma once
#include "analysis/suspects/suspect.h"
#include "snapshot/snapshot.h"

#include <string>

namespace dnheap {

// "filled in Shop.Cache.Add; no method that uses the field removes from it"; "made in Shop.Meters..ctor". Empty:
// unknown.
std::string code_text(const Snapshot &snapshot, const Suspect &suspect);
// Returns the same for the first suspects, as many as a screen shows: each takes some looks at all of the IL.
std::vector<std::string> code_texts(const Snapshot &snapshot, const std::vector<Suspect> &suspects);

} // namespace dnheap

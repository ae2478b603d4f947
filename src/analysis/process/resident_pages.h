// ResidentPages: which pages of a process are, or were, in physical memory. For a live process the system says so while
// the process is suspended, so the question comes before all others; a dump is read completely. Throws Interrupted. Not
// for several threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <optional>
#include <utility>
#include <vector>

namespace dnheap {

// The resident pages: for a live process from the system; for a dump the non-zero ones, see written_pages.h.
struct ResidentPages {
  std::vector<std::pair<Address, Address>> pages; // [start, end), by address
  bool is_estimate = false;                       // true for a dump
};
// Reads a dump completely. Returns nullopt for an extracted core, which has too little of the memory for an answer.
std::optional<ResidentPages> resident_pages(const Snapshot &snapshot);

} // namespace dnheap

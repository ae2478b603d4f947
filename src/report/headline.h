// Headline: the first line of an answer as data: what was examined, and facts about it. The answer's notes and figures
// show how complete it is. Only headline_text() makes the sentence from all of these.
#pragma once
#include <string>

namespace dnheap::report {

struct Answer;

struct Headline {
  std::string what;                // "core.dmp: .NET 10.0.14 on linux x64, workstation GC, regions"
  bool shows_sum = false;          // objects and bytes of the heap
  bool shows_completeness = false; // "complete" or "INCOMPLETE: …"
  std::string place;               // "the heap is 1 GiB of 3 GiB in this dump"; empty: most of the dump is heap
  std::string facts;               // "; 14 threads live, paused 12 ms": what the verb found
};

// Returns the first line of text; empty if the answer has none.
std::string headline_text(const Answer &answer);

} // namespace dnheap::report

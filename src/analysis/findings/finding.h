// Finding: one thing that is wrong with a process, or may be: a sentence with its figures and its evidence, what to
// change or ask next, and how sure it is.
#pragma once
#include "analysis/waits/sureness.h"
#include "base/integers.h"

#include <string>

namespace dnheap {

// In the order in which people want to know.
enum class Harm : u8 {
  crash,    // ended the process
  hang,     // something does not go on
  memory,   // fills the memory
  resource, // things gather that should have been let go
  slow      // many wait at one place
};
const char *name_of(Harm harm);

struct Finding {
  std::string kind; // a word for scripts: "deadlock", "root_scope"
  Harm harm = Harm::memory;
  Sureness sureness = Sureness::probable;
  std::string text = {};    // one to three sentences
  u64 count = 0, bytes = 0; // 0: unknown, or not what matters
  Address example = 0;      // one of the objects; 0: none
  Address holder = 0;       // the object that holds all of them, if one does; 0: unknown
  // A verb that shows more, and its options after the target: {"inspect di"}, {"waste", " --live"}; empty: the path to
  // the first suspect.
  std::string verb = {}, options = {};
  bool is_cause = false; // it says why somebody holds much of live memory
};

// Returns the place of a finding in the order in which people want to know: it falls with importance.
u8 order_of(const Finding &finding);
// Findings of this order or more follow what is said of who holds most.
inline constexpr u8 order_behind_holder = 4;
// Memory that is harmless comes last: it explains much, and nobody has to act.
inline constexpr u8 order_of_harmless = 100;

} // namespace dnheap

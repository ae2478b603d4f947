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
  // A verb that shows more, and its options after the target: {"inspect di"}, {"waste", " --live"}; empty: the path to
  // the first suspect.
  std::string verb = {}, options = {};
};

} // namespace dnheap

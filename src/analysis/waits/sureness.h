// Sureness: how sure a statement about a process is. "certain": the runtime's own records say so; "probable": what
// refers to what says so; "possible": it may as well be otherwise.
#pragma once
#include "base/integers.h"

namespace dnheap {

enum class Sureness : u8 { certain, probable, possible };

constexpr const char *name_of(Sureness sureness) {
  constexpr const char *names[] = {"certain", "probable", "possible"};
  return names[static_cast<u8>(sureness)];
}

} // namespace dnheap

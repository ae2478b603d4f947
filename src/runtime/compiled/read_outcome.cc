#include "runtime/compiled/read_outcome.h"

#include "base/text.h"

namespace dnheap {

std::string ReadOutcome::text() const {
  switch (kind) {
  case Kind::done: return "";
  case Kind::missing: return "memory at " + hex(at) + " is not in this dump";
  case Kind::malformed: return what;
  }
  return "";
}

} // namespace dnheap

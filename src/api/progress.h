// The data inside a public Progress, to which the library's passes report. For this folder.
#pragma once
#include "base/watch.h"
#include "dnheap/snapshot.h"

namespace dnheap::v0 {

struct Progress::Inside {
  dnheap::Progress progress;
  std::vector<dnheap::PassTime> times;
};

} // namespace dnheap::v0

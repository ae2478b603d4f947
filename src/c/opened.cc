#include "c/opened.h"

#include <algorithm>

namespace dnheap::c {

std::shared_ptr<Opened> Opened::make(dnheap_on_progress on_progress, void *context) {
  return {new Opened(on_progress, context), [](Opened *opened) {
            if (opened->thread_.is_of_this_process())
              delete opened;
          }};
}

Opened::~Opened() {
  guarded([&] { thread_.run([&] { snapshot.reset(); }, [] {}); });
}

void Opened::run(const std::function<void()> &work) {
  thread_.run(work, [&] {
    if (!on_progress_)
      return;
    const Progress::Now now = progress_.now();
    // Read while it changes, so the values may belong to two different passes.
    const dnheap_progress told = {now.pass, now.total ? std::min(now.done, now.total) : now.done, now.total,
                                  now.objects};
    if (on_progress_(context_, &told) != 0)
      progress_.cancel();
  });
}

} // namespace dnheap::c

#include "api/progress.h"

namespace dnheap::v0 {

Progress::Progress() : inside_(std::make_unique<Inside>()) {}
Progress::~Progress() = default;

Progress::Now Progress::now() const noexcept {
  const dnheap::Progress &of = inside_->progress;
  return {of.pass.load(), of.done.load(), of.total.load(), of.objects.load(), of.cancel.load()};
}

void Progress::cancel() noexcept { inside_->progress.cancel.store(true); }

std::vector<PassTime> Progress::times() const {
  std::vector<PassTime> out;
  for (const dnheap::PassTime &time : inside_->times)
    out.push_back({time.name, time.seconds, time.bytes});
  return out;
}

} // namespace dnheap::v0

#include "c/opened.h"

#include <algorithm>

namespace dnheap::c {

namespace {

// C knows no exceptions, but callbacks may be C++.
class CallbackThrew final : public Interrupted {
public:
  explicit CallbackThrew(const std::string &text) : text_("on_progress threw an exception" + text) {}
  const char *what() const noexcept override { return text_.c_str(); }

private:
  const std::string text_;
};

} // namespace

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
    // The Progress changes while it is read, so the values may belong to two different passes.
    const dnheap_progress told = {now.pass, now.total ? std::min(now.done, now.total) : now.done, now.total,
                                  now.objects};
    try {
      if (on_progress_(context_, &told) == 0)
        return;
    } catch (const std::exception &error) {
      progress_.cancel();
      throw CallbackThrew(std::string(": ") + error.what());
    } catch (...) {
      progress_.cancel();
      throw CallbackThrew("");
    }
    progress_.cancel();
  });
}

} // namespace dnheap::c

#include "support/child_process.h"

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace dnheap {

struct ChildProcess::Shared {
  std::atomic<u64> work[64];
  std::atomic<u64> signals, started;
  std::atomic<u64> pattern;
};

namespace {

std::atomic<u64> *handled;

void work_on(std::atomic<u64> &counter) {
  for (;; ++counter)
    if (counter % 4096 == 0)
      ::usleep(100); // leaves the processors to others
}

} // namespace

ChildProcess::ChildProcess(unsigned threads, Kind kind) : threads_(threads) {
  void *at = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    throw std::runtime_error("no shared memory");
  shared_ = new (at) Shared();
  pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); // where Yama would let only the parent look at us
    handled = &shared_->signals;
    ::signal(SIGRTMIN, [](int) { ++*handled; });
    auto *pages =
        static_cast<std::byte *>(::mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (u64 i = 0; i < 4 * page; ++i)
      pages[i] = pattern_at(i);
    ::mprotect(pages + 2 * page, page, PROT_NONE);
    shared_->pattern = reinterpret_cast<u64>(pages);
    for (unsigned i = 1; i <= threads; ++i)
      std::thread([this, i] {
        ++shared_->started;
        work_on(shared_->work[i]);
      }).detach();
    while (shared_->started < threads)
      ::usleep(100);
    ++shared_->started;
    if (kind == starts_threads)
      for (;; ++shared_->work[0])
        std::thread([] { ::usleep(50); }).join();
    work_on(shared_->work[0]);
  }
  pid_ = static_cast<u64>(pid);
  while (shared_->started < threads + 1)
    ::usleep(100);
}

ChildProcess::~ChildProcess() {
  ::kill(static_cast<pid_t>(pid_), SIGKILL);
  ::waitpid(static_cast<pid_t>(pid_), nullptr, __WALL);
  ::munmap(shared_, sizeof(Shared));
}

u64 ChildProcess::work() const {
  u64 sum = 0;
  for (const std::atomic<u64> &counter : shared_->work)
    sum += counter;
  return sum;
}

u64 ChildProcess::signals() const { return shared_->signals; }

bool ChildProcess::goes_on() const {
  std::vector<u64> before(threads_ + 1);
  for (unsigned i = 0; i <= threads_; ++i)
    before[i] = shared_->work[i];
  for (int tries = 0; tries < 2000; ++tries) {
    bool all = true;
    for (unsigned i = 0; i <= threads_; ++i)
      all &= shared_->work[i] != before[i];
    if (all)
      return true;
    ::usleep(5000);
  }
  return false;
}

void ChildProcess::send_signal() { ::kill(static_cast<pid_t>(pid_), SIGRTMIN); }

Address ChildProcess::pattern() const { return shared_->pattern; }

} // namespace dnheap

#include "support/refused_threads.h"

#include "support/sanitized.h"

#include <iterator>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <cerrno>
#include <cstddef>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace dnheap::test {

namespace {

constexpr int not_possible = 77;

#ifdef __linux__
// From now on this process starts no thread: clone3 is answered with EPERM, clone for a thread with EAGAIN.
bool refuse_threads() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(filter)), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
bool refuse_threads() { return false; }
#endif

} // namespace

bool can_refuse_threads() {
  return !sanitized && in_child_without_threads([] { return 0; }) != not_possible;
}

int in_child_without_threads(const std::function<int()> &call) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(refuse_threads() ? call() : not_possible);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace dnheap::test

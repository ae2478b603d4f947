// Runs a program and keeps what it wrote, for tests of the command line.
#pragma once
#include <string>
#include <vector>

namespace dnheap::test {

struct RunResult {
  int exit_code = -1; // 128 + n when signal n ended it
  std::string out, err;
};

// `command` goes to sh.
RunResult run(const std::string &command);

// A folder that is removed with all it holds.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::string path(const std::string &name = "") const { return name.empty() ? path_ : path_ + "/" + name; }
  // Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &content) const;

private:
  std::string path_;
};

std::string read_file(const std::string &path);

// The program with its standard output in a pipe that nobody empties, for tests that interfere. Killed when the object
// goes away.
class Child {
public:
  explicit Child(std::vector<std::string> arguments);
  ~Child();
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  int pid() const { return pid_; }
  void wait_for_output() const; // the first byte of it
  void signal(int number) const;
  // How it ended; what is stuck for ten seconds is killed. `out` stays empty.
  RunResult wait();

private:
  TemporaryFolder folder_;
  int pid_ = -1, output_ = -1;
};

} // namespace dnheap::test

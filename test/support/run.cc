#include "support/run.h"

#include "support/places.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace dnheap::test {

RunResult run(const std::string &command) {
  TemporaryFolder folder;
  std::string redirected = "( " + command + " ) >'" + folder.path("out") + "' 2>'" + folder.path("err") + "'";
  int status = std::system(redirected.c_str());
  RunResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = read_file(folder.path("out"));
  result.err = read_file(folder.path("err"));
  return result;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "dnheap-test-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    throw std::runtime_error("cannot make a folder " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string &name, const std::string &content) const {
  std::ofstream(path(name), std::ios::binary) << content;
  return path(name);
}

std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Child::Child(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program());
  std::vector<char *> words;
  for (std::string &argument : arguments)
    words.push_back(argument.data());
  words.push_back(nullptr);
  std::string errors = folder_.path("err");
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0 || (pid_ = ::fork()) < 0)
    throw std::runtime_error("cannot start a program");
  if (pid_ == 0) {
    int file = ::open(errors.c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(pipe[1], 1);
    ::dup2(file, 2);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  output_ = pipe[0];
}

Child::~Child() {
  ::close(output_);
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Child::wait_for_output() const {
  pollfd what{output_, POLLIN, 0};
  ::poll(&what, 1, 10000);
}

void Child::signal(int number) const { ::kill(pid_, number); }

RunResult Child::wait() {
  int status = 0;
  for (int i = 0; ::waitpid(pid_, &status, WNOHANG) == 0; ++i) {
    if (i == 1000)
      ::kill(pid_, SIGKILL);
    ::usleep(10000);
  }
  pid_ = -1;
  RunResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.err = read_file(folder_.path("err"));
  return result;
}

} // namespace dnheap::test

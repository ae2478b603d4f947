#include "support/run.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
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

} // namespace dnheap::test

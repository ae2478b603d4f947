#include "base/error.h"
#include "base/host/local_listener.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace dnheap {
namespace {

class LocalListeners : public testing::Test {
protected:
  std::filesystem::path folder;

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "dnheap-listen-XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const char *name = "x.sock") const { return (folder / name).string(); }
  static std::string error_of(const std::string &path) {
    try {
      LocalListener listener(path);
      return "";
    } catch (const Error &error) {
      return error.what();
    }
  }
};

TEST_F(LocalListeners, OnlyTheOwnerMayConnect) {
  {
    LocalListener listener(path());
    struct stat made = {};
    ASSERT_EQ(::lstat(path().c_str(), &made), 0);
    EXPECT_TRUE(S_ISSOCK(made.st_mode));
    EXPECT_EQ(made.st_mode & 0777, 0600u);
    EXPECT_FALSE(listener.accept(0)) << "nobody has connected";
    std::error_code error;
    const std::optional<LocalSocket> here = LocalSocket::connect(path(), 1, error);
    ASSERT_TRUE(here) << error.message();
    const std::optional<LocalSocket> there = listener.accept(1);
    ASSERT_TRUE(there);
    EXPECT_EQ(there->other_end().value_or(0), static_cast<u64>(::getpid()));
    EXPECT_TRUE(here->send(std::vector<std::byte>(3, std::byte{7}), 1));
    std::vector<std::byte> got;
    EXPECT_EQ(there->receive(got, 10, 1), LocalSocket::Received::bytes);
    EXPECT_EQ(got, std::vector<std::byte>(3, std::byte{7}));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "the socket is removed";
}

TEST_F(LocalListeners, OnlyADeadSocketIsReplaced) {
  std::ofstream(path("file")) << "text";
  EXPECT_NE(error_of(path("file")).find("no socket"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path("file")), 4u);
  std::filesystem::create_symlink("nothing", path("link"));
  EXPECT_NE(error_of(path("link")).find("it is a link"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("nothing")));
  EXPECT_NE(error_of(path("missing/x.sock")), "");
  {
    LocalListener listener(path());
    EXPECT_NE(error_of(path()).find("a program may listen on it"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(path()));
  }
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path().c_str(), path().size() + 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr *>(&address), sizeof address), 0);
  ::close(socket);
  EXPECT_EQ(error_of(path()), "") << "a program that has ended has left it";
}

TEST_F(LocalListeners, AnothersFileStays) {
  {
    LocalListener listener(path());
    std::filesystem::remove(path());
    std::ofstream(path()) << "another one";
  }
  EXPECT_TRUE(std::filesystem::exists(path()));
}

TEST_F(LocalListeners, PathsMayBeLong) {
  const std::filesystem::path deep = folder / std::string(150, 'd');
  std::filesystem::create_directory(deep);
  LocalListener listener((deep / "x.sock").string());
  std::error_code error;
  EXPECT_TRUE(LocalSocket::connect((deep / "x.sock").string(), 1, error)) << error.message();
}

} // namespace
} // namespace dnheap

// Mapped files that are cut off, written anew or unreadable while they are read. The lines between pages are where this
// goes wrong, so every test says what happens on both sides of one.
#include "base/host/host.h"
#include "base/host/mapping_faults.h"
#include "base/parallel.h"
#include "support/run.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dnheap {
namespace {

const u64 page = static_cast<u64>(::sysconf(_SC_PAGESIZE));

class MappingFaults : public testing::Test {
protected:
  test::TemporaryFolder folder;
  std::string path = folder.path("file");

  void SetUp() override { survive_mapping_faults(); }
  std::shared_ptr<const MappedFile> map(u64 size) {
    folder.write("file", std::string(size, 'x'));
    return MappedFile::open(path);
  }
  void cut(u64 size) { ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(size)), 0); }
};

u64 count_x(Bytes bytes) { return static_cast<u64>(std::count(bytes.begin(), bytes.end(), std::byte{'x'})); }

// What is lost of a file, as offsets, and why.
struct Loss {
  u64 begin, end;
  std::string reason;
};
std::vector<Loss> losses_of(const MappedFile &file) {
  std::vector<Loss> out;
  for (const LostBytes &lost : find_lost_bytes()) {
    u64 begin = static_cast<u64>(lost.bytes.data() - file.bytes().data());
    if (begin < file.bytes().size())
      out.push_back({begin, begin + lost.bytes.size(), lost.reason});
  }
  return out;
}

TEST_F(MappingFaults, ASoundFileLosesNothing) {
  auto file = map(10 * page);
  u64 before = count_losses();
  EXPECT_EQ(count_x(file->bytes()), 10 * page);
  EXPECT_TRUE(losses_of(*file).empty());
  EXPECT_EQ(count_losses(), before);
  EXPECT_EQ(MappedFile::open(folder.write("empty", ""))->bytes().size(), 0u);
}

TEST_F(MappingFaults, WhatIsCutOffIsLostToTheByte) {
  for (u64 left : {u64{0}, u64{1}, 4 * page - 1, 4 * page, 4 * page + 1, 10 * page - 1}) {
    SCOPED_TRACE(left);
    auto file = map(10 * page);
    u64 before = count_losses();
    cut(left);
    EXPECT_EQ(count_x(file->bytes()), left);
    std::vector<Loss> losses = losses_of(*file);
    ASSERT_EQ(losses.size(), 1u);
    EXPECT_EQ(losses[0].begin, left);
    EXPECT_EQ(losses[0].end, 10 * page);
    EXPECT_EQ(losses[0].reason, "cut off while it was read: " + path + " now ends at byte " + std::to_string(left));
    EXPECT_GT(count_losses(), before);
    // And further.
    if (left > page) {
      cut(page);
      EXPECT_EQ(losses_of(*file).at(0).begin, page);
    }
  }
}

// The rest of the last page reads as zeros without a fault, and what nobody has read yet has not failed yet.
TEST_F(MappingFaults, ACutIsSeenBeforeAnythingIsRead) {
  auto file = map(page);
  u64 before = count_losses();
  cut(page - 10);
  EXPECT_GT(count_losses(), before);
  EXPECT_EQ(losses_of(*file).at(0).begin, page - 10);
}

TEST_F(MappingFaults, AFileWrittenAnewIsLostAsAWhole) {
  auto rewrite = [&](u64 size, char with) {
    std::ofstream(path, std::ios::binary) << std::string(size, with);
    // Time stamps are as coarse as a clock tick.
    std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
  };
  for (auto [size, with] : {std::pair(3 * page, 'x'), std::pair(3 * page, 'y'), std::pair(4 * page, 'x'),
                            std::pair(page, 'y'), std::pair(u64{7}, 'y')}) {
    SCOPED_TRACE(std::to_string(size) + with);
    auto file = map(3 * page);
    rewrite(size, with);
    std::vector<Loss> losses = losses_of(*file);
    ASSERT_EQ(losses.size(), 1u);
    EXPECT_EQ(losses[0].begin, 0u);
    EXPECT_EQ(losses[0].end, 3 * page);
    EXPECT_EQ(losses[0].reason, path + " was changed by somebody else while it was read");
  }
  // First cut, then longer again: whatever is in it, it is not what was.
  auto file = map(3 * page);
  cut(page);
  EXPECT_EQ(losses_of(*file).at(0).begin, page);
  cut(2 * page);
  EXPECT_EQ(losses_of(*file).at(0).begin, 0u);
}

TEST_F(MappingFaults, ManyThreadsMayMeetTheSameFault) {
  auto file = map(1000 * page);
  cut(10 * page);
  std::atomic<u64> seen{0};
  parallel_for(64, 8, [&](u64, unsigned) { seen += count_x(file->bytes()); });
  EXPECT_EQ(seen, 64 * 10 * page);
  EXPECT_EQ(losses_of(*file).at(0).begin, 10 * page);
}

// An unreadable sector cannot be had without a broken disk: the pages of a file that was cut, watched as if they were
// those of one that was not, fail in the same way.
TEST_F(MappingFaults, PagesThatCannotBeReadAreLostOneByOne) {
  auto whole = map(200 * page);
  std::string other = folder.write("other", std::string(200 * page, 'x'));
  int file = ::open(other.c_str(), O_RDONLY);
  void *at = ::mmap(nullptr, 200 * page, PROT_READ, MAP_PRIVATE, file, 0);
  ASSERT_NE(at, MAP_FAILED);
  ::close(file);
  ASSERT_EQ(::truncate(other.c_str(), 0), 0);
  Bytes bytes{static_cast<const std::byte *>(at), 200 * page};
  auto at_page = [&](u64 n) { return bytes.subspan(n * page, page); };
  // The handler is needed from the start: the beginning of a file is read when it is mapped.
  WatchedMapping *watched = watch_mapping(bytes, ::open(path.c_str(), O_RDONLY), "disk", true);
  for (u64 n : {63, 64, 65, 100, 199})
    EXPECT_EQ(count_x(at_page(n)), 0u);
  std::vector<std::pair<u64, u64>> lost;
  for (const LostBytes &l : find_lost_bytes()) {
    EXPECT_EQ(l.reason, "could not be read from disk (I/O error)");
    u64 begin = static_cast<u64>(l.bytes.data() - bytes.data());
    lost.emplace_back(begin / page, (begin + l.bytes.size()) / page);
  }
  u64 beginning = (64 << 10) / page;
  EXPECT_EQ(lost, (std::vector<std::pair<u64, u64>>{{0, beginning}, {63, 66}, {100, 101}, {199, 200}}));
  unwatch_mapping(watched);
  ::munmap(at, 200 * page);
  EXPECT_TRUE(find_lost_bytes().empty());
}

// Places in the registry are used again.
TEST_F(MappingFaults, ManyFiles) {
  for (int i = 0; i < 200; ++i) {
    auto a = map(2 * page), b = MappedFile::open(path);
    cut(page);
    EXPECT_EQ(count_x(a->bytes()) + count_x(b->bytes()), 2 * page);
    EXPECT_EQ(losses_of(*a).size(), 1u);
    EXPECT_EQ(losses_of(*b).size(), 1u);
  }
  EXPECT_TRUE(find_lost_bytes().empty());
}

TEST_F(MappingFaults, TemporaryFilesAreWatchedToo) {
  TemporaryFile file(folder.path());
  std::string text(3 * page, 'x');
  file.write(std::as_bytes(std::span(text)));
  auto mapped = file.map();
  EXPECT_EQ(count_x(mapped->bytes()), 3 * page);
  EXPECT_TRUE(losses_of(*mapped).empty());
}

using MappingFaultsDeath = MappingFaults;

// By the signal; where a sanitizer had a handler before, with its report.
bool ended_by_fault(int status) {
  return (WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS) || (WIFEXITED(status) && WEXITSTATUS(status) != 0);
}

TEST_F(MappingFaultsDeath, FaultsElsewhereEndTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  folder.write("file", std::string(page, 'x'));
  int file = ::open(path.c_str(), O_RDONLY);
  auto *at = static_cast<volatile char *>(::mmap(nullptr, page, PROT_READ, MAP_PRIVATE, file, 0));
  ::close(file);
  EXPECT_EXIT(
      {
        survive_mapping_faults();
        ::truncate(path.c_str(), 0);
        static_cast<void>(*at);
      },
      ended_by_fault, "");
  EXPECT_EXIT(
      {
        survive_mapping_faults();
        survive_mapping_faults();
        ::raise(SIGBUS);
      },
      ended_by_fault, "");
}

// Whoever was there before us is asked.
TEST_F(MappingFaultsDeath, FaultsElsewhereGoToTheHandlerBefore) {
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, [](int) { ::_exit(7); });
        survive_mapping_faults();
        ::raise(SIGBUS);
      },
      testing::ExitedWithCode(7), "");
}

} // namespace
} // namespace dnheap

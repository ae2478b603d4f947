#include "base/error.h"
#include "base/host/file_time.h"
#include "dump/live/live_memory.h"
#include "dump/live/live_process.h"
#include "dump/live/process_maps.h"
#include "support/child_process.h"
#include "support/run.h"
#include "support/sanitized.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace dnheap {
namespace {

TEST(ProcessMaps, Lines) {
  std::vector<ProcessMapping> found =
      parse_process_maps("55d0c0a00000-55d0c0a02000 r--p 00001000 08:01 42    /usr/bin/with space (deleted)\n"
                         "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
                         "7f0000002000-7f0000001000 rw-p 00000000 00:00 0 \n" // ends before it begins
                         "7f0000000000-7f0000008000 rw-p 00000000 00:00 0 \n" // as does this one, of the one before
                         "no such line\n\n"
                         "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].start, 0x55d0c0a00000u);
  EXPECT_EQ(found[0].end, 0x55d0c0a02000u);
  EXPECT_TRUE(found[0].readable);
  EXPECT_FALSE(found[0].writable);
  EXPECT_FALSE(found[0].executable || found[0].is_shared);
  EXPECT_EQ(found[0].file_offset, 0x1000u);
  EXPECT_EQ(found[0].inode, 42u);
  EXPECT_EQ(found[0].device, device_of(8, 1));
  EXPECT_EQ(found[0].path, "/usr/bin/with space (deleted)");
  EXPECT_TRUE(found[1].writable);
  EXPECT_EQ(found[1].path, "");
  EXPECT_FALSE(found[2].readable);
  EXPECT_TRUE(found[2].executable);
  EXPECT_EQ(found[2].path, "[vsyscall]");
}

TEST(LiveProcess, IsATarget) {
  ChildProcess child(3);
  LiveProcess process(child.pid(), {});
  std::unique_ptr<Target> target = process.take_target();
  EXPECT_EQ(target->container, "process");
  EXPECT_EQ(target->os, OperatingSystem::linux_os);
  EXPECT_NE(target->architecture, Architecture::unknown);
  EXPECT_EQ(target->pid, child.pid());
  EXPECT_EQ(target->format().pointer_size, sizeof(void *));
  EXPECT_NE(target->program.find("dump-test"), std::string::npos) << target->program;
  EXPECT_FALSE(target->auxv.empty());
  EXPECT_TRUE(std::any_of(target->modules.begin(), target->modules.end(),
                          [](const Module &module) { return module.file_name().starts_with("libc.so"); }));
  EXPECT_FALSE(target->notes.have_effect());

  ASSERT_EQ(target->threads.size(), 4u);
  for (const Thread &thread : target->threads) {
    EXPECT_TRUE(target->find_module(thread.instruction_pointer) || thread.instruction_pointer) << thread.id;
    EXPECT_TRUE(target->memory.try_pointer(thread.stack_pointer)) << "the stack is memory";
    EXPECT_TRUE(target->memory.try_load<u8>(thread.instruction_pointer)) << "and so is code";
  }

  const Memory &memory = target->memory;
  Bytes pages = memory.view(child.pattern(), 2 * ChildProcess::page);
  ASSERT_EQ(pages.size(), 2 * ChildProcess::page);
  for (u64 i = 0; i < pages.size(); ++i)
    ASSERT_EQ(pages[i], ChildProcess::pattern_at(i));
  EXPECT_TRUE(memory.view(child.pattern(), 2 * ChildProcess::page + 1).empty());
  EXPECT_FALSE(memory.try_load<u8>(child.pattern() + 2 * ChildProcess::page));
  std::optional<u8> behind = memory.try_load<u8>(child.pattern() + 3 * ChildProcess::page + 5);
  ASSERT_TRUE(behind);
  EXPECT_EQ(std::byte{*behind}, ChildProcess::pattern_at(3 * ChildProcess::page + 5));
}

TEST(LiveProcess, SaysWhenItWasRead) {
  const u64 seconds = seconds_now(), ticks = ticks_now();
  ChildProcess child(1);
  LiveProcess process(child.pid(), {});
  const std::unique_ptr<Target> target = process.take_target();
  ASSERT_TRUE(target->taken && target->taken->ticks);
  EXPECT_GE(target->taken->seconds, seconds);
  EXPECT_LE(target->taken->seconds, seconds_now());
  EXPECT_GE(*target->taken->ticks, ticks);
  EXPECT_LE(*target->taken->ticks, ticks_now());
}

TEST(LiveProcess, SaysWhatIsMappedAndWhatIsResident) {
  ChildProcess child(1);
  LiveProcess process(child.pid(), {});
  std::unique_ptr<Target> target = process.take_target();
  u64 mapped = 0;
  Address end = 0;
  for (const Mapping &mapping : target->mappings) {
    EXPECT_GE(mapping.start, end);
    end = mapping.end;
    mapped += mapping.end - mapping.start;
  }
  auto holds = [](const auto &stretches, Address at) {
    return std::any_of(stretches.begin(), stretches.end(),
                       [&](const auto &one) { return at >= one.first && at < one.second; });
  };
  const auto pages = process.resident();
  if (test::sanitized) // which has terabytes of shadow memory
  {
    EXPECT_FALSE(pages);
    return;
  }
  ASSERT_TRUE(pages);
  u64 resident = 0;
  for (auto [from, until] : *pages)
    resident += until - from;
  EXPECT_GT(resident, 0u);
  EXPECT_LT(resident, mapped);
  EXPECT_TRUE(holds(*pages, child.pattern()));
  EXPECT_TRUE(holds(*pages, target->threads[0].stack_pointer));
  EXPECT_FALSE(holds(*pages, child.pattern() + 2 * ChildProcess::page)) << "not accessible";
  process.release();
  EXPECT_FALSE(process.resident()) << "would be of another moment";
}

TEST(LiveProcess, DoesNotLookThroughTerabytesForWhatIsResident) {
  constexpr u64 size = u64{1} << 40;
  void *const shadow = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(shadow, MAP_FAILED);
  ChildProcess child(1); // has it, too
  munmap(shadow, size);
  LiveProcess process(child.pid(), {});
  EXPECT_FALSE(process.resident());
}

TEST(LiveProcess, AfterReleaseThereIsWhatWasRead) {
  ChildProcess child(1);
  LiveProcess process(child.pid(), {});
  std::unique_ptr<Target> target = process.take_target();
  ASSERT_TRUE(target->memory.try_load<u8>(child.pattern()));
  const u64 sp = target->threads[0].stack_pointer;
  process.release();
  EXPECT_TRUE(child.goes_on());
  EXPECT_GT(process.pause_seconds().value(), 0.0);
  EXPECT_TRUE(target->memory.try_load<u8>(child.pattern())) << "was read before";
  EXPECT_FALSE(target->memory.try_load<u8>(sp)) << "would be of another moment";
}

TEST(LiveProcess, CopiesAllAndLetsGo) {
  ChildProcess child(1);
  LiveProcess process(child.pid(), {});
  std::unique_ptr<Target> target = process.take_target();
  process.copy(2, {});
  EXPECT_TRUE(process.is_copied());
  EXPECT_FALSE(process.is_pausing());
  EXPECT_TRUE(child.goes_on());
  EXPECT_TRUE(target->memory.try_load<u8>(target->threads[0].stack_pointer));
  EXPECT_TRUE(target->memory.try_load<u8>(child.pattern() + 3 * ChildProcess::page));
}

// Touched wholly, here and there, and not at all, in pieces that huge pages fit in and at their edges.
class LargeProcess : public testing::Test {
protected:
  static constexpr u64 size = 24 << 20, page = 4096;
  static bool is_touched(u64 at) {
    const u64 part = at >> 20;
    return part == 2 ? false : part == 7 || part == 8 ? at / page % 3 == 0 : part != 15;
  }
  static std::byte byte_at(u64 at) { return is_touched(at) ? std::byte(at / page * 7 + at % 251 + 1) : std::byte{0}; }

  static u64 data_size() { // in bytes, as the limit counts it
    const std::string status = process_text(static_cast<u64>(::getpid()), "status").value_or("");
    return std::stoull(status.substr(status.find("VmData:") + 7)) * 1024;
  }

  void SetUp() override {
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    madvise(memory, size, MADV_NOHUGEPAGE);
    bytes_ = {static_cast<std::byte *>(memory), size};
    for (u64 at = 0; at < size; ++at)
      if (is_touched(at))
        bytes_[at] = byte_at(at);
    mprotect(bytes_.data() + (10 << 20), page, PROT_NONE);
  }
  void TearDown() override { munmap(bytes_.data(), size); }

  void expect_all(const Memory &memory) const {
    const Address start = reinterpret_cast<Address>(bytes_.data());
    std::vector<std::byte> found(10 << 20);
    for (u64 from : {u64{0}, (u64{10} << 20) + page, size - (u64{10} << 20)}) {
      ASSERT_TRUE(memory.peek(start + from, found)) << from;
      for (u64 i = 0; i < found.size(); ++i)
        ASSERT_EQ(found[i], byte_at(from + i)) << from + i;
    }
    EXPECT_FALSE(memory.try_load<u8>(start + (10 << 20)));
  }
  enum class Room { all, little };
  void copy_and_look(unsigned threads, const std::string &temp_dir = {}, Room room = Room::all) const {
    ChildProcess child(1); // has the same memory
    LiveProcessOptions options;
    options.temp_dir = temp_dir;
    LiveProcess process(child.pid(), options);
    std::unique_ptr<Target> target = process.take_target();
    const Address start = reinterpret_cast<Address>(bytes_.data());
    const Bytes before = target->memory.view(start + (13 << 20), 100);
    ASSERT_EQ(before.size(), 100u);
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_DATA, &limit), 0);
    rlimit little = limit;
    if (room == Room::little)
      little.rlim_cur = data_size() + (1 << 20); // less than one huge page
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &little), 0);
    process.copy(threads, {});
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
    EXPECT_TRUE(child.goes_on());
    EXPECT_EQ(before[7], byte_at((13 << 20) + 7)) << "what was looked at before stays";
    expect_all(target->memory);
  }

  std::span<std::byte> bytes_;
};

TEST_F(LargeProcess, IsCopied) {
  for (unsigned threads : {1, 2, 16})
    copy_and_look(threads);
}

TEST_F(LargeProcess, IsCopiedToAFolder) {
  test::TemporaryFolder folder;
  copy_and_look(2, folder.path());
}

TEST_F(LargeProcess, IsCopiedToAFileInMemoryWhereNoOtherMayBeHad) {
  if (test::sanitized)
    GTEST_SKIP() << "NOT TESTED: sanitizers need memory, too";
  copy_and_look(1, {}, Room::little);
}

TEST(LiveProcess, WithoutAPause) {
  ChildProcess child(2);
  LiveProcessOptions options;
  options.pause = false;
  LiveProcess process(child.pid(), options);
  EXPECT_TRUE(child.goes_on());
  EXPECT_FALSE(process.pause_seconds());
  std::unique_ptr<Target> target = process.take_target();
  EXPECT_TRUE(target->notes.have_effect());
  EXPECT_EQ(target->threads.size(), 3u);
  EXPECT_TRUE(target->threads[0].registers.empty());
  EXPECT_TRUE(target->memory.try_load<u8>(child.pattern()));
}

TEST(LiveProcess, MemoryIsLeftAlone) {
  ChildProcess child(0);
  std::vector<std::byte> before(2 * ChildProcess::page), after(before.size());
  ProcessMemory(child.pid()).read(child.pattern(), before);
  LiveProcess(child.pid(), {}).copy(1, {});
  ProcessMemory(child.pid()).read(child.pattern(), after);
  EXPECT_EQ(before, after);
}

// Paths are as the process sees them: so a core of it has them, and so its files are found.
TEST(LiveProcess, FilesOfAProcessWithARootOfItsOwn) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "NOT TESTED: only root may change its root";
  const test::TemporaryFolder folder;
  folder.write("mapped.dll", std::string(ChildProcess::page, 'x'));
  const std::string path = folder.path();
  ChildProcess child(
      [&] {
        if (::chroot(path.c_str()) != 0 || ::chdir("/") != 0)
          return false;
        const int file = ::open("/mapped.dll", O_RDONLY);
        return ::mmap(nullptr, ChildProcess::page, PROT_READ, MAP_PRIVATE, file, 0) != MAP_FAILED;
      },
      [] {});
  ASSERT_TRUE(child.is_prepared());
  LiveProcess process(child.pid(), {});
  const std::unique_ptr<Target> target = process.take_target();
  std::vector<std::string> paths;
  for (const Mapping &mapping : target->mappings)
    if (mapping.name.ends_with("mapped.dll"))
      paths.push_back(mapping.name);
  EXPECT_EQ(paths, std::vector<std::string>{"/mapped.dll"});
  EXPECT_TRUE(std::filesystem::exists(target->file_root + "/mapped.dll"));
}

// Not even by what is looked at in passing: the process would have pages of zeros, and they would count as resident.
TEST(LiveMemory, PagesThatWereNotTouchedStaySo) {
  const u64 page = page_size(), count = 8;
  const auto *memory = static_cast<std::byte *>(
      ::mmap(nullptr, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  const Address start = reinterpret_cast<Address>(memory);
  ChildProcess child(
      [&] {
        const_cast<std::byte &>(memory[3 * page + 5]) = std::byte{7};
        return true;
      },
      [] {});
  auto touched = [&] {
    std::vector<ProcessMemory::Page> pages(count);
    ProcessMemory(child.pid()).find_pages(start, pages);
    return std::count(pages.begin(), pages.end(), ProcessMemory::Page::present);
  };
  ASSERT_EQ(touched(), 1);
  LiveMemory::Stretch half{start, start + 2 * page}, rest{start + 2 * page, start + count * page};
  half.is_anonymous = rest.is_anonymous = true;
  LiveMemory live(child.pid(), {half, rest}, "");
  const Bytes all = live.ranges()[0].bytes;
  std::vector<std::byte> out(all.size() - 7, std::byte{1});
  EXPECT_EQ(live.copy(all.subspan(3, out.size()), out.data()), out.size());
  for (u64 i = 0; i < out.size(); ++i)
    ASSERT_EQ(out[i], std::byte(i + 3 == 3 * page + 5 ? 7 : 0)) << i;
  EXPECT_EQ(touched(), 1);
  ::munmap(const_cast<std::byte *>(memory), count * page);
}

TEST(LiveProcess, NoSuchProcess) { EXPECT_THROW(LiveProcess(0x7ffffff0, {}), Error); }

} // namespace
} // namespace dnheap

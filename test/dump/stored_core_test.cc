#include "dump/open.h"
#include "dump/stored_core.h"
#include "support/elf_writer.h"
#include "support/run.h"

#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

namespace dnheap {
namespace {

constexpr const char *stored_name =
    "core.\\x2eNET\\x20Server.1654.0123456789abcdef0123456789abcdef.4711.1764036607000000";

std::string core_without_signal(u32 pid = 0) {
  test::ElfCoreWriter writer{.format = {8, ByteOrder::little}};
  writer.segments = {{0x10000, std::vector<std::byte>(4096, std::byte{1})}};
  writer.pid = pid;
  const std::vector<std::byte> bytes = writer.write();
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

TEST(StoredCore, TheNameOfTheFile) {
  for (const char *ending : {"", ".zst", ".lz4", ".xz"}) {
    const std::optional<CoreRecord> record = core_record_of_name(std::string(stored_name) + ending);
    ASSERT_TRUE(record) << ending;
    EXPECT_EQ(record->name, ".NET Server");
    EXPECT_EQ(record->user, 1654u);
    EXPECT_EQ(record->pid, 4711u);
    EXPECT_EQ(record->seconds, 1764036607u);
    EXPECT_FALSE(record->signal);
    EXPECT_FALSE(record->by_attributes);
  }
  EXPECT_EQ(core_record_of_name("core.a.b.0.0123456789abcdef0123456789abcdef.1.1764036607")->name, "a.b") << "seconds";
}

TEST(StoredCore, OtherNames) {
  for (const char *name : {"core", "core.4711", "core.shop.4711", "shop.core", "core.shop.1654.4711.1764036607000000",
                           "core.shop.1654.0123456789ABCDEF0123456789abcdef.4711.1764036607000000",
                           "core.shop.1654.0123456789abcdef0123456789abcde.4711.1764036607000000",
                           "core.shop.x.0123456789abcdef0123456789abcdef.4711.1764036607000000",
                           "core..1654.0123456789abcdef0123456789abcdef.4711.1764036607000000",
                           "core.1654.0123456789abcdef0123456789abcdef.4711.1764036607000000",
                           "core.shop.1654.0123456789abcdef0123456789abcdef.4711.12",
                           "core.shop.1654.0123456789abcdef0123456789abcdef.4711.99999999999999999999999",
                           "core.shop.1654.0123456789abcdef0123456789abcdef.-1.1764036607000000"})
    EXPECT_FALSE(core_record_of_name(name)) << name;
}

TEST(StoredCore, OfAFileWithThatName) {
  test::TemporaryFolder folder;
  const std::unique_ptr<Target> target = open_dump(folder.write(stored_name, core_without_signal()));
  ASSERT_TRUE(target->stored);
  EXPECT_EQ(target->pid, 4711u) << "which the core lacks";
  ASSERT_TRUE(target->taken);
  EXPECT_EQ(target->taken->seconds, 1764036607u);
  EXPECT_EQ(target->taken->clock, TakenAt::Clock::dump);
  EXPECT_EQ(open_dump(folder.write("b.core", core_without_signal()))->stored, std::nullopt);
  EXPECT_EQ(
      open_dump(folder.write("core.x.1.0123456789abcdef0123456789abcdef.5.1764036607", core_without_signal(77)))->pid,
      77u)
      << "the core's own number counts";
}

TEST(StoredCore, WhatTheCoreLacksIsTaken) {
  Target target;
  CoreRecord record;
  record.signal = 6;
  record.name = "shop";
  add_core_record(target, record);
  EXPECT_FALSE(target.crash) << "there is no thread that it could have been";
  EXPECT_EQ(target.program, "shop");
  for (const u64 id : {17, 18}) {
    target.threads.emplace_back();
    target.threads.back().id = id;
  }
  record.executable = "/app/shop";
  add_core_record(target, record);
  ASSERT_TRUE(target.crash);
  EXPECT_EQ(target.crash->thread, 17u);
  EXPECT_EQ(target.crash->number, 6u);
  EXPECT_EQ(target.program, "shop") << "what is known stays";
  record.signal = 11;
  add_core_record(target, record);
  EXPECT_EQ(target.crash->number, 6u);
}

#ifdef __linux__
TEST(StoredCore, AttributesOfTheFile) {
  test::TemporaryFolder folder;
  const std::string path = folder.write(stored_name, core_without_signal());
  const std::pair<const char *, const char *> attributes[] = {
      {"pid", "815"},          {"uid", "1000"},        {"signal", "6"},        {"timestamp", "1764036000000000"},
      {"comm", "shop worker"}, {"exe", "/app/sh\nop"}, {"hostname", "machine"}};
  for (const auto &[name, value] : attributes)
    if (::setxattr(path.c_str(), (std::string("user.coredump.") + name).c_str(), value, std::strlen(value), 0) != 0)
      GTEST_SKIP() << "NOT TESTED: the file system of " << path << " takes no attributes: " << std::strerror(errno);
  const std::optional<CoreRecord> record = core_record(path);
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->by_attributes) << "they count more than the name";
  EXPECT_EQ(record->pid, 815u);
  EXPECT_EQ(record->user, 1000u);
  EXPECT_EQ(record->signal, 6u);
  EXPECT_EQ(record->seconds, 1764036000u);
  EXPECT_EQ(record->name, "shop worker");
  EXPECT_EQ(record->executable, "/app/sh\nop");
  EXPECT_EQ(record->host, "machine");
  ::setxattr(path.c_str(), "user.coredump.signal", "-6", 2, 0);
  ::setxattr(path.c_str(), "user.coredump.timestamp", "soon", 4, 0);
  EXPECT_FALSE(core_record(path)->signal);
  EXPECT_FALSE(core_record(path)->seconds);
}
#endif

} // namespace
} // namespace dnheap

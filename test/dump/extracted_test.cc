// What an extracted core says of its dump: all of a Target comes back, and damage to it is an error in words.
#include "dump/core_writer.h"
#include "dump/elf_core.h"
#include "dump/extracted.h"
#include "support/elf_writer.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

Target some_target(Format format) {
  Target out;
  out.container = "minidump";
  out.dump_kind = "full";
  out.os = OperatingSystem::windows;
  out.architecture = Architecture::x64;
  out.pid = 4711;
  out.program = "shop --all";
  out.modules = {{"C:\\app\\shop.dll", 0x10000, {{0x10000, 0x12000, 0}, {0x20000, 0x21000, 0x1000}}, true, {}},
                 {"coreclr.dll", 0x40000, {{0x40000, 0x50000, 0}}, false, PeIdentity{1, 2, {{3}}, {{10, 0, 14, 1}}}}};
  out.threads = {{12, 0x1000, 0x2000, {1, 2, 3}}};
  out.taken = TakenAt{1790000000, TakenAt::Clock::dump, 56826651};
  out.crash = CrashSignal{12, 0xc0000005, -1, 4711, 0x10};
  out.auxv = {{9, 0x1234}};
  out.absent = {{0x5000, 0x6000, "cut off"}};
  out.provenance = {{"shop.dll", "/files/shop.dll", Provenance::Outcome::rejected, "", "another one"}};
  out.advice = "copy it again";
  out.notes.add(Subject::dump, Effect::numbers, "odd");
  out.extraction = Extraction{"shop.dmp", true};
  out.memory = Memory(format, {});
  return out;
}

void expect_same(const Target &a, const Target &b) {
  EXPECT_EQ(extracted::description(a), extracted::description(b));
  ASSERT_TRUE(b.extraction);
  EXPECT_EQ(b.extraction->from, "shop.dmp");
  EXPECT_EQ(b.container, "minidump");
  ASSERT_EQ(b.modules.size(), 2u);
  EXPECT_TRUE(b.modules[0].inferred);
  ASSERT_TRUE(b.modules[1].pe && b.modules[1].pe->guid);
  EXPECT_EQ(b.modules[1].pe->guid, a.modules[1].pe->guid);
  EXPECT_EQ(b.threads.at(0).registers, a.threads.at(0).registers);
  EXPECT_EQ(b.notes, a.notes);
  ASSERT_TRUE(b.taken);
  EXPECT_EQ(b.taken->seconds, 1790000000u);
  EXPECT_EQ(b.taken->clock, TakenAt::Clock::dump);
  EXPECT_EQ(b.taken->ticks, 56826651u);
  ASSERT_TRUE(b.crash);
  EXPECT_EQ(b.crash->thread, 12u);
  EXPECT_EQ(b.crash->number, 0xc0000005u);
  EXPECT_EQ(b.crash->code, -1);
  EXPECT_EQ(b.crash->sender, 4711u);
  EXPECT_EQ(b.crash->address, 0x10u);
}

TEST(Extracted, ACoreSaysAllThatTheTargetDid) {
  const std::vector<std::byte> bytes(5000, std::byte{7});
  for (Format format : all_formats)
    for (u64 count : {1u, 70000u}) { // more than an ELF header can count
      SCOPED_TRACE(name_of(format));
      const Target target = some_target(format);
      std::vector<CoreSegment> segments;
      for (u64 i = 0; i < count; ++i)
        segments.push_back({0x100000 + 0x2000 * i, i ? 1 : bytes.size()});
      std::vector<std::byte> file = core_front(target, segments, std::vector<Range>{{0x40000, Bytes(bytes).first(10)}});
      file.insert(file.end(), bytes.begin(), bytes.end());
      file.resize(file.size() + count - 1, std::byte{9});
      std::unique_ptr<Target> read = open_elf_core(file, nullptr);
      ASSERT_TRUE(read);
      expect_same(target, *read);
      EXPECT_EQ(read->memory.size(), bytes.size() + count - 1);
      EXPECT_EQ(read->memory.try_load<u8>(0x100000 + 0x2000 * (count - 1)), count > 1 ? 9 : 7);
      EXPECT_EQ(read->initial.try_load<u8>(0x40009), 7);
      EXPECT_EQ(read->initial.try_load<u8>(0x4000a), std::nullopt);
      EXPECT_EQ(read->format(), format);
    }
}

// What other readers of cores look for.
TEST(Extracted, CoresOfLinuxHaveTheUsualNotes) {
  Target target = some_target({});
  target.os = OperatingSystem::linux_os;
  target.crash = CrashSignal{12, 11, 1, {}, 0x10};
  target.threads[0].registers.assign(27, 5);
  std::vector<std::byte> file = core_front(target, std::vector<CoreSegment>{{0x1000, 8}}, {});
  const std::string own = "dnheap";
  for (u64 at = 0; at + own.size() <= file.size(); ++at) // as if no dnheap had written it
    if (as_text(Bytes(file).subspan(at, own.size())) == own)
      file[at] = std::byte{'x'};
  file.resize(file.size() + 8);
  std::unique_ptr<Target> read = open_elf_core(file, nullptr);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->extraction);
  EXPECT_EQ(read->pid, 4711u);
  EXPECT_EQ(read->program, "shop --all");
  EXPECT_EQ(read->auxv, target.auxv);
  ASSERT_EQ(read->threads.size(), 1u);
  EXPECT_EQ(read->threads[0].id, 12u);
  ASSERT_TRUE(read->crash);
  EXPECT_EQ(read->crash->thread, 12u);
  EXPECT_EQ(read->crash->number, 11u);
  EXPECT_EQ(read->threads[0].registers, target.threads[0].registers);
  EXPECT_EQ(read->modules.at(0).path, target.modules[0].path);
}

TEST(Extracted, DamageIsAnErrorInWords) {
  const std::string whole = extracted::description(some_target({}));
  auto apply = [](const std::string &text) {
    Target target;
    target.path = "core";
    extracted::apply_description({reinterpret_cast<const std::byte *>(text.data()), text.size()}, target);
    return target;
  };
  expect_same(some_target({}), apply(whole));
  for (u64 size = 0; size < whole.size(); size += 7)
    EXPECT_THROW(apply(whole.substr(0, size)), Error) << size;
  u64 refused = 0;
  for (u64 at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 3);
    try {
      apply(changed);
    } catch (const Error &) {
      ++refused;
    }
  }
  EXPECT_GT(refused, whole.size() / 3);
  EXPECT_THROW(apply("[]"), Error);
  EXPECT_THROW(apply(R"({"version": 2})"), Error);
}

} // namespace
} // namespace dnheap::test

#include "dump/elf_core.h"
#include "support/damage.h"
#include "support/elf_writer.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace dnheap {
namespace {

using test::ElfCoreWriter;

std::vector<std::byte> filled(u64 size, u8 value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

ElfCoreWriter small_core(Format format) {
  ElfCoreWriter out{.format = format};
  out.segments = {{0x10000, filled(0x100, 1)}, {0x20000, filled(0x80, 2)}};
  out.pid = 4242;
  out.name = "dotnet";
  out.arguments = "dotnet zoo.dll ";
  out.auxv = {{6, 4096}, {33, 0x7ff00000}};
  std::vector<u64> registers(27);
  for (u64 i = 0; i < registers.size(); ++i)
    registers[i] = 0x1000 + i;
  out.threads = {{100, registers}, {101, registers}};
  out.files = {{"/usr/lib/libcoreclr.so", 0x10000, 0x11000, 0}, {"/app/zoo.dll", 0x20000, 0x21000, 0x3000}};
  return out;
}

// As open_dump() calls it.
struct Opened : test::OpenedFile {
  explicit Opened(Bytes file) : OpenedFile(open_elf_core, file) {}
};

using test::has_note;

TEST(ElfCore, ReadsMemoryAndNotes) {
  for (Format format : test::all_formats)
    for (bool at_end : {false, true})
      for (bool split : {false, true}) {
        SCOPED_TRACE(test::name_of(format));
        ElfCoreWriter writer = small_core(format);
        writer.notes_at_end = at_end;
        writer.split_notes = split;
        std::vector<std::byte> file = writer.write();
        Opened core(file);
        ASSERT_TRUE(core.target) << core.error;
        EXPECT_EQ(core->container, "elf-core");
        EXPECT_EQ(core->os, OperatingSystem::linux_os);
        EXPECT_EQ(core->format(), format);
        EXPECT_EQ(core->pid, 4242u);
        EXPECT_EQ(core->program, "dotnet zoo.dll");
        EXPECT_EQ(core->auxv, (std::map<u64, u64>{{6, 4096}, {33, 0x7ff00000}}));
        EXPECT_EQ(core->memory.size(), 0x180u);
        EXPECT_EQ(core->memory.try_load<u8>(0x100ff), 1);
        EXPECT_EQ(core->memory.try_load<u8>(0x20000), 2);
        EXPECT_FALSE(core->memory.try_load<u8>(0x10100));
        EXPECT_EQ(core->memory.view(0x10000, 1).data(),
                  std::search(file.data(), file.data() + file.size(), writer.segments[0].bytes.begin(),
                              writer.segments[0].bytes.end()))
            << "not a copy";
        ASSERT_EQ(core->modules.size(), 2u);
        EXPECT_EQ(core->modules[0].file_name(), "libcoreclr.so");
        EXPECT_EQ(core->modules[1].path, "/app/zoo.dll");
        EXPECT_EQ(core->modules[1].base, 0x20000u);
        EXPECT_EQ(core->modules[1].end(), 0x21000u);
        EXPECT_EQ(core->modules[1].extents[0].file_offset, 0x3000u);
        EXPECT_TRUE(core->absent.empty());
        EXPECT_TRUE(core->notes.empty());
      }
}

TEST(ElfCore, ReadsTheRegistersOfEachMachine) {
  struct Row {
    Format format;
    u16 machine;
    Architecture architecture;
    u64 count, instruction_pointer, stack_pointer;
  };
  constexpr ByteOrder little = ByteOrder::little, big = ByteOrder::big;
  for (Row row :
       {Row{{8, little}, 62, Architecture::x64, 27, 16, 19}, Row{{8, little}, 183, Architecture::arm64, 34, 32, 31},
        Row{{4, little}, 3, Architecture::x86, 17, 12, 15}, Row{{4, little}, 40, Architecture::arm, 18, 15, 13},
        Row{{8, big}, 22, Architecture::s390x, 27, 1, 17}, Row{{8, little}, 21, Architecture::ppc64, 48, 32, 1},
        Row{{8, little}, 243, Architecture::riscv64, 32, 0, 2},
        Row{{8, little}, 258, Architecture::loongarch64, 45, 33, 3}}) {
    SCOPED_TRACE(row.machine);
    ElfCoreWriter writer{.format = row.format, .machine = row.machine};
    writer.segments = {{0x1000, filled(16, 0)}};
    std::vector<u64> registers(row.count);
    for (u64 i = 0; i < row.count; ++i)
      registers[i] = 1000 + i;
    writer.threads = {{77, registers}, {78, {}}};
    std::vector<std::byte> file = writer.write();
    Opened core(file);
    ASSERT_TRUE(core.target) << core.error;
    EXPECT_EQ(core->architecture, row.architecture);
    ASSERT_EQ(core->threads.size(), 2u);
    EXPECT_EQ(core->threads[0].id, 77u);
    EXPECT_EQ(core->threads[0].registers, registers);
    EXPECT_EQ(core->threads[0].instruction_pointer, 1000 + row.instruction_pointer);
    EXPECT_EQ(core->threads[0].stack_pointer, 1000 + row.stack_pointer);
    EXPECT_EQ(core->threads[1].id, 78u); // its record is too short for registers
    EXPECT_EQ(core->threads[1].stack_pointer, 0u);
  }
}

// siginfo_t: {number, errno, code}, and what a fault could not access.
// `address`: for a code that a process sent, its number.
std::vector<std::byte> siginfo(Format format, u32 number, i32 code, Address address) {
  test::FormatWriter out(format);
  out.word(number);
  out.word(0);
  out.word(static_cast<u32>(code));
  out.fill_to(format.pointer_size == 8 ? 16 : 12);
  if (code <= 0)
    out.word(static_cast<u32>(address));
  else
    out.pointer(address);
  out.fill_to(128);
  return out.bytes();
}

TEST(ElfCore, TheSignalThatEndedTheProcess) {
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    auto crash_of = [&](std::vector<ElfCoreWriter::Thread> threads) {
      ElfCoreWriter writer = small_core(format);
      writer.threads = std::move(threads);
      std::vector<std::byte> file = writer.write();
      return Opened(file)->crash;
    };
    EXPECT_FALSE(crash_of({{100}, {101}}));
    // createdump: of the thread that got it only.
    std::optional<CrashSignal> crash = crash_of({{100}, {101, {}, 11, siginfo(format, 11, 1, 0x1230)}, {102}});
    ASSERT_TRUE(crash);
    EXPECT_EQ(crash->thread, 101u);
    EXPECT_EQ(crash->number, 11u);
    EXPECT_EQ(crash->code, 1);
    EXPECT_EQ(crash->address, 0x1230u);
    EXPECT_EQ(crash->sender, 0u);
    // The kernel: of all, but only the first has more to say. What abort() sends tells a process, no address.
    crash = crash_of({{100, {}, 6, siginfo(format, 6, -6, 0x1230)}, {101, {}, 6}});
    ASSERT_TRUE(crash);
    EXPECT_EQ(crash->thread, 100u);
    EXPECT_EQ(crash->number, 6u);
    EXPECT_EQ(crash->code, -6);
    EXPECT_EQ(crash->sender, 0x1230u);
    EXPECT_FALSE(crash->address);
    // gdb: of each thread, by what it was stopped.
    EXPECT_FALSE(crash_of({{100, {}, 19, siginfo(format, 19, 0, 0)}, {101, {}, 0, siginfo(format, 19, 0, 0)}}));
    crash = crash_of({{100, {}, 0, siginfo(format, 19, 0, 0)}, {101, {}, 8, siginfo(format, 8, 1, 0x40)}});
    ASSERT_TRUE(crash);
    EXPECT_EQ(crash->thread, 101u);
    EXPECT_EQ(crash->address, 0x40u);
    // What says something else, or too little, adds nothing.
    std::vector<std::byte> cut = siginfo(format, 11, 1, 0x1230);
    cut.resize(11);
    for (const std::vector<std::byte> &info : {cut, siginfo(format, 7, 1, 0x1230), siginfo(format, 1000, 1, 2)}) {
      crash = crash_of({{100, {}, 11, info}});
      ASSERT_TRUE(crash);
      EXPECT_EQ(crash->number, 11u);
      EXPECT_FALSE(crash->code);
      EXPECT_FALSE(crash->address);
    }
  }
}

// gdb may have stopped a thread by a trap of its own.
TEST(ElfCore, ATrapOfGcoreEndedNothing) {
  for (bool gdb : {false, true}) {
    ElfCoreWriter writer = small_core({8, ByteOrder::little});
    writer.threads = {};
    test::FormatWriter status(writer.format);
    status.fill_to(12);
    status.half(5);
    status.fill_to(32);
    status.word(100);
    status.fill_to(336);
    test::FormatWriter files(writer.format); // none, and the unit of their offsets
    files.pointer(0);
    files.pointer(gdb ? 1 : 4096);
    writer.more_notes = {{1, status.bytes()}, {0x46494c45, files.bytes()}};
    writer.auxv = {};
    writer.files = {};
    std::vector<std::byte> file = writer.write();
    Opened core(file);
    ASSERT_EQ(core->threads.size(), 1u);
    EXPECT_EQ(core->crash.has_value(), !gdb) << core->dump_kind;
  }
}

TEST(ElfCore, MissingPartsAreAbsentWithTheirReason) {
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    ElfCoreWriter writer{.format = format};
    writer.segments = {{0x30000, {}, 0x1000}, {0x10000, filled(0x100, 1), 0x300}};
    std::vector<std::byte> file = writer.write();
    Opened core(file);
    ASSERT_TRUE(core.target) << core.error;
    ASSERT_EQ(core->absent.size(), 2u);
    EXPECT_EQ(core->absent[0].start, 0x10100u);
    EXPECT_EQ(core->absent[0].end, 0x10300u);
    EXPECT_EQ(core->absent[0].reason, "not in the core (p_filesz smaller than p_memsz)");
    EXPECT_EQ(core->absent[1].start, 0x30000u);
    EXPECT_EQ(core->absent[1].end, 0x31000u);
    EXPECT_EQ(core->absent[1].reason, "not in the core (p_filesz 0)");
    EXPECT_TRUE(core->notes.empty());
    // What was mapped is known all the same.
    ASSERT_EQ(core->mappings.size(), 2u);
    EXPECT_EQ(core->mappings[0].start, 0x10000u);
    EXPECT_EQ(core->mappings[0].stored_end, 0x10100u);
    EXPECT_EQ(core->mappings[0].end, 0x10300u);
    EXPECT_TRUE(core->mappings[0].writable && !core->mappings[0].executable);
    EXPECT_EQ(core->mappings[1].stored_end, 0x30000u);
    EXPECT_EQ(core->mappings[1].end, 0x31000u);
  }
}

TEST(ElfCore, TruncatedFilesGiveWhatIsThere) {
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    ElfCoreWriter writer{.format = format};
    bool wide = format.pointer_size == 8;
    writer.segments = {{0x10000, filled(0x100, 1)}, {0x20000, filled(0x100, 2)}, {0x30000, filled(0x100, 3)}};
    std::vector<std::byte> file = writer.write();
    file.resize(file.size() - 0x180);
    Opened core(file);
    ASSERT_TRUE(core.target) << core.error;
    EXPECT_EQ(core->memory.size(), 0x180u);
    ASSERT_EQ(core->absent.size(), 2u);
    EXPECT_EQ(core->absent[0].start, 0x20080u);
    EXPECT_EQ(core->absent[0].end, 0x20100u);
    EXPECT_EQ(core->absent[1].start, 0x30000u);
    EXPECT_EQ(core->absent[0].reason, "cut off: the file ends at byte " + std::to_string(file.size()));
    EXPECT_EQ(core->notes.texts(),
              (std::vector<std::string>{"truncated: 2 of 3 segments end beyond the file (384 B missing): it has " +
                                        std::to_string(file.size()) + " of " + (wide ? "1,000" : "916") + " bytes"}));
    EXPECT_NE(core->advice.find("copy the whole file again"), std::string::npos);
  }
}

TEST(ElfCore, SaysWhenTheNotesWereCutOff) {
  ElfCoreWriter writer = small_core({8, ByteOrder::little});
  writer.notes_at_end = true;
  std::vector<std::byte> file = writer.write();
  file.resize(file.size() - 200);
  Opened core(file);
  ASSERT_TRUE(core.target) << core.error;
  EXPECT_TRUE(has_note(*core.target, "the file ends before its ELF notes do"));
  EXPECT_EQ(core->threads.size(), 2u);
}

TEST(ElfCore, WhereSegmentsOverlapTheFirstCounts) {
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    ElfCoreWriter writer{.format = format};
    writer.segments = {{0x10080, filled(0x100, 1)}, {0x10000, filled(0x200, 2)}};
    std::vector<std::byte> file = writer.write();
    Opened core(file);
    ASSERT_TRUE(core.target) << core.error;
    EXPECT_EQ(core->memory.try_load<u8>(0x1007f), 2);
    EXPECT_EQ(core->memory.try_load<u8>(0x10080), 1);
    EXPECT_EQ(core->memory.try_load<u8>(0x10180), 2);
    EXPECT_EQ(core->notes.texts(),
              (std::vector<std::string>{"segments overlap by 256 B: where they do, the first one counts"}));
  }
}

// And must not be slow: anything quadratic here takes minutes.
TEST(ElfCore, ManySegmentsNeedTheExtendedCount) {
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    ElfCoreWriter writer{.format = format};
    writer.extended_count = true;
    for (u64 i = 0; i < 100'000; ++i) {
      Address address = 0x10000 + i * 0x1000;
      writer.segments.push_back({address, filled(64, static_cast<u8>(i))});
      writer.files.push_back({"/lib/" + std::to_string(i % 5000), address, address + 0x1000, 0});
    }
    std::vector<std::byte> file = writer.write();
    Opened core(file);
    ASSERT_TRUE(core.target) << core.error;
    EXPECT_EQ(core->memory.ranges().size(), 100'000u);
    EXPECT_EQ(core->modules.size(), 100'000u);
    EXPECT_EQ(core->memory.try_load<u8>(0x10000 + 99'999 * 0x1000ull), static_cast<u8>(99'999));
  }
}

// Program headers are small, and many of them may name the same bytes of the file.
void point_all_loads_at_the_first(std::vector<std::byte> &file) {
  constexpr ByteOrder little = ByteOrder::little;
  u64 first = 0;
  for (u64 i = 0; i < load<u16>(file.data() + 56, little); ++i) {
    std::byte *at = file.data() + load<u64>(file.data() + 32, little) + i * 56;
    if (load<u32>(at, little) != 1)
      continue;
    if (!first)
      first = load<u64>(at + 8, little);
    std::memcpy(at + 8, &first, 8);
  }
}

TEST(ElfCore, SegmentsCannotClaimMoreThanTheFileHolds) {
  ElfCoreWriter writer = small_core({});
  for (u64 i = 0; i < 100; ++i)
    writer.segments.push_back({0x100000 + i * 0x10000, filled(i ? 1 : 0x8000, 3), 0x8000});
  std::vector<std::byte> file = writer.write();
  Opened sound(file);
  EXPECT_FALSE(has_note(*sound.target, "left out"));
  point_all_loads_at_the_first(file);
  for (u64 i = 0; i < load<u16>(file.data() + 56, ByteOrder::little); ++i) {
    std::byte *at = file.data() + load<u64>(file.data() + 32, ByteOrder::little) + i * 56;
    u64 size = 0x6000;
    if (load<u32>(at, ByteOrder::little) == 1)
      std::memcpy(at + 32, &size, 8);
  }
  Opened core(file);
  ASSERT_TRUE(core.target) << core.error;
  EXPECT_LE(core->memory.size(), file.size());
  EXPECT_TRUE(has_note(*core.target, "left out: together they claim more bytes than the file has"));
}

TEST(ElfCore, NotesThatClaimEverything) {
  // 4 G files, of which none has a name; auxiliary values without end; the same list of files many times.
  ElfCoreWriter writer{.format = {}};
  writer.segments = {{0x10000, filled(64, 1)}};
  test::FormatWriter count({}), values({}), files({});
  count.pointer(0xffffffff);
  count.pointer(1);
  for (u64 i = 1; i < 100000; ++i) {
    values.pointer(i);
    values.pointer(i);
  }
  constexpr u64 many = 60000;
  files.pointer(many);
  files.pointer(1);
  for (u64 i = 0; i < many; ++i)
    for (u64 word : {0x10000 + i, 0x10000 + i + 1, u64{0}})
      files.pointer(word);
  files.fill_to(files.size() + many); // empty names
  writer.more_notes = {{0x46494c45, count.bytes()}, {6, values.bytes()}};
  for (int i = 0; i < 20; ++i)
    writer.more_notes.push_back({0x46494c45, files.bytes()});
  Opened core(writer.write());
  ASSERT_TRUE(core.target) << core.error;
  EXPECT_EQ(core->auxv.size(), 1024u);
  EXPECT_TRUE(has_note(*core.target, "only the first 1048576 mapped files were read"));
}

// Millions of segments of one byte: O(n log n), and an answer.
TEST(ElfCore, SegmentsOfOneByte) {
  ElfCoreWriter writer{.format = {}};
  writer.extended_count = true;
  for (u64 i = 0; i < 200000; ++i)
    writer.segments.push_back({0x10000 + 2 * (i * 7919 % 200000), filled(1, 1)});
  std::vector<std::byte> file = writer.write();
  Opened core(file);
  ASSERT_TRUE(core.target) << core.error;
  EXPECT_EQ(core->memory.size(), 200000u);
  EXPECT_FALSE(core->memory.try_load<u16>(0x10000));
}

TEST(ElfCore, TellsWhoWroteIt) {
  auto kind = [](std::vector<u32> notes, u64 page_size) {
    ElfCoreWriter writer{.format = {8, ByteOrder::little}};
    writer.segments = {{0x10000, filled(16, 1)}};
    for (u32 type : notes)
      writer.more_notes.push_back({type, {}});
    test::FormatWriter list(writer.format);
    list.pointer(0);
    list.pointer(page_size);
    writer.more_notes.push_back({0x46494c45, list.bytes()});
    std::vector<std::byte> file = writer.write();
    return open_elf_core(file, nullptr)->dump_kind;
  };
  EXPECT_EQ(kind({3, 6}, 4096), "createdump");
  EXPECT_EQ(kind({3, 1}, 1), "gcore");
  EXPECT_EQ(kind({1, 3}, 4096), "kernel");
  EXPECT_EQ(kind({6, 3}, 4096), "");
}

// A core as gdb writes it: what cannot be accessed stands there as zeros that may be read only, and belongs to no file.
TEST(ElfCore, WhatGcoreWritesForReservedMemoryIsNoMemory) {
  for (Format format : test::all_formats)
    for (bool gcore : {true, false}) {
      SCOPED_TRACE(test::name_of(format));
      ElfCoreWriter writer{.format = format};
      std::vector<std::byte> zeros(0x2000), nearly = zeros, large(17 << 20);
      nearly.back() = std::byte{1};
      writer.segments = {{0x10000, zeros, 0, 4},
                         {0x20000, nearly, 0, 4},
                         {0x30000, zeros, 0, 6},
                         {0x40000, zeros, 0, 4},
                         {0x4000000, large, 0, 4}};
      writer.more_notes = {{3, {}}, {1, {}}};
      test::FormatWriter list(format);
      for (u64 word : {u64{1}, u64{gcore ? 1u : 4096u}, u64{0x40000}, u64{0x42000}, u64{0}})
        list.pointer(word);
      list.append(std::vector<std::byte>{std::byte{'/'}, std::byte{'f'}, std::byte{0}});
      writer.more_notes.push_back({0x46494c45, list.bytes()});
      std::vector<std::byte> file = writer.write();
      Opened core(file);
      ASSERT_TRUE(core.target) << core.error;
      EXPECT_EQ(core->memory.try_load<u8>(0x10000).has_value(), !gcore);
      EXPECT_EQ(core->memory.try_load<u8>(0x4000000).has_value(), !gcore);
      ASSERT_EQ(core->mappings.size(), 5u);
      for (u64 i : {0, 4}) {
        EXPECT_EQ(core->mappings[i].is_accessible(), !gcore);
        EXPECT_EQ(core->mappings[i].stored_end == core->mappings[i].start, gcore);
      }
      EXPECT_TRUE(core->mappings[1].is_accessible());
      for (Address kept : {0x20000, 0x30000, 0x40000})
        EXPECT_EQ(core->memory.try_load<u8>(kept), 0) << kept;
      if (gcore) {
        ASSERT_EQ(core->absent.size(), 2u);
        EXPECT_EQ(core->absent[0].end, 0x12000u);
        EXPECT_NE(core->absent[0].reason.find("reserved"), std::string::npos);
      }
    }
}

// coredump_filter without bit 1.
TEST(ElfCore, SharedMemoryThatIsMissingIsAdvisedOn) {
  for (bool missing : {true, false}) {
    ElfCoreWriter writer{.format = {8, ByteOrder::little}};
    writer.segments = {{missing ? 0x90000u : 0x10000u, filled(0x1000, 1)}};
    writer.files = {{"/memfd:doublemapper (deleted)", 0x10000, 0x12000, 0}};
    std::vector<std::byte> file = writer.write();
    Opened core(file);
    ASSERT_TRUE(core.target) << core.error;
    EXPECT_EQ(core->advice.find("coredump_filter") != std::string::npos, missing);
  }
}

TEST(ElfCore, StacksOfZerosAreNoted) {
  ElfCoreWriter writer{.format = {8, ByteOrder::little}};
  std::vector<u64> registers(27);
  registers[19] = 0x20000;
  writer.segments = {{0x10000, filled(0x1000, 1)}, {0x20000, std::vector<std::byte>(0x1000)}};
  writer.threads = {{77, registers}, {78, std::vector<u64>(27, 0x10000)}};
  std::vector<std::byte> file = writer.write();
  Opened core(file);
  ASSERT_TRUE(core.target) << core.error;
  EXPECT_TRUE(has_note(*core.target, "the stacks of 1 of 2 threads are zeros"));
}

TEST(ElfCore, OffsetsOfFilesAreInPagesOrBytes) {
  for (Format format : test::all_formats)
    for (u64 page_size : {1, 4096, 65536}) {
      SCOPED_TRACE(test::name_of(format) + " " + std::to_string(page_size));
      ElfCoreWriter writer{.format = format};
      writer.page_size = page_size;
      writer.segments = {{0x10000, filled(16, 1)}};
      writer.files = {{"/data", 0x50000, 0x60000, 0x30000}};
      std::vector<std::byte> file = writer.write();
      Opened core(file);
      ASSERT_TRUE(core.target) << core.error;
      ASSERT_EQ(core->modules.size(), 1u);
      EXPECT_EQ(core->modules[0].extents[0].file_offset, 0x30000u);
    }
}

TEST(ElfCore, BrokenHeadersAreErrorsThatSayWhere) {
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    std::vector<std::byte> file = small_core(format).write();
    EXPECT_EQ(Opened(Bytes(file).first(20)).error,
              "this ELF core is cut off inside its ELF header: the file ends at byte 20");
    EXPECT_EQ(Opened(Bytes(file).first(70)).error,
              "this ELF core is cut off inside its program headers: the file ends at byte 70");
    std::vector<std::byte> odd = file;
    odd[4] = std::byte{9};
    EXPECT_EQ(Opened(odd).error.substr(0, 55), "this ELF core has an unknown word size or byte order (b");
    ElfCoreWriter writer{.format = format};
    file = writer.write();
    EXPECT_EQ(Opened(file).error, "this ELF core has no segments: it holds no memory");
    writer.threads = {{1, {}}};
    file = writer.write();
    EXPECT_EQ(Opened(file).error, "this ELF core has no segments of memory (PT_LOAD)");
    writer.segments = {{0x1000, filled(0x1000, 1)}};
    file = writer.write();
    EXPECT_EQ(Opened(Bytes(file).first(file.size() - 0x1000)).error.substr(0, 43),
              "this ELF core is cut off before any memory:");
    writer.type = 3;
    file = writer.write();
    Opened library(file);
    EXPECT_FALSE(library.target);
    EXPECT_EQ(library.error, "") << "a library is not ours";
  }
}

// Numbers of segments that are wrong, or lie where the file no longer is: the headers themselves show where they end.
TEST(ElfCore, WrongNumbersOfSegments) {
  for (Format format : test::all_formats) {
    SCOPED_TRACE(test::name_of(format));
    bool wide = format.pointer_size == 8;
    ElfCoreWriter writer = small_core(format);
    writer.segments.push_back({0x90000, filled(0x8000, 9)});
    const std::vector<std::byte> good = writer.write();
    Opened sound(good);
    auto with = [&](u64 offset, u64 value, u64 size) {
      test::FormatWriter out(format);
      out.append(good);
      out.put_at(offset, value, size);
      return out.bytes();
    };
    const u64 count_at = wide ? 56 : 44, sections_at = wide ? 40 : 32;
    u64 segments = load<u16>(good.data() + count_at, format.byte_order);
    for (u64 wild : {segments + 1, segments + 7, u64{60000}, u64{0xfffe}}) {
      std::vector<std::byte> file = with(count_at, wild, 2);
      Opened core(file);
      ASSERT_TRUE(core.target) << core.error;
      EXPECT_EQ(core->memory.size(), sound->memory.size());
      EXPECT_EQ(core->threads.size(), sound->threads.size());
      EXPECT_TRUE(has_note(*core.target, "but has room for the headers of " + std::to_string(segments)));
    }
    // PN_XNUM, and the section header is nowhere.
    for (u64 sections : {u64{0}, u64{good.size()}, u64{0xfffffff0}}) {
      std::vector<std::byte> file = with(count_at, 0xffff, 2);
      test::FormatWriter out(format);
      out.append(file);
      out.put_at(sections_at, sections, format.pointer_size);
      file = out.bytes();
      Opened core(file);
      ASSERT_TRUE(core.target) << core.error;
      EXPECT_EQ(core->memory.size(), sound->memory.size());
      EXPECT_TRUE(has_note(*core.target, "is not in the file: " + std::to_string(segments) + " were found"));
    }
  }
}

// The kernel writes the section header last, so a cut core loses it first.
TEST(ElfCore, ManySegmentsCutOff) {
  ElfCoreWriter writer{.format = {8, ByteOrder::little}};
  writer.extended_count = true;
  for (u64 i = 0; i < 70'000; ++i)
    writer.segments.push_back({0x10000 + i * 0x1000, filled(64, 1)});
  std::vector<std::byte> file = writer.write();
  test::FormatWriter moved(writer.format);
  moved.append(file);
  moved.put_at(40, file.size(), 8); // its place, and nothing there
  file = moved.bytes();
  file.resize(file.size() - 64 * 100);
  Opened core(file);
  ASSERT_TRUE(core.target) << core.error;
  EXPECT_GE(core->memory.ranges().size(), 69'800u);
  EXPECT_TRUE(has_note(*core.target, "70,000 were found"));
}

TEST(ElfCore, CutAtEveryByteGivesATargetOrAnError) {
  for (Format format : test::all_formats)
    for (bool at_end : {false, true}) {
      ElfCoreWriter writer = small_core(format);
      writer.notes_at_end = at_end;
      std::vector<std::byte> file = writer.write();
      for (u64 size = 0; size < file.size(); ++size) {
        std::vector<std::byte> cut(file.begin(), file.begin() + static_cast<i64>(size));
        Opened core(cut);
        if (size >= 4) {
          EXPECT_TRUE(core.target || !core.error.empty()) << size;
        }
        if (core.target) {
          EXPECT_FALSE(core->notes.empty()) << "a cut is never silent: " << size;
        }
      }
    }
}

TEST(ElfCore, RandomDamageDoesNoHarm) {
  std::mt19937 random(3);
  for (Format format : test::all_formats) {
    const std::vector<std::byte> good = small_core(format).write();
    for (int round = 0; round < 2500; ++round) {
      std::vector<std::byte> file = good;
      for (u64 hits = 1 + random() % 8; hits; --hits)
        file[random() % file.size()] = static_cast<std::byte>(random() % 3 ? random() : 0xff);
      Opened core(file);
      if (!core.target)
        continue;
      for (const Range &range : core->memory.ranges())
        EXPECT_LE(range.bytes.size(), file.size());
    }
  }
}

} // namespace
} // namespace dnheap

#include "dump/minidump.h"
#include "support/damage.h"
#include "support/minidump_writer.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace dnheap {
namespace {

using test::MinidumpWriter;

std::vector<std::byte> filled(u64 size, u8 value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

MinidumpWriter small_dump() {
  MinidumpWriter out;
  out.pid = 4242;
  out.pieces = {{0x20000, filled(0x100, 1)}, {0x7ff000000000, filled(0x80, 2)}};
  std::array<u8, 16> guid;
  for (u8 i = 0; i < 16; ++i)
    guid[i] = i;
  out.modules = {{"Z:\\app\\app.exe", 0x140000000, 0x5000, 0x1111},
                 {"Z:\\app\\coreclr.dll", 0x20000, 0x3000, 0x2222, guid, {{10, 0, 1426, 52326}}}};
  out.threads = {{7, {0x30000, filled(0x40, 3)}, test::context_bytes(1232, 8, {{0x98, 0x30010}, {0xf8, 0x20010}})}};
  return out;
}

// As open_dump() calls it.
struct Opened : test::OpenedFile {
  explicit Opened(Bytes file) : OpenedFile(open_minidump, file) {}
};

using test::has_note;

TEST(Minidump, ReadsMemoryModulesAndThreads) {
  for (MinidumpWriter::List list : {MinidumpWriter::List::memory64, MinidumpWriter::List::memory})
    for (bool aligned : {false, true}) {
      SCOPED_TRACE(aligned ? "aligned rows" : "as dbgcore writes them");
      MinidumpWriter writer = small_dump();
      writer.list = list;
      writer.aligned_rows = aligned;
      std::vector<std::byte> file = writer.write();
      Opened dump(file);
      ASSERT_TRUE(dump.target) << dump.error;
      EXPECT_EQ(dump->container, "minidump");
      EXPECT_EQ(dump->os, OperatingSystem::windows);
      EXPECT_EQ(dump->architecture, Architecture::x64);
      EXPECT_EQ(dump->format(), (Format{8, ByteOrder::little}));
      EXPECT_EQ(dump->pid, 4242u);
      EXPECT_EQ(dump->program, "Z:\\app\\app.exe");
      EXPECT_EQ(dump->memory.size(), 0x1c0u);
      EXPECT_EQ(dump->memory.try_load<u8>(0x200ff), 1);
      EXPECT_EQ(dump->memory.try_load<u8>(0x7ff00000007f), 2);
      EXPECT_EQ(dump->memory.try_load<u8>(0x3003f), 3) << "stacks are memory, too";
      EXPECT_FALSE(dump->memory.try_load<u8>(0x20100));
      EXPECT_EQ(dump->memory.view(0x20000, 1).data(),
                std::search(file.data(), file.data() + file.size(), writer.pieces[0].bytes.begin(),
                            writer.pieces[0].bytes.end()))
          << "not a copy";
      ASSERT_EQ(dump->modules.size(), 2u);
      const Module &first = dump->modules[0]; // sorted by base
      EXPECT_EQ(first.path, "Z:\\app\\coreclr.dll");
      EXPECT_EQ(first.file_name(), "coreclr.dll");
      EXPECT_EQ(first.end(), 0x23000u);
      ASSERT_TRUE(first.pe && dump->modules[1].pe);
      EXPECT_EQ(first.pe->time_date_stamp, 0x2222u);
      EXPECT_EQ(first.pe->size_of_image, 0x3000u);
      EXPECT_EQ(first.pe->guid, writer.modules[1].guid);
      EXPECT_EQ(first.pe->file_version, (std::array<u16, 4>{10, 0, 1426, 52326}));
      EXPECT_FALSE(dump->modules[1].pe->guid);
      EXPECT_FALSE(dump->modules[1].pe->file_version);
      ASSERT_EQ(dump->threads.size(), 1u);
      EXPECT_EQ(dump->threads[0].id, 7u);
      EXPECT_EQ(dump->threads[0].stack_pointer, 0x30010u);
      EXPECT_EQ(dump->threads[0].instruction_pointer, 0x20010u);
      EXPECT_TRUE(dump->absent.empty());
      EXPECT_TRUE(dump->notes.empty());
    }
}

TEST(Minidump, SaysOfWhichKindItIs) {
  for (auto [flags, kind] : {std::pair{0x61826, "full"}, {0x41a25, "heap"}, {0x1005, "mini"}, {0, "mini"}}) {
    MinidumpWriter writer = small_dump();
    writer.flags = static_cast<u64>(flags);
    std::vector<std::byte> file = writer.write();
    EXPECT_EQ(Opened(file)->dump_kind, kind);
  }
}

TEST(Minidump, SaysWhenItWasTaken) {
  std::vector<std::byte> file = small_dump().write();
  const auto taken_with = [&](u8 first) {
    file[20] = std::byte{first}; // TimeDateStamp
    return Opened(file)->taken;
  };
  EXPECT_FALSE(taken_with(0));
  ASSERT_TRUE(taken_with(77));
  EXPECT_EQ(taken_with(77)->seconds, 77u);
  EXPECT_EQ(taken_with(77)->clock, TakenAt::Clock::dump);
}

TEST(Minidump, ReadsTheRegistersOfEachMachine) {
  struct Row {
    u16 processor;
    Architecture architecture;
    u64 size, word, first, count, instruction_pointer, stack_pointer;
  };
  for (Row row : {Row{9, Architecture::x64, 1232, 8, 0x78, 17, 0xf8, 0x98},
                  Row{12, Architecture::arm64, 912, 8, 0x08, 33, 0x108, 0x100},
                  Row{0x8003, Architecture::arm64, 796, 8, 0x08, 33, 0x108, 0x100},
                  Row{0, Architecture::x86, 716, 4, 0x9c, 11, 0xb8, 0xc4},
                  Row{5, Architecture::arm, 416, 4, 0x04, 16, 0x40, 0x38}}) {
    SCOPED_TRACE(row.processor);
    std::map<u64, u64> values;
    std::vector<u64> registers;
    for (u64 i = 0; i < row.count; ++i) {
      registers.push_back(1000 + i);
      values[row.first + i * row.word] = 1000 + i;
    }
    MinidumpWriter writer{.processor = row.processor};
    writer.pieces = {{0x1000, filled(16, 0)}};
    writer.threads = {{.id = 77, .context = test::context_bytes(row.size, row.word, values)},
                      {.id = 78, .context = test::context_bytes(row.first + row.word, row.word, {})}};
    std::vector<std::byte> file = writer.write();
    Opened dump(file);
    ASSERT_TRUE(dump.target) << dump.error;
    EXPECT_EQ(dump->architecture, row.architecture);
    EXPECT_EQ(dump->format().pointer_size, row.word);
    ASSERT_EQ(dump->threads.size(), 2u);
    auto value_at = [&](u64 offset) { return 1000 + (offset - row.first) / row.word; };
    EXPECT_EQ(dump->threads[0].registers, registers);
    EXPECT_EQ(dump->threads[0].instruction_pointer,
              row.instruction_pointer == 0xf8 ? dump->threads[0].registers.back() : value_at(row.instruction_pointer));
    EXPECT_EQ(dump->threads[0].stack_pointer, value_at(row.stack_pointer));
    EXPECT_TRUE(dump->threads[1].registers.empty()) << "its context is too short";
    EXPECT_EQ(dump->threads[1].stack_pointer, 0u);
  }
}

// The exception's context counts only where the thread has none of its own.
TEST(Minidump, ContextsThatTheWriterCouldNotRead) {
  auto context = [](u64 stack_pointer) { return test::context_bytes(1232, 8, {{0x98, stack_pointer}}); };
  for (u32 flags : {0u, 0x10u}) {
    MinidumpWriter writer = small_dump();
    writer.threads = {{.id = 1, .context = context(0x1111), .dump_flags = flags},
                      {.id = 2, .context = context(0x2222), .dump_flags = flags}};
    writer.exception = {1, context(0x3333)};
    std::vector<std::byte> file = writer.write();
    Opened dump(file);
    EXPECT_EQ(dump->threads[0].stack_pointer, flags ? 0x3333u : 0x1111u);
    EXPECT_EQ(dump->threads[1].stack_pointer, flags ? 0u : 0x2222u);
  }
}

// EXCEPTION_RECORD64: what was tried, and where; what debuggers stop threads by ended nothing.
TEST(Minidump, WhatItWasDumpedFor) {
  auto crash_of = [](MinidumpWriter::Exception exception, u32 platform = 2) {
    MinidumpWriter writer = small_dump();
    writer.platform = platform;
    writer.exception = std::move(exception);
    std::vector<std::byte> file = writer.write();
    return Opened(file)->crash;
  };
  std::optional<CrashSignal> crash =
      crash_of({.thread = 7, .code = 0xc0000005, .address = 0x7700, .parameters = {1, 0x10}});
  ASSERT_TRUE(crash);
  EXPECT_EQ(crash->thread, 7u);
  EXPECT_EQ(crash->number, 0xc0000005u);
  EXPECT_EQ(crash->code, 1);
  EXPECT_EQ(crash->address, 0x10u);
  crash = crash_of({.thread = 7, .code = 0xc0000005, .address = 0x7700, .parameters = {1}});
  EXPECT_FALSE(crash->code) << "it says too little";
  EXPECT_EQ(crash->address, 0x7700u);
  crash =
      crash_of({.thread = 7, .code = 0xe0434352, .address = 0x7700, .parameters = {0x80131500, 0, 0, 0, 0x7fff0000}});
  EXPECT_FALSE(crash->code);
  EXPECT_EQ(crash->address, 0x7700u);
  crash = crash_of({.thread = 7, .code = 11, .flags = 1, .address = 0x20}, 0x8201);
  EXPECT_EQ(crash->number, 11u) << "Breakpad's, of Linux";
  EXPECT_EQ(crash->code, 1);
  EXPECT_EQ(crash->address, 0x20u);
  crash = crash_of({.thread = 7, .code = 1, .flags = 1, .address = 0x20}, 0x8101);
  EXPECT_EQ(crash->number, 1u) << "Breakpad's, of macOS";
  EXPECT_FALSE(crash->code) << "KERN_INVALID_ADDRESS is not a write";
  for (u32 code : {0u, 0x80000003u, 0x80000004u, 0x80000007u})
    EXPECT_FALSE(crash_of({.thread = 7, .code = code}));
}

// Of pieces that overlap the first of the list wins; stacks come before the lists of memory.
TEST(Minidump, OverlappingPieces) {
  std::mt19937 random(3);
  for (MinidumpWriter::List list : {MinidumpWriter::List::memory64, MinidumpWriter::List::memory})
    for (int round = 0; round < 200; ++round) {
      MinidumpWriter writer;
      writer.list = list;
      std::map<Address, u8> expected;
      auto piece = [&](u8 value) {
        MinidumpWriter::Piece out{0x10000 + random() % 200, filled(random() % 60, value)};
        for (u64 i = 0; i < out.bytes.size(); ++i)
          expected.try_emplace(out.address + i, value);
        return out;
      };
      if (round % 2)
        writer.threads = {{1, piece(1)}, {2, piece(2)}};
      for (u8 value = 3; value < 15; ++value)
        writer.pieces.push_back(piece(value));
      std::vector<std::byte> file = writer.write();
      Opened dump(file);
      ASSERT_TRUE(dump.target) << dump.error;
      EXPECT_TRUE(dump->notes.empty());
      for (Address at = 0x10000; at < 0x10140; ++at) {
        auto it = expected.find(at);
        ASSERT_EQ(dump->memory.try_load<u8>(at), it == expected.end() ? std::nullopt : std::optional(it->second)) << at;
      }
    }
}

// Of a thread whose stack lies nowhere in the file the lists of memory have it, or nobody: never the file's first
// bytes.
TEST(Minidump, StacksThatTheListsOfMemoryHave) {
  for (MinidumpWriter::List list : {MinidumpWriter::List::memory64, MinidumpWriter::List::memory}) {
    MinidumpWriter writer;
    writer.list = list;
    writer.threads = {{.id = 1, .stack = {0x30000, filled(64, 1)}, .stack_is_elsewhere = true},
                      {.id = 2, .stack = {0x40000, filled(64, 2)}, .stack_is_elsewhere = true}};
    writer.pieces = {{0x2ff00, filled(0x200, 7)}};
    std::vector<std::byte> file = writer.write();
    Opened dump(file);
    ASSERT_TRUE(dump.target) << dump.error;
    EXPECT_EQ(dump->threads.size(), 2u);
    EXPECT_EQ(dump->memory.try_load<u8>(0x30000), 7);
    EXPECT_EQ(dump->memory.try_load<u8>(0x3003f), 7);
    EXPECT_EQ(dump->memory.try_load<u8>(0x40000), std::nullopt);
    EXPECT_TRUE(dump->notes.empty());
  }
}

// As dbgcore writes them for a process with a large heap: every piece a little over the one before.
TEST(Minidump, ThousandsOfFragments) {
  constexpr u64 count = 110'000, size = 48, step = 40;
  for (MinidumpWriter::List list : {MinidumpWriter::List::memory64, MinidumpWriter::List::memory}) {
    MinidumpWriter writer;
    writer.list = list;
    for (u64 i = 0; i < count; ++i) // not in the order of their addresses
      writer.pieces.push_back({0x10000 + i * 7 % count * step, filled(size, static_cast<u8>(i))});
    std::vector<std::byte> file = writer.write();
    Opened dump(file);
    ASSERT_TRUE(dump.target) << dump.error;
    EXPECT_EQ(dump->memory.size(), (count - 1) * step + size);
    EXPECT_EQ(dump->memory.try_load<u8>(0x10000), 0);
    EXPECT_EQ(dump->memory.try_load<u8>(0x10000 + 7 * step + 8), 1);
    EXPECT_TRUE(dump->notes.empty());
  }
}

TEST(Minidump, ReservedMemoryIsAbsentWithItsReason) {
  MinidumpWriter writer = small_dump();
  writer.regions = {{0x20000, 0x1000}, {0x50000, 0x8000, 0x2000}, {0x60000, 0x1000, 0x10000}};
  std::vector<std::byte> file = writer.write();
  Opened dump(file);
  ASSERT_EQ(dump->absent.size(), 1u);
  EXPECT_EQ(dump->absent[0].start, 0x50000u);
  EXPECT_EQ(dump->absent[0].end, 0x58000u);
  EXPECT_EQ(dump->absent[0].reason, "reserved, not committed");
}

TEST(Minidump, TruncatedFilesGiveWhatIsThere) {
  for (MinidumpWriter::List list : {MinidumpWriter::List::memory64, MinidumpWriter::List::memory}) {
    MinidumpWriter writer = small_dump();
    writer.list = list;
    writer.threads.clear();
    const std::vector<std::byte> whole = writer.write();
    u64 partial = 0, errors = 0;
    for (u64 size = 4; size < whole.size(); ++size) {
      SCOPED_TRACE(size);
      Opened dump(Bytes(whole).first(size));
      if (!dump.target) {
        ++errors;
        EXPECT_TRUE(dump.error.starts_with("this minidump ")) << dump.error;
        EXPECT_NE(dump.error.find("cut off"), dump.error.npos) << dump.error;
        continue;
      }
      // All but padding is told, with the bytes that are missing.
      u64 missing = 0;
      for (const AbsentRange &absent : dump->absent) {
        missing += absent.end - absent.start;
        EXPECT_EQ(absent.reason, "cut off: the file ends at byte " + std::to_string(size));
      }
      if (dump->memory.size() == 0x180)
        continue;
      ++partial;
      EXPECT_TRUE(has_note(*dump.target, "truncated: ") || has_note(*dump.target, " are in the file"));
      if (has_note(*dump.target, "pieces of memory end beyond")) {
        EXPECT_EQ(dump->advice, "copy the whole file again, or take the dump again (disk full?)");
        EXPECT_EQ(dump->memory.size() + missing, 0x180u);
      }
    }
    EXPECT_GT(partial, 0x100u);
    EXPECT_GT(errors, 0x100u);
  }
}

std::string complaint(const MinidumpWriter &writer) { return Opened(writer.write()).error; }

TEST(Minidump, WhatCannotBeRead) {
  EXPECT_FALSE(open_minidump({}, nullptr));
  std::vector<std::byte> text = filled(100, 'x');
  EXPECT_FALSE(open_minidump(text, nullptr));
  MinidumpWriter writer = small_dump();
  writer.processor = 6;
  EXPECT_EQ(complaint(writer), "this minidump is of a machine that dnheap does not know (processor architecture 6)");
  writer = small_dump();
  writer.pieces.clear();
  writer.threads.clear();
  EXPECT_EQ(complaint(writer), "this minidump holds no memory");
  std::vector<std::byte> file = small_dump().write();
  std::fill_n(file.begin() + 8, 4, std::byte{0});
  EXPECT_EQ(Opened(file).error, "this minidump has no streams: its writer did not finish");
}

TEST(Minidump, NumbersThatLie) {
  const std::vector<std::byte> good = small_dump().write();
  auto stream_at = [&](u32 type) {
    for (u64 i = 0;; ++i)
      if (load<u32>(good.data() + 32 + 12 * i, ByteOrder::little) == type)
        return u64{load<u32>(good.data() + 40 + 12 * i, ByteOrder::little)};
  };
  auto with = [&](u64 at, u64 value, u64 size) {
    test::FormatWriter out({8, ByteOrder::little});
    out.append(good);
    out.put_at(at, value, size);
    return out.bytes();
  };
  for (auto [type, what] : {std::pair{4u, "modules"}, {3u, "threads"}}) {
    std::vector<std::byte> file = with(stream_at(type), 0xffffffff, 4);
    Opened dump(file);
    ASSERT_TRUE(dump.target) << dump.error;
    EXPECT_TRUE(has_note(*dump.target, std::string(" of 4,294,967,295 ") + what + " are in the file"));
  }
  std::vector<std::byte> pieces = with(stream_at(9), ~u64{0}, 8);
  Opened many(pieces);
  ASSERT_TRUE(many.target) << many.error;
  EXPECT_TRUE(has_note(*many.target, "2 of 18,446,744,073,709,551,615 pieces of memory are in the file"));
  std::vector<std::byte> far = with(stream_at(9) + 8, ~u64{0} - 8, 8);
  Opened nowhere(far); // only the stack is left
  ASSERT_TRUE(nowhere.target) << nowhere.error;
  EXPECT_EQ(nowhere->memory.size(), 0x40u);
  EXPECT_TRUE(has_note(*nowhere.target, "2 pieces of memory end beyond the file (384 B missing)"));
  std::vector<std::byte> huge = with(stream_at(9) + 24, ~u64{0}, 8);
  Opened size(huge);
  ASSERT_TRUE(size.target) << size.error;
  EXPECT_TRUE(has_note(*size.target, "pieces of memory end beyond the file"));
  std::vector<std::byte> nameless = with(stream_at(4) + 4 + 20, 0xfffffff0, 4);
  Opened no_name(nameless);
  ASSERT_TRUE(no_name.target) << no_name.error;
  EXPECT_TRUE(no_name->modules[1].path.empty());
  std::vector<std::byte> streams = with(8, 0xffffffff, 4);
  EXPECT_TRUE(Opened(streams).target || !Opened(streams).error.empty());
}

// Every piece names the same bytes: memory that the file does not have is not claimed without bound.
TEST(Minidump, PiecesThatShareTheirBytes) {
  MinidumpWriter writer = small_dump();
  writer.list = MinidumpWriter::List::memory;
  for (u64 i = 0; i < 1000; ++i)
    writer.pieces.push_back({0x1000000 + i * 0x10000, {}});
  writer.pieces[0].bytes = filled(0x8000, 1);
  std::vector<std::byte> file = writer.write();
  test::FormatWriter out({8, ByteOrder::little});
  out.append(file);
  u64 rows = 0;
  for (u64 i = 0; rows == 0; ++i)
    if (load<u32>(file.data() + 32 + 12 * i, ByteOrder::little) == 5)
      rows = load<u32>(file.data() + 40 + 12 * i, ByteOrder::little) + 4;
  for (u64 i = 2; i < writer.pieces.size(); ++i)
    for (u64 word : {8, 12})
      out.put_at(rows + i * 16 + word, load<u32>(file.data() + rows + word, ByteOrder::little), 4);
  Opened dump(out.bytes());
  ASSERT_TRUE(dump.target) << dump.error;
  EXPECT_LE(dump->memory.size(), 16 * out.size());
  EXPECT_TRUE(has_note(*dump.target, "pieces of memory were left out: together they claim many times more bytes"));
}

TEST(Minidump, RandomDamageDoesNoHarm) {
  std::mt19937 random(17);
  for (MinidumpWriter::List list : {MinidumpWriter::List::memory64, MinidumpWriter::List::memory}) {
    MinidumpWriter writer = small_dump();
    writer.list = list;
    writer.regions = {{0x50000, 0x8000, 0x2000}};
    writer.exception = {7, test::context_bytes(1232, 8, {}), 0xc0000005, 0, 0x7700, {0, 0x10}};
    const std::vector<std::byte> good = writer.write();
    for (int round = 0; round < 5000; ++round) {
      const std::vector<std::byte> file = test::damaged(good, random);
      Opened dump(file);
      for (const Range &range : dump.target ? dump->memory.ranges() : std::span<const Range>())
        EXPECT_TRUE(range.bytes.data() >= file.data() &&
                    range.bytes.data() + range.bytes.size() <= file.data() + file.size());
    }
  }
}

} // namespace
} // namespace dnheap

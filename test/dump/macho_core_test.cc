// Mach-O cores, as createdump and lldb write them: what is read, every kind of truncation, numbers that lie.
#include "dump/macho_core.h"
#include "support/damage.h"
#include "support/macho_core_writer.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap {
namespace {

using test::has_note;
using test::MachoCoreWriter;
using test::MachoLibraryWriter;
using By = MachoCoreWriter::By;

constexpr Address library_at = 0x105000000, linker_at = 0x180000000, memory_at = 0x600000000000;

struct OpenedMacho : test::OpenedFile {
  explicit OpenedMacho(Bytes file) : OpenedFile(open_macho_core, file) {}
};

MachoCoreWriter::Segment segment_of(const Range &range, u32 protection) {
  return {range.address, {range.bytes.begin(), range.bytes.end()}, 0, protection};
}

MachoCoreWriter small_macho_core(By by, u32 cpu = macho::cpu_arm64) {
  MachoCoreWriter out{.by = by, .cpu = cpu, .pid = 4242, .linker = linker_at};
  MachoLibraryWriter library{.cpu = cpu};
  library.uuid = std::vector<u8>(16, 3);
  library.writable.resize(32);
  library.symbols = {{.name = "Descriptor", .value = MachoLibraryWriter::writable_at}};
  const std::vector<std::byte> file = library.write();
  for (const Range &range : library.mapped(file, library_at))
    out.segments.push_back(segment_of(range, range.address == library_at ? 5 : 3));
  out.segments.push_back({memory_at, std::vector<std::byte>(256, std::byte{1}), 4096});
  out.images = {{"/app/libtest.dylib", library_at}};
  const u64 sp = cpu == macho::cpu_x64 ? 7 : 31, ip = cpu == macho::cpu_x64 ? 16 : 32;
  out.threads = {{77, test::macho_state(cpu, {{sp, memory_at + 8}, {ip, library_at + 16}})},
                 {78, test::macho_state(cpu, {{sp, memory_at + 16}, {ip, library_at + 32}})}};
  return out;
}

TEST(MachoCore, ReadsMemoryImagesAndThreads) {
  for (By by : {By::createdump, By::lldb})
    for (u32 cpu : {u32{macho::cpu_x64}, u32{macho::cpu_arm64}}) {
      SCOPED_TRACE(cpu);
      const std::vector<std::byte> file = small_macho_core(by, cpu).write();
      const OpenedMacho core(file);
      ASSERT_TRUE(core.target) << core.error;
      EXPECT_EQ(core->container, "macho-core");
      EXPECT_EQ(core->dump_kind, by == By::lldb ? "lldb" : "createdump");
      EXPECT_EQ(core->os, OperatingSystem::macos);
      EXPECT_EQ(core->architecture, cpu == macho::cpu_x64 ? Architecture::x64 : Architecture::arm64);
      EXPECT_EQ(core->pid, by == By::lldb ? 0u : 4242u);
      EXPECT_EQ(core->memory.try_load<u8>(memory_at + 255), 1);
      EXPECT_FALSE(core->memory.try_load<u8>(memory_at + 256));
      ASSERT_EQ(core->absent.size(), 1u) << "of a segment that is larger in memory";
      EXPECT_EQ(core->absent[0].end, memory_at + 4096);
      const auto at = std::ranges::find(core->modules, "/app/libtest.dylib", &Module::path);
      ASSERT_NE(at, core->modules.end());
      EXPECT_EQ(at->base, library_at);
      EXPECT_EQ(at->extents.size(), 3u);
      EXPECT_EQ(std::ranges::count(core->modules, "/usr/lib/dyld", &Module::path), by == By::createdump);
      ASSERT_EQ(core->threads.size(), 2u);
      EXPECT_EQ(core->threads[0].id, 77u);
      EXPECT_EQ(core->threads[1].id, 78u);
      EXPECT_EQ(core->threads[1].stack_pointer, memory_at + 16);
      EXPECT_EQ(core->threads[1].instruction_pointer, library_at + 32);
      EXPECT_TRUE(core->notes.empty()) << core->notes[0].text;
      EXPECT_EQ(length_of_macho_core(file), file.size());
    }
}

TEST(MachoCore, RegistersComeInTheOrderOfMachineCode) {
  for (u32 cpu : {u32{macho::cpu_x64}, u32{macho::cpu_arm64}}) {
    MachoCoreWriter writer = small_macho_core(By::lldb, cpu);
    std::map<u64, u64> values;
    for (u64 i = 0; i < 33; ++i)
      if (cpu == macho::cpu_arm64 || i < 17)
        values[i] = 1000 + i;
    writer.threads = {{77, test::macho_state(cpu, values)}, {78, {1, 2}}};
    const std::vector<std::byte> file = writer.write();
    const OpenedMacho core(file);
    ASSERT_TRUE(core.target) << core.error;
    std::vector<u64> expected;
    if (cpu == macho::cpu_x64) // rax, rbx, rcx, rdx, rdi, rsi, rbp, rsp in the record
      expected = {1000, 1002, 1003, 1001, 1007, 1006, 1005, 1004, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 1015, 1016};
    else
      for (u64 i = 0; i < 33; ++i)
        expected.push_back(1000 + i);
    EXPECT_EQ(core->threads[0].registers, expected);
    EXPECT_TRUE(core->threads[1].registers.empty()) << "its record is too short";
    EXPECT_EQ(core->threads[1].id, 78u);
  }
}

// arm64's signatures lie above the bits of addresses.
TEST(MachoCore, RemovesSignaturesOfPointers) {
  constexpr u64 mark = u64{0x7a12} << 48;
  MachoCoreWriter writer = small_macho_core(By::createdump);
  writer.threads = {{77, test::macho_state(writer.cpu, {{29, memory_at | mark},
                                                        {30, library_at | mark},
                                                        {31, memory_at | mark},
                                                        {32, library_at | mark},
                                                        {0, mark}})}};
  for (By by : {By::createdump, By::lldb}) {
    writer.by = by;
    const std::vector<std::byte> file = writer.write();
    const OpenedMacho core(file);
    ASSERT_TRUE(core.target) << core.error;
    const Thread &thread = core->threads[0];
    EXPECT_EQ(thread.id, 77u);
    EXPECT_EQ(thread.stack_pointer, memory_at);
    EXPECT_EQ(thread.instruction_pointer, library_at);
    EXPECT_EQ(thread.registers[29], memory_at);
    EXPECT_EQ(thread.registers[30], library_at);
    EXPECT_EQ(thread.registers[0], mark) << "no place of code or stack";
    EXPECT_EQ(core->memory.try_load<u8>(memory_at | mark), 1);
  }
  MachoCoreWriter x64 = small_macho_core(By::createdump, macho::cpu_x64);
  const std::vector<std::byte> file = x64.write();
  EXPECT_FALSE(OpenedMacho(file)->memory.try_load<u8>(memory_at | mark));
}

TEST(MachoCore, ImagesWithoutALinkersList) {
  MachoCoreWriter writer = small_macho_core(By::createdump);
  writer.linker = 0;
  MachoLibraryWriter program{.type = macho::type_executable, .own_name = ""};
  program.read_only.resize(10);
  const std::vector<std::byte> bytes = program.write();
  // Behind another image in one mapping of code, as in the shared cache.
  std::vector<std::byte> &code = writer.segments[0].bytes;
  code.resize(0x20000);
  code.insert(code.end(), bytes.begin(), bytes.end());
  const std::vector<std::byte> file = writer.write();
  const OpenedMacho core(file);
  ASSERT_TRUE(core.target) << core.error;
  ASSERT_EQ(core->modules.size(), 2u);
  EXPECT_EQ(core->modules[0].path, "@rpath/libtest.dylib");
  EXPECT_EQ(core->modules[1].base, library_at + 0x20000);
  EXPECT_TRUE(has_note(*core.target, "the dynamic linker's list of images is not in this core"));
}

TEST(MachoCore, NotesOfLldb) {
  MachoCoreWriter writer = small_macho_core(By::lldb);
  writer.images.clear();
  test::FormatWriter binary({8, ByteOrder::little}), main({8, ByteOrder::little});
  binary.word(1);
  binary.fill_to(20);
  binary.put(library_at, 8);
  binary.put(0, 8);
  binary.text_with_nul("/app/named.dylib");
  writer.more_notes = {{"load binary", binary.bytes()}, {"unknown", {std::byte{1}}}};
  std::vector<std::byte> file = writer.write();
  ASSERT_EQ(OpenedMacho(file)->modules.size(), 1u);
  EXPECT_EQ(OpenedMacho(file)->modules[0].path, "/app/named.dylib");
  // "main bin spec" says where the linker lies, which need not be where a mapping begins.
  main.word(2);
  main.word(2);
  main.put(linker_at, 8);
  MachoCoreWriter by_linker = small_macho_core(By::createdump);
  by_linker.more_notes = {{"main bin spec", main.bytes()}};
  file = by_linker.write();
  EXPECT_EQ(OpenedMacho(file)->modules.size(), 2u);
}

TEST(MachoCore, OlderPlaceOfCreatedumpsThreads) {
  MachoCoreWriter writer = small_macho_core(By::createdump);
  writer.thread_info_at = 0x7fffffff00000000;
  const std::vector<std::byte> file = writer.write();
  const OpenedMacho core(file);
  EXPECT_EQ(core->threads[0].id, 77u);
  EXPECT_FALSE(core->memory.find(writer.thread_info_at)) << "it is none of the process's memory";
}

TEST(MachoCore, ThreadsWithoutNumbers) {
  MachoCoreWriter writer = small_macho_core(By::createdump);
  writer.thread_info_at = 0x1000; // where it is ordinary memory
  const std::vector<std::byte> file = writer.write();
  const OpenedMacho core(file);
  ASSERT_TRUE(core.target) << core.error;
  EXPECT_EQ(core->threads[0].id, 0u);
  EXPECT_EQ(core->threads[0].stack_pointer, memory_at + 8);
  EXPECT_TRUE(has_note(*core.target, "the numbers of 2 of 2 threads are not in this core"));
}

TEST(MachoCore, OtherFilesAreNotIts) {
  EXPECT_FALSE(open_macho_core({}, nullptr));
  const std::vector<std::byte> library = MachoLibraryWriter().write();
  EXPECT_FALSE(open_macho_core(library, nullptr));
  EXPECT_FALSE(length_of_macho_core(library));
  EXPECT_EQ(length_of_macho_core(Bytes(small_macho_core(By::lldb).write()).first(64)), ~u64{0});
}

std::string complaint_of(Bytes file) { return OpenedMacho(file).error; }

TEST(MachoCore, CutOff) {
  const std::vector<std::byte> file = small_macho_core(By::createdump).write();
  const Bytes all(file);
  EXPECT_EQ(complaint_of(all.first(20)), "this Mach-O core is cut off inside its header: the file ends at byte 20");
  EXPECT_EQ(complaint_of(all.first(100)),
            "this Mach-O core is cut off inside its load commands: the file ends at byte 100");
  EXPECT_EQ(complaint_of(all.first(4096)), "this Mach-O core is cut off before any memory: the file ends at byte 4096");
  for (u64 size = 4096 + 1; size < file.size(); size += 997) {
    const OpenedMacho core(all.first(size));
    ASSERT_TRUE(core.target) << core.error;
    EXPECT_TRUE(has_note(*core.target, "truncated: "));
    EXPECT_FALSE(core->absent.empty());
    EXPECT_FALSE(core->advice.empty());
  }
}

TEST(MachoCore, NumbersThatLie) {
  MachoCoreWriter writer = small_macho_core(By::createdump);
  std::vector<std::byte> file = writer.write();
  const auto with = [&](u64 at, u32 value) {
    std::vector<std::byte> out = file;
    for (unsigned i = 0; i < 4; ++i)
      out[at + i] = static_cast<std::byte>(value >> 8 * i);
    return out;
  };
  EXPECT_EQ(complaint_of(with(4, 7)), "this Mach-O core is of a processor that dnheap does not know (0x7)");
  EXPECT_TRUE(has_note(*OpenedMacho(with(16, 0xffffffff)).target,
                       "the file says that it has 4,294,967,295 load commands, but has"));
  EXPECT_EQ(complaint_of(with(20, 0xffffffff)).substr(0, 52), "this Mach-O core is cut off inside its load commands");
  EXPECT_EQ(complaint_of(with(20, 0)), "this Mach-O core has no segments of memory (LC_SEGMENT_64)");
  // A command of no length ends the list.
  EXPECT_EQ(complaint_of(with(36, 0)), "this Mach-O core has no segments of memory (LC_SEGMENT_64)");
}

// Sixty segments that all claim the same bytes of the file, and some that overlap in memory.
TEST(MachoCore, SegmentsThatShareBytesOrMemory) {
  MachoCoreWriter writer{.cpu = macho::cpu_x64};
  for (u64 i = 0; i < 60; ++i)
    writer.segments.push_back({memory_at + i * 0x10000, std::vector<std::byte>(0x1000, static_cast<std::byte>(i + 1))});
  std::vector<std::byte> file = writer.write();
  const u64 first = load<u64>(file.data() + 32 + 40, ByteOrder::little);
  for (u64 i = 1; i < 60; ++i)
    for (unsigned byte = 0; byte < 8; ++byte) {
      file[32 + i * 72 + 40 + byte] = static_cast<std::byte>(first >> 8 * byte);        // fileoff
      file[32 + i * 72 + 48 + byte] = static_cast<std::byte>(u64{0x11000} >> 8 * byte); // filesize
      file[32 + i * 72 + 32 + byte] = static_cast<std::byte>(u64{0x11000} >> 8 * byte); // vmsize
    }
  const OpenedMacho core(file);
  ASSERT_TRUE(core.target) << core.error;
  EXPECT_LE(core->memory.size(), file.size());
  EXPECT_TRUE(has_note(*core.target, "segments were left out: together they claim more bytes than the file has"));
  EXPECT_TRUE(has_note(*core.target, "segments overlap by"));
  EXPECT_EQ(core->memory.try_load<u8>(memory_at), 1);
}

TEST(MachoCore, DamageIsAnAnswerOrAnError) {
  std::mt19937 random(9);
  for (By by : {By::createdump, By::lldb}) {
    MachoCoreWriter writer = small_macho_core(by);
    const std::vector<std::byte> sound = writer.write();
    std::vector<std::byte> head(sound.begin(), sound.begin() + 2048);
    u64 opened = 0;
    for (int i = 0; i < 3000; ++i) {
      std::vector<std::byte> bytes = test::damaged(head, random), file = sound;
      std::copy(bytes.begin(), bytes.end(), file.begin());
      opened += OpenedMacho(file).target != nullptr;
    }
    EXPECT_GT(opened, 500u);
  }
}

} // namespace
} // namespace dnheap

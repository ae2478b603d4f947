#include "dump/elf_core.h"

#include "base/text.h"
#include "dump/elf_core_notes.h"
#include "image/elf_format.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

struct Machine {
  u16 number;
  Architecture architecture;
};
constexpr Machine machines[] = {
    {elf::machine_x64, Architecture::x64},       {elf::machine_x86, Architecture::x86},
    {elf::machine_arm64, Architecture::arm64},   {elf::machine_arm, Architecture::arm},
    {elf::machine_riscv, Architecture::riscv64}, {elf::machine_loongarch, Architecture::loongarch64},
    {elf::machine_s390, Architecture::s390x},    {elf::machine_ppc64, Architecture::ppc64},
};

Architecture architecture_of(u16 number) {
  for (const Machine &machine : machines)
    if (machine.number == number)
      return machine.architecture;
  return Architecture::unknown;
}

[[noreturn]] void fail_cut_off(const char *where, Bytes file) {
  throw Error(fmt::format("this ELF core is cut off inside its {}: the file ends at byte {}", where, file.size()));
}

ElfHeader read_header(Bytes file) {
  std::optional<ElfHeader> header = ElfHeader::parse(file);
  if (header)
    return *header;
  bool wide = file.size() > 4 && file[4] == std::byte{2};
  if (file.size() < (wide ? 64 : 52))
    fail_cut_off("ELF header", file);
  throw Error(fmt::format("this ELF core has an unknown word size or byte order (bytes 4 and 5 are {:02x} {:02x})",
                          static_cast<u8>(file[4]), static_cast<u8>(file[5])));
}

std::vector<ElfSegment> read_segments(const ElfHeader &header, Bytes file) {
  std::optional<u64> count = program_header_count(header, file);
  if (!count)
    fail_cut_off("section headers, which hold the number of segments,", file);
  if (*count == 0)
    throw Error("this ELF core has no segments: it holds no memory");
  // At most 2^32 headers of at most 2^16 bytes: no overflow.
  Bytes table = slice(file, header.program_headers, *count * header.program_header_size);
  if (table.empty())
    fail_cut_off("program headers", file);
  std::vector<ElfSegment> segments = parse_program_headers(table, *count, header);
  if (segments.empty())
    throw Error(fmt::format("this ELF core's program headers have {} bytes each: too small to be any",
                            header.program_header_size));
  return segments;
}

// Lays out the memory, and records what the segments promise but the file does not hold.
void read_memory(const std::vector<ElfSegment> &segments, Format format, Bytes file, Target &target) {
  std::vector<Range> ranges;
  ranges.reserve(segments.size());
  u64 loads = 0, cut = 0, cut_bytes = 0, given = 0, repeated = 0;
  for (const ElfSegment &segment : segments) {
    if (segment.type != elf::segment_load || (segment.memory_size == 0 && segment.file_size == 0))
      continue;
    ++loads;
    u64 in_file = segment.offset < file.size() ? std::min(segment.file_size, file.size() - segment.offset) : 0;
    // No writer stores two segments in the same bytes; a file that claims it could claim any amount of memory.
    if (in_file > file.size() - given) {
      ++repeated;
      target.absent.push_back({segment.address, add_clamped(segment.address, segment.memory_size),
                               "its segment shares the bytes of others"});
      continue;
    }
    if (in_file)
      ranges.push_back({segment.address, file.subspan(segment.offset, in_file)});
    given += in_file;

    Address known_end = add_clamped(segment.address, in_file);
    Address written_end = add_clamped(segment.address, segment.file_size);
    Address end = add_clamped(segment.address, segment.memory_size);
    if (known_end < written_end) {
      ++cut;
      cut_bytes = add_clamped(cut_bytes, written_end - known_end);
      target.absent.push_back({known_end, written_end, fmt::format("cut off: the file ends at byte {}", file.size())});
    }
    if (written_end < end)
      target.absent.push_back({written_end, end,
                               segment.file_size == 0 ? "not in the core (p_filesz 0)"
                                                      : "not in the core (p_filesz smaller than p_memsz)"});
  }
  if (loads == 0)
    throw Error("this ELF core has no segments of memory (PT_LOAD)");
  if (given == 0 && cut)
    throw Error(fmt::format("this ELF core is cut off before any memory: the file ends at byte {}", file.size()));
  if (cut)
    target.notes.push_back(fmt::format("truncated: {} of {} segments end beyond the file ({} missing)", count_text(cut),
                                       count_text(loads), bytes_text(cut_bytes)));
  if (repeated)
    target.notes.push_back(
        fmt::format("{} of {} segments were left out: all together claim more bytes than the file has",
                    count_text(repeated), count_text(loads)));
  std::sort(target.absent.begin(), target.absent.end(),
            [](const AbsentRange &a, const AbsentRange &b) { return a.start < b.start; });
  target.memory = Memory(format, std::move(ranges));
  if (u64 lost = given - target.memory.size())
    target.notes.push_back(
        fmt::format("segments overlap by {}: where they do, the first one counts", bytes_text(lost)));
}

} // namespace

std::unique_ptr<Target> open_elf_core(Bytes file, std::shared_ptr<const void> storage) {
  if (!has_elf_magic(file))
    return nullptr;
  ElfHeader header = read_header(file);
  if (header.type != elf::type_core)
    return nullptr;

  auto target = std::make_unique<Target>();
  target->container = "elf-core";
  target->os = OperatingSystem::linux_os;
  target->architecture = architecture_of(header.machine);
  target->storage.push_back(std::move(storage));
  std::vector<ElfSegment> segments = read_segments(header, file);
  read_memory(segments, header.format, file, *target);
  read_core_notes(header, segments, file, *target);
  return target;
}

} // namespace dnheap

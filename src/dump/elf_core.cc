#include "dump/elf_core.h"

#include "base/text.h"
#include "dump/elf_core_notes.h"
#include "dump/extracted.h"
#include "dump/machine.h"
#include "image/elf_format.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

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

// Returns how many program headers the file has room for, at most `most`. Segments' contents come after the table, so
// the first of them ends it. `until_unused`: `most` is a guess, so the first unused header ends the table.
u64 room_for_headers(const ElfHeader &header, Bytes file, u64 most, bool until_unused) {
  u64 size = header.program_header_size, end = file.size(), count = 0;
  for (u64 at = header.program_headers; count < most && at < end && size <= end - at; at += size, ++count) {
    std::vector<ElfSegment> one = parse_program_headers(file.subspan(at, size), 1, header);
    if (one.empty() || (until_unused && one[0].type == elf::segment_unused))
      break;
    if (one[0].file_size && one[0].offset > header.program_headers)
      end = std::min(end, one[0].offset);
  }
  return count;
}

std::vector<ElfSegment> read_segments(const ElfHeader &header, Bytes file, Target &target) {
  std::optional<u64> promised = program_header_count(header, file);
  bool is_lost = !promised || (*promised == 0 && header.program_header_count != 0);
  u64 count = room_for_headers(header, file, is_lost ? ~u32{0} : *promised, is_lost);
  if (promised && *promised == 0 && !is_lost)
    throw Error("this ELF core has no segments: it holds no memory");
  // At most 2^32 headers of at most 2^16 bytes: no overflow.
  Bytes table = slice(file, header.program_headers, count * header.program_header_size);
  std::vector<ElfSegment> segments = parse_program_headers(table, count, header);
  if (segments.empty() && header.program_header_size < (header.format.pointer_size == 8 ? 56 : 32))
    throw Error(fmt::format("this ELF core's program headers have {} bytes each, too few for a program header",
                            header.program_header_size));
  u64 table_end = header.program_headers + count * header.program_header_size;
  bool ends_in_table = table_end > file.size() || file.size() - table_end < header.program_header_size;
  if (is_lost && count == 0)
    fail_cut_off("section headers, which hold the number of segments,", file);
  if (count == 0 || (!is_lost && count < *promised && ends_in_table))
    fail_cut_off("program headers", file);
  if (is_lost)
    target.notes.add(Subject::dump, Effect::none,
                     fmt::format("the number of segments, which the section headers hold, is not in the file: {} "
                                 "were found",
                                 count_text(count)));
  else if (count < *promised)
    target.notes.add(Subject::dump, Effect::none,
                     fmt::format("the file says that it has {} segments, but has room for the headers of {}",
                                 count_text(*promised), count_text(count)));
  return segments;
}

bool is_zero(Bytes bytes) {
  return bytes.empty() || (bytes[0] == std::byte{} && std::equal(bytes.begin() + 1, bytes.end(), bytes.begin()));
}

// gcore also writes reserved memory that the process cannot access (PROT_NONE), gigabytes of it, as zeros in read-only
// segments without a file. Such a segment must count as missing, not read as zero. Only samples of large segments are
// checked; data between the samples would be missing from the answer, and shown as a gap.
class Reserved {
public:
  explicit Reserved(std::span<const MappedExtent> files) {
    for (const MappedExtent &file : files)
      mapped_.emplace_back(file.extent.start, file.extent.end);
    std::sort(mapped_.begin(), mapped_.end());
  }

  bool is(const ElfSegment &segment, Bytes content) const {
    if (segment.flags != elf::flag_read || content.empty() || !is_zero_throughout(content))
      return false;
    auto after = std::lower_bound(mapped_.begin(), mapped_.end(),
                                  std::pair{add_clamped(segment.address, segment.memory_size), Address{0}});
    return after == mapped_.begin() || std::prev(after)->second <= segment.address;
  }

private:
  static bool is_zero_throughout(Bytes content) {
    constexpr u64 whole = 16 << 20, sample = 4096, samples = 1024;
    if (content.size() <= whole)
      return is_zero(content);
    for (u64 at = 0, step = content.size() / samples; at + sample <= content.size(); at += step)
      if (!is_zero(content.subspan(at, sample)))
        return false;
    return is_zero(content.last(sample));
  }

  std::vector<std::pair<Address, Address>> mapped_;
};

Mapping mapping_of(const ElfSegment &segment, u64 in_file) {
  Mapping out;
  out.start = segment.address;
  out.stored_end = add_clamped(segment.address, in_file);
  out.end = std::max(out.stored_end, add_clamped(segment.address, segment.memory_size));
  out.readable = segment.flags & elf::flag_read;
  out.writable = segment.flags & elf::flag_write;
  out.executable = segment.flags & elf::flag_execute;
  return out;
}

// Lays out the memory, and records segments' parts that the file does not contain.
void read_memory(const std::vector<ElfSegment> &segments, Format format, Bytes file,
                 std::span<const MappedExtent> files, Target &target) {
  std::vector<Range> ranges;
  ranges.reserve(segments.size());
  Reserved reserved(files);
  u64 loads = 0, cut = 0, cut_bytes = 0, claimed = 0, given = 0, whole = 0, repeated = 0;
  target.mappings.reserve(segments.size());
  for (const ElfSegment &segment : segments) {
    if (segment.type != elf::segment_load || (segment.memory_size == 0 && segment.file_size == 0))
      continue;
    ++loads;
    u64 in_file = segment.offset < file.size() ? std::min(segment.file_size, file.size() - segment.offset) : 0;
    // No writer stores two segments in the same bytes; a hostile file could claim any amount of memory in this way.
    if (in_file > file.size() - claimed) {
      ++repeated;
      target.absent.push_back({segment.address, add_clamped(segment.address, segment.memory_size),
                               "its segment shares the bytes of others"});
      continue;
    }
    claimed += in_file;
    Bytes content = in_file ? file.subspan(segment.offset, in_file) : Bytes{};
    Mapping &mapping = target.mappings.emplace_back(mapping_of(segment, in_file));
    if (target.dump_kind == "gcore" && reserved.is(segment, content)) {
      target.absent.push_back({segment.address, add_clamped(segment.address, segment.memory_size),
                               "reserved, not accessible (gcore writes it as zeros)"});
      mapping.readable = false;
      mapping.stored_end = mapping.start;
      continue;
    }
    if (in_file)
      ranges.push_back({segment.address, content});
    given += in_file;
    whole = std::max(whole, add_clamped(segment.offset, segment.file_size));

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
  if (cut) {
    target.notes.add(Subject::dump, Effect::none,
                     fmt::format("truncated: {} of {} segments end beyond the file ({} missing): it has {} of {} "
                                 "bytes",
                                 count_text(cut), count_text(loads), bytes_text(cut_bytes), count_text(file.size()),
                                 count_text(whole)));
    target.advice = "the last part of a dump describes the runtime: copy the whole file again, or take the "
                    "dump again (disk full? ulimit -c?)";
  }
  if (repeated)
    target.notes.add(Subject::dump, Effect::none,
                     fmt::format("{} of {} segments were left out: together they claim more bytes than the file has",
                                 count_text(repeated), count_text(loads)));
  std::sort(target.absent.begin(), target.absent.end(),
            [](const AbsentRange &a, const AbsentRange &b) { return a.start < b.start; });
  std::stable_sort(target.mappings.begin(), target.mappings.end(),
                   [](const Mapping &a, const Mapping &b) { return a.start < b.start; });
  target.memory = Memory(format, std::move(ranges));
  if (target.architecture == Architecture::arm64)
    target.memory.ignore_top_byte();
  if (u64 lost = given - target.memory.size())
    target.notes.add(Subject::dump, Effect::none,
                     fmt::format("segments overlap by {}: where they do, the first one counts", bytes_text(lost)));
}

// At a stack with a lightweight guard page (kernel 6.13 and later) gcore stops reading and writes zeros for the rest of
// the stack.
void note_lost_stacks(Target &target) {
  // Bytes from the stack pointer on: they hold return addresses if the thread is in a system call.
  constexpr u64 looked_at = 512;
  u64 lost = 0;
  for (const Thread &thread : target.threads) {
    Bytes top = target.memory.view(thread.stack_pointer, looked_at);
    lost += !top.empty() && is_zero(top);
  }
  if (lost)
    target.notes.add(Subject::dump, Effect::none,
                     fmt::format("the stacks of {} of {} threads are zeros, so the objects they hold are unknown{}",
                                 lost, target.threads.size(),
                                 target.dump_kind == "gcore" ? ": gcore could not read them; take a dump with "
                                                               "createdump, or let the kernel write the core"
                                                             : ""));
}

// The runtime maps the memory for its types and code twice, through a file that exists in memory only. The kernel and
// gdb omit it from cores unless they are set to write shared memory.
void advise_on_shared_memory(Target &target) {
  u64 size = 0, known = 0;
  for (const Module &module : target.modules)
    if (module.path.find("/memfd:doublemapper") == 0)
      for (const Extent &extent : module.extents) {
        size += extent.end - extent.start;
        known += target.memory.known_bytes(extent.start, extent.end);
      }
  if (size && known == 0 && target.advice.empty())
    target.advice = "the core lacks shared memory, in which the runtime keeps its types: write 0x33 into "
                    "/proc/PID/coredump_filter before the next core is taken, or use createdump --full";
}

// For extracted cores: replaces everything in `target` except memory by the description of the original dump. Returns
// false if this is not an extracted core.
bool read_description(CoreNotes &notes, Target &target) {
  if (notes.description.empty())
    return false;
  const Notes own_notes = target.notes;
  std::vector<AbsentRange> own_absent = target.absent;
  std::string own_advice = target.advice;
  try {
    extracted::apply_description(notes.description, target);
  } catch (const Error &e) {
    target.notes.add(
        Subject::dump, Effect::none,
        fmt::format("this core was extracted by dnheap, but its description of the dump cannot be read: {}",
                    printable(e.what(), 200)));
    return false;
  }
  target.notes.add_all(own_notes);
  target.absent.insert(target.absent.end(), own_absent.begin(), own_absent.end());
  std::sort(target.absent.begin(), target.absent.end(),
            [](const AbsentRange &a, const AbsentRange &b) { return a.start < b.start; });
  if (!own_advice.empty())
    target.advice = own_advice;
  target.initial = Memory(target.format(), std::move(notes.initial));
  return true;
}

} // namespace

std::optional<u64> length_of_elf(Bytes first) {
  if (!has_elf_magic(first))
    return std::nullopt;
  constexpr u64 unknown = ~u64{0};
  const std::optional<ElfHeader> header = ElfHeader::parse(first);
  const std::optional<u64> count = header ? program_header_count(*header, first) : std::nullopt;
  if (!count || *count == 0 || *count > ~u32{0})
    return unknown;
  const Bytes table = slice(first, header->program_headers, *count * header->program_header_size);
  const std::vector<ElfSegment> segments = parse_program_headers(table, *count, *header);
  if (segments.size() < *count)
    return unknown;
  u64 end = std::max(header->program_headers, header->section_headers); // a table's end is within the slack
  for (const ElfSegment &segment : segments)
    end = std::max(end, add_clamped(segment.offset, segment.file_size));
  return end;
}

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
  std::vector<ElfSegment> segments = read_segments(header, file, *target);
  CoreNotes notes = read_core_notes(header, segments, file, *target);
  read_memory(segments, header.format, file, notes.files, *target);
  if (read_description(notes, *target))
    return target;
  target->modules = group_into_modules(std::move(notes.files), target->memory);
  note_lost_stacks(*target);
  advise_on_shared_memory(*target);
  return target;
}

} // namespace dnheap

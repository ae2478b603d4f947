#include "dump/macho_core.h"

#include "base/text.h"
#include "dump/macho_core_notes.h"
#include "dump/macho_modules.h"
#include "dump/macho_threads.h"
#include "image/macho_format.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr Format macho_core_format{8, ByteOrder::little};
// The bits of a program's addresses on macOS: those above are tags and signatures of pointers on arm64.
constexpr u32 macos_address_bits = 47, fewest_address_bits = 36, most_address_bits = 56;

class MachoCoreReader {
public:
  MachoCoreReader(const MachoHeader &header, Bytes file, Target &target)
      : header_(header), file_(file), target_(target) {}

  void read() {
    target_.architecture = macho_architecture(header_.cpu);
    if (target_.architecture == Architecture::unknown)
      throw Error(fmt::format("this Mach-O core is of a processor that dnheap does not know ({:#x})", header_.cpu));
    read_commands();
    lay_out_memory();
    finish_threads();
    find_macho_modules(notes_, target_);
  }

private:
  void read_commands() {
    Bytes commands = slice(file_, MachoHeader::size, header_.commands_size);
    if (header_.commands_size && commands.empty())
      throw Error(fmt::format("this Mach-O core is cut off inside its load commands: the file ends at byte {}",
                              count_text(file_.size())));
    u64 seen = 0;
    for (; const std::optional<MachoCommand> command = next_command(commands); ++seen)
      read_command(*command);
    if (seen != header_.command_count)
      target_.notes.add(Subject::dump, Effect::none,
                        fmt::format("the file says that it has {} load commands, but has {}",
                                    count_text(u64{header_.command_count}), count_text(seen)));
  }

  void read_command(const MachoCommand &command) {
    if (command.kind == macho::command_thread)
      target_.threads.push_back(read_macho_thread(header_.cpu, command.content.subspan(8)));
    else if (command.kind == macho::command_note)
      read_note(command.content);
    else if (command.kind == macho::command_segment)
      if (const std::optional<MachoSegment> segment = parse_macho_segment(command.content))
        read_segment(*segment);
  }

  // 16 bytes of name, u64 place, u64 size.
  void read_note(Bytes command) {
    const std::optional<u64> place = load_at<u64>(command, 24, ByteOrder::little),
                             size = load_at<u64>(command, 32, ByteOrder::little);
    if (place && size)
      read_macho_note(text_at(command, 8, 16), slice(file_, *place, *size), file_, notes_);
  }

  // Returns the segment's bytes as far as the file has them.
  Bytes content_of(const MachoSegment &segment) {
    const u64 there = segment.offset < file_.size() ? std::min(segment.file_size, file_.size() - segment.offset) : 0;
    return file_.subspan(there ? segment.offset : 0, there);
  }

  void read_segment(const MachoSegment &segment) {
    const Bytes content = content_of(segment);
    const Address known = add_clamped(segment.address, content.size()),
                  written = add_clamped(segment.address, segment.file_size),
                  end = std::max(written, add_clamped(segment.address, segment.memory_size));
    if (content.size() > file_.size() - claimed_) { // no writer stores two segments in the same bytes
      ++repeated_;
      return target_.absent.push_back({segment.address, end, "its segment shares the bytes of others"});
    }
    claimed_ += content.size();
    if (MachoThreadInfo::is(segment.address, content)) {
      thread_info_ = content;
      return;
    }
    if (segment.address == end)
      return;
    if (!content.empty())
      ranges_.push_back({segment.address, content});
    target_.mappings.push_back({segment.address, end, known, (segment.protection & macho::protection_read) != 0,
                                segment.is_writable(), (segment.protection & macho::protection_execute) != 0});
    whole_ = std::max(whole_, add_clamped(segment.offset, segment.file_size));
    if (known < written) {
      ++cut_;
      target_.absent.push_back({known, written, fmt::format("cut off: the file ends at byte {}", file_.size())});
    }
    if (written < end)
      target_.absent.push_back({written, end, "not in the core (filesize smaller than vmsize)"});
  }

  void describe_gaps() {
    if (ranges_.empty())
      throw Error(
          cut_ ? fmt::format("this Mach-O core is cut off before any memory: the file ends at byte {}", file_.size())
               : std::string("this Mach-O core has no segments of memory (LC_SEGMENT_64)"));
    if (cut_) {
      target_.notes.add(Subject::dump, Effect::none,
                        fmt::format("truncated: {} of {} segments end beyond the file: it has {} of {} bytes",
                                    count_text(cut_), count_text(target_.mappings.size()), count_text(file_.size()),
                                    count_text(whole_)));
      target_.advice = "copy the whole file again, or take the dump again (disk full?)";
    }
    if (repeated_)
      target_.notes.add(Subject::dump, Effect::none,
                        fmt::format("{} segments were left out: together they claim more bytes than the file has",
                                    count_text(repeated_)));
  }

  void lay_out_memory() {
    describe_gaps();
    const u32 said = notes_.address_bits.value_or(0);
    if (said >= fewest_address_bits && said <= most_address_bits)
      address_bits_ = said;
    u64 given = 0;
    for (const Range &range : ranges_) {
      given += range.bytes.size();
      address_bits_ = std::max(address_bits_, static_cast<u32>(std::bit_width(range.end() - 1)));
    }
    std::ranges::stable_sort(target_.absent, {}, &AbsentRange::start);
    std::ranges::stable_sort(target_.mappings, {}, &Mapping::start);
    target_.memory = Memory(macho_core_format, std::move(ranges_));
    if (const u64 lost = given - target_.memory.size())
      target_.notes.add(Subject::dump, Effect::none,
                        fmt::format("segments overlap by {}: where they do, the first one counts", bytes_text(lost)));
    if (target_.architecture == Architecture::arm64)
      target_.memory.keep_address_bits(address_bits_);
  }

  // Returns 0 if nothing says it.
  u64 number_of(u64 index) const {
    if (const std::optional<MachoThreadInfo::Row> row = MachoThreadInfo::row(thread_info_, index))
      return without_signature(row->stack_pointer, address_bits_) == target_.threads[index].stack_pointer ? row->number
                                                                                                          : 0;
    return notes_.threads.size() == target_.threads.size() ? notes_.threads[index] : 0;
  }

  void finish_threads() {
    target_.dump_kind = !thread_info_.empty() ? "createdump" : notes_.any ? "lldb" : "";
    target_.pid = MachoThreadInfo::pid(thread_info_).value_or(0);
    u64 unnamed = 0;
    for (u64 i = 0; i < target_.threads.size(); ++i) {
      Thread &thread = target_.threads[i];
      strip_signatures(thread, target_.architecture, address_bits_);
      thread.id = number_of(i);
      unnamed += thread.id == 0;
    }
    if (unnamed)
      target_.notes.add(Subject::threads, Effect::none,
                        fmt::format("the numbers of {} of {} threads are not in this core", count_text(unnamed),
                                    count_text(target_.threads.size())));
  }

  const MachoHeader header_;
  const Bytes file_;
  Target &target_;
  MachoCoreNotes notes_;
  std::vector<Range> ranges_;
  Bytes thread_info_;
  u32 address_bits_ = macos_address_bits;
  u64 claimed_ = 0, cut_ = 0, repeated_ = 0, whole_ = 0;
};

bool is_macho_core(Bytes file) {
  return has_macho_magic(file) && load_at<u32>(file, 12, ByteOrder::little) == u32{macho::type_core};
}

} // namespace

std::optional<u64> length_of_macho_core(Bytes first) {
  if (!is_macho_core(first))
    return std::nullopt;
  constexpr u64 unknown = ~u64{0};
  const std::optional<MachoHeader> header = MachoHeader::parse(first);
  Bytes commands = header ? slice(first, MachoHeader::size, header->commands_size) : Bytes();
  if (commands.empty())
    return unknown;
  u64 end = MachoHeader::size + header->commands_size;
  while (const std::optional<MachoCommand> command = next_command(commands))
    if (command->kind == macho::command_segment)
      if (const std::optional<MachoSegment> segment = parse_macho_segment(command->content))
        end = std::max(end, add_clamped(segment->offset, segment->file_size));
  return end;
}

std::unique_ptr<Target> open_macho_core(Bytes file, std::shared_ptr<const void> storage) {
  if (!is_macho_core(file))
    return nullptr;
  const std::optional<MachoHeader> header = MachoHeader::parse(file);
  if (!header)
    throw Error(fmt::format("this Mach-O core is cut off inside its header: the file ends at byte {}", file.size()));
  auto target = std::make_unique<Target>();
  target->container = "macho-core";
  target->os = OperatingSystem::macos;
  target->storage.push_back(std::move(storage));
  MachoCoreReader(*header, file, *target).read();
  return target;
}

} // namespace dnheap

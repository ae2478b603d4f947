#include "dump/core_writer.h"

#include "dump/elf_core_notes.h"
#include "dump/extracted.h"
#include "dump/machine.h"
#include "image/elf_format.h"

#include <algorithm>
#include <utility>

namespace dnheap {

namespace {

constexpr u64 page = 4096;

class CoreFront {
public:
  explicit CoreFront(const Target &target)
      : target_(target), format_(target.format()), machine_(machine_number(target.architecture)) {}

  std::vector<std::byte> write(std::span<const CoreSegment> segments, std::span<const Range> initial) {
    const bool wide = format_.pointer_size == 8;
    const u64 header_size = wide ? 64 : 52, entry_size = wide ? 56 : 32, section_size = wide ? 64 : 40;
    const u64 count = segments.size() + 1;
    const bool many = count >= 0xffff; // PN_XNUM: section 0 then holds the number
    const std::vector<std::byte> notes = this->notes(initial);
    const u64 sections_at = header_size, entries_at = header_size + (many ? section_size : 0),
              notes_at = align_up(entries_at + count * entry_size, 8),
              content_at = align_up(notes_at + notes.size(), page);

    text("\x7f"
         "ELF");
    put(wide ? 2 : 1, 1);
    put(format_.byte_order == ByteOrder::little ? 1 : 2, 1);
    put(1, 1);
    fill_to(16);
    put(elf::type_core, 2);
    put(machine_, 2);
    put(1, 4);
    word(0);
    word(entries_at);
    word(many ? sections_at : 0);
    put(0, 4);
    put(header_size, 2);
    put(entry_size, 2);
    put(many ? 0xffff : count, 2);
    put(section_size, 2);
    put(many ? 1 : 0, 2);
    put(0, 2);
    if (many) { // section 0 is all zero except sh_info
      fill_to(sections_at + (wide ? 44 : 28));
      put(count, 4);
      fill_to(entries_at);
    }
    entry(elf::segment_note, 0, notes_at, 0, notes.size(), 4);
    u64 at = content_at;
    for (const CoreSegment &segment : segments) {
      entry(elf::segment_load, elf::flag_read | elf::flag_write, at, segment.address, segment.size, 1);
      at += segment.size;
    }
    fill_to(notes_at);
    append(notes);
    fill_to(content_at);
    return std::move(out_);
  }

private:
  void put(u64 value, u64 size) {
    for (u64 i = 0; i < size; ++i) {
      u64 shift = 8 * (format_.byte_order == ByteOrder::little ? i : size - 1 - i);
      out_.push_back(static_cast<std::byte>(shift < 64 ? value >> shift : 0));
    }
  }
  void word(u64 value) { put(value, format_.pointer_size); }
  void append(Bytes bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void text(std::string_view text) { append({reinterpret_cast<const std::byte *>(text.data()), text.size()}); }
  void fill_to(u64 size) { out_.resize(std::max<u64>(size, out_.size())); }

  void entry(u32 type, u32 flags, u64 offset, Address address, u64 size, u64 alignment) {
    const bool wide = format_.pointer_size == 8;
    put(type, 4);
    if (wide)
      put(flags, 4);
    word(offset);
    word(address);
    word(0);
    word(size);
    word(type == elf::segment_load ? size : 0);
    if (!wide)
      put(flags, 4);
    word(alignment);
  }

  void note(std::string_view owner, u32 type, Bytes content) {
    put(owner.size() + 1, 4);
    put(content.size(), 4);
    put(type, 4);
    text(owner);
    fill_to(align_up(out_.size() + 1, 4));
    append(content);
    fill_to(align_up(out_.size(), 4));
  }
  // Adds one note; `write` writes its content.
  template <class Write> void note_of(std::string_view owner, u32 type, Write write) {
    std::vector<std::byte> before = std::move(out_);
    out_.clear();
    write();
    std::vector<std::byte> content = std::move(out_);
    out_ = std::move(before);
    note(owner, type, content);
  }

  std::vector<std::byte> notes(std::span<const Range> initial) {
    if (target_.os == OperatingSystem::linux_os)
      linux_notes();
    const std::string description = extracted::description(target_);
    note(extracted::owner, extracted::note_description,
         {reinterpret_cast<const std::byte *>(description.data()), description.size()});
    for (const Range &range : initial)
      note_of(extracted::owner, extracted::note_initial, [&] {
        put(range.address, 8);
        append(range.bytes);
      });
    return std::exchange(out_, {});
  }

  void linux_notes() {
    note_of("CORE", note_prpsinfo, [&] { put_program(); });
    const std::optional<u64> registers = register_count(machine_, format_);
    for (const Thread &thread : target_.threads)
      if (thread.registers.size() == registers)
        note_of("CORE", note_prstatus, [&] { put_thread(thread); });
    note_of("CORE", note_auxv, [&] {
      for (auto [type, value] : target_.auxv)
        word(type), word(value);
      word(0), word(0);
    });
    note_of("CORE", note_file, [&] { put_files(); });
  }

  void put_program() {
    constexpr u64 name_size = 16, arguments_size = 80;
    const u64 pid_at = format_.pointer_size == 8 ? 24 : 12, name_at = pid_at + 16;
    fill_to(pid_at);
    put(target_.pid, 4);
    fill_to(name_at);
    std::string_view arguments = target_.program, name = arguments.substr(0, arguments.find(' '));
    text(name.substr(name.find_last_of('/') + 1).substr(0, name_size - 1));
    fill_to(name_at + name_size);
    text(arguments.substr(0, arguments_size - 1));
    fill_to(name_at + name_size + arguments_size);
  }

  void put_thread(const Thread &thread) {
    if (const std::optional<CrashSignal> &crash = target_.crash; crash && crash->thread == thread.id) {
      put(crash->number, 4);
      put(static_cast<u32>(crash->code.value_or(0)), 4);
      put(0, 4);
      put(crash->number, 2);
    }
    fill_to(format_.pointer_size == 8 ? 32 : 24);
    put(thread.id, 4);
    fill_to(registers_in_status(format_));
    for (u64 value : thread.registers)
      word(value);
    word(0);
  }

  void put_files() {
    u64 count = 0;
    for (const Module &module : target_.modules)
      count += module.extents.size();
    word(count);
    word(1); // offsets in bytes
    for (const Module &module : target_.modules)
      for (const Extent &extent : module.extents)
        word(extent.start), word(extent.end), word(extent.file_offset);
    for (const Module &module : target_.modules)
      for (u64 i = 0; i < module.extents.size(); ++i) {
        text(module.path);
        put(0, 1);
      }
  }

  const Target &target_;
  const Format format_;
  const u16 machine_;
  std::vector<std::byte> out_;
};

} // namespace

std::vector<std::byte> core_front(const Target &target, std::span<const CoreSegment> segments,
                                  std::span<const Range> initial) {
  return CoreFront(target).write(segments, initial);
}

} // namespace dnheap

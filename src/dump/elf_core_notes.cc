#include "dump/elf_core_notes.h"

#include "dump/extracted.h"
#include "dump/machine.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 most_notes = 65536;
constexpr u64 most_files = 1 << 20; // sixteen times the kernel's default limit for mappings
constexpr u64 most_auxv = 1024;

// True for Linux's signals that end a process unless the process handles them. False for signals that stop or continue
// a process, or only notify it. Their numbers are the same on all processors that dnheap supports.
bool ends_processes(u32 signal) {
  constexpr u32 others[] = {17, 18, 19, 20, 21, 22, 23, 28}; // SIGCHLD … SIGURG, SIGWINCH
  return signal >= 1 && signal <= 64 && std::find(std::begin(others), std::end(others), signal) == std::end(others);
}
bool has_fault_address(u32 signal) { return signal == 4 || signal == 7 || signal == 8 || signal == 11; }

class NoteReader {
public:
  NoteReader(const ElfHeader &header, Target &target)
      : format_(header.format), machine_(header.machine), target_(target) {}

  void read(const ElfNote &note) {
    if (note.owner == extracted::owner)
      return read_own(note);
    if (note.owner != "CORE")
      return;
    if (order_.size() < 2)
      order_.push_back(note.type);
    switch (note.type) {
    case note_prstatus: return read_thread(note.content);
    case note_prpsinfo: return read_program(note.content);
    case note_auxv: return read_auxv(note.content);
    case note_file: return read_files(note.content);
    case note_siginfo: return read_signal(note.content);
    }
  }

  CoreNotes finish() {
    target_.dump_kind = writer();
    constexpr u32 trap = 5; // gdb stops threads with it
    if (target_.crash && target_.crash->number == trap && target_.dump_kind == "gcore")
      target_.crash.reset();
    if (too_many_files_)
      target_.notes.add(Subject::dump, Effect::none,
                        fmt::format("only the first {} mapped files were read", most_files));
    return {std::move(files_), description_, std::move(initial_)};
  }

private:
  bool wide() const { return format_.pointer_size == 8; }
  std::optional<u64> word(Bytes from, u64 offset) const {
    Bytes at = slice(from, offset, format_.pointer_size);
    return at.empty() ? std::nullopt : std::optional(load_pointer(at.data(), format_));
  }

  void read_own(const ElfNote &note) {
    if (note.type == extracted::note_description)
      description_ = note.content;
    else if (std::optional<u64> address = load_at<u64>(note.content, 0, format_.byte_order);
             address && note.type == extracted::note_initial)
      initial_.push_back({*address, note.content.subspan(sizeof *address)});
  }

  void read_thread(Bytes status) {
    std::optional<u32> id = load_at<u32>(status, wide() ? 32 : 24, format_.byte_order);
    if (!id)
      return;
    Thread thread;
    thread.id = *id;
    u64 at = registers_in_status(format_);
    read_registers(thread, status.subspan(std::min<u64>(at, status.size())), machine_, format_);
    target_.threads.push_back(std::move(thread));
    // struct elf_siginfo {number, code, errno}, and pr_cursig. The kernel writes the same signal for all threads; the
    // first thread is the one that received it.
    u32 signal = load_at<u32>(status, 0, format_.byte_order).value_or(0);
    if (!signal)
      signal = load_at<u16>(status, 12, format_.byte_order).value_or(0);
    if (!target_.crash && signal && ends_processes(signal))
      target_.crash = CrashSignal{.thread = *id, .number = signal};
  }

  // siginfo_t of the previous thread: {number, errno, code}, then the address if the processor detected the fault, or
  // the process that sent the signal.
  void read_signal(Bytes info) {
    const std::optional<u32> number = load_at<u32>(info, 0, format_.byte_order),
                             code = load_at<u32>(info, 8, format_.byte_order);
    if (target_.threads.empty() || !number || !code || !ends_processes(*number))
      return;
    const u64 thread = target_.threads.back().id;
    if (target_.crash && (target_.crash->thread != thread || target_.crash->number != *number))
      return;
    constexpr i32 of_kernel = 0x80; // sent by the kernel: has no address
    constexpr i32 by_kill = 0, by_queue = -1, by_tkill = -6;
    CrashSignal signal{.thread = thread, .number = *number, .code = static_cast<i32>(*code)};
    if (*signal.code > 0 && *signal.code < of_kernel && has_fault_address(*number))
      signal.address = word(info, wide() ? 16 : 12);
    if (*signal.code == by_kill || *signal.code == by_queue || *signal.code == by_tkill)
      signal.sender = load_at<u32>(info, wide() ? 16 : 12, format_.byte_order).value_or(0);
    target_.crash = signal;
  }

  // struct elf_prpsinfo. On 32 bit, user and group ids have two bytes on old architectures, four on the others.
  void read_program(Bytes info) {
    constexpr u64 size_with_short_ids = 124, name_size = 16, arguments_size = 80;
    u64 pid_at = wide() ? 24 : info.size() <= size_with_short_ids ? 12 : 16;
    u64 name_at = pid_at + 16; // pid, ppid, pgrp, sid
    if (std::optional<u32> pid = load_at<u32>(info, pid_at, format_.byte_order))
      target_.pid = *pid;
    std::string_view arguments = text_at(info, name_at + name_size, arguments_size);
    while (arguments.ends_with(' '))
      arguments.remove_suffix(1);
    target_.program = arguments.empty() ? text_at(info, name_at, name_size) : arguments;
  }

  void read_auxv(Bytes vector) {
    for (u64 at = 0;; at += 2 * format_.pointer_size) {
      std::optional<u64> type = word(vector, at), value = word(vector, at + format_.pointer_size);
      if (!type || !value || *type == 0 || target_.auxv.size() >= most_auxv)
        return;
      target_.auxv[*type] = *value;
    }
  }

  // Layout: count, unit of the offsets, count * {start, end, offset}, then as many paths, each ended by a NUL.
  void read_files(Bytes note) {
    u64 size = format_.pointer_size;
    std::optional<u64> count = word(note, 0), unit = word(note, size);
    if (!count || !unit)
      return;
    offset_unit_ = *unit;
    *count = std::min<u64>(*count, note.size() / (3 * size));
    if (*count > most_files - files_.size()) { // several notes may share the same bytes of the file
      *count = most_files - files_.size();
      too_many_files_ = true;
    }
    u64 paths = 2 * size + *count * 3 * size;
    for (u64 i = 0; i < *count && paths < note.size(); ++i) {
      u64 entry = 2 * size + i * 3 * size;
      std::string_view path = text_at(note, paths, note.size());
      paths += path.size() + 1;
      Extent extent{*word(note, entry), *word(note, entry + size), *word(note, entry + 2 * size) * *unit};
      if (extent.start < extent.end)
        files_.push_back({path, extent});
    }
  }

  // Each writer has its own order of notes, and only gdb counts NT_FILE's offsets in bytes.
  std::string writer() const {
    if (order_ == std::vector<u32>{note_prpsinfo, note_auxv})
      return "createdump";
    if (order_ == std::vector<u32>{note_prpsinfo, note_prstatus} && offset_unit_ == 1)
      return "gcore";
    if (order_ == std::vector<u32>{note_prstatus, note_prpsinfo} && offset_unit_ > 1)
      return "kernel";
    return "";
  }

  const Format format_;
  const u16 machine_;
  Target &target_;
  std::vector<MappedExtent> files_;
  Bytes description_;
  std::vector<Range> initial_;
  std::vector<u32> order_; // types of the first two notes
  u64 offset_unit_ = 0;
  bool too_many_files_ = false;
};

} // namespace

CoreNotes read_core_notes(const ElfHeader &header, const std::vector<ElfSegment> &segments, Bytes file,
                          Target &target) {
  NoteReader reader(header, target);
  u64 left = most_notes;
  bool cut = false;
  for (const ElfSegment &segment : segments) {
    if (segment.type != elf::segment_note)
      continue;
    u64 in_file = segment.offset < file.size() ? std::min(segment.file_size, file.size() - segment.offset) : 0;
    cut |= in_file < segment.file_size;
    Bytes notes = in_file ? file.subspan(segment.offset, in_file) : Bytes{};
    for (; left; --left) {
      std::optional<ElfNote> note = next_note(notes, segment.alignment, header.format.byte_order);
      if (!note)
        break;
      reader.read(*note);
    }
  }
  if (cut)
    target.notes.add(Subject::dump, Effect::none,
                     "truncated: the file ends before its ELF notes do, so threads or modules are missing");
  if (left == 0)
    target.notes.add(Subject::dump, Effect::none, fmt::format("only the first {} notes were read", most_notes));
  return reader.finish();
}

} // namespace dnheap

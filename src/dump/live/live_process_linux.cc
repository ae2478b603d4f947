#include "base/digits.h"
#include "base/host/file_time.h"
#include "base/process/process_identity.h"
#include "base/text.h"
#include "dump/live/live_process.h"
#include "dump/live/process_maps.h"
#include "dump/machine.h"
#include "dump/modules.h"
#include "image/elf_format.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

// Returns the last number of "NSpid:\t1234\t17": the thread's id inside the process's own namespace.
u64 own_thread_id(u64 pid, u64 id) {
  std::string status = process_text(pid, "task/" + std::to_string(id) + "/status").value_or("");
  std::size_t at = status.find("\nNSpid:");
  if (at == std::string::npos)
    return id;
  std::string_view line = std::string_view(status).substr(at + 7);
  line = line.substr(0, line.find('\n'));
  u64 last = id;
  for (std::string_view word; !(word = next_word(line)).empty();)
    last = number_of_digits(word, 10).value_or(last);
  return last;
}

// Returns the ticks that the process counts now; nullopt if it has a time namespace of its own, with other ticks.
std::optional<u64> ticks_of(u64 pid) {
  constexpr u64 longest = 1024;
  const std::string offsets = process_text(pid, "timens_offsets", longest).value_or("");
  return offsets.find_first_of("123456789") == offsets.npos ? std::optional(ticks_now()) : std::nullopt;
}

} // namespace

void LiveProcess::read_identity(u64 pid) {
  target_->os = OperatingSystem::linux_os;
  target_->file_root = root_folder_of(pid);
  target_->taken->ticks = ticks_of(pid);
  std::string program = process_text(pid, "exe", ElfHeader::largest).value_or("").substr(0, ElfHeader::largest);
  std::optional<ElfHeader> header = ElfHeader::parse(std::as_bytes(std::span(program)));
  if (!header)
    throw Error("process " + std::to_string(pid) +
                " has no program that can be read: a kernel thread, or it has ended");
  machine_ = header->machine;
  target_->architecture = architecture_of(machine_);
  const Format format = header->format;
  target_->memory = Memory(format, {});
  target_->program = command_line_of(pid);
  std::string auxv = process_text(pid, "auxv").value_or("");
  const Bytes bytes = std::as_bytes(std::span(auxv));
  for (u64 at = 0; at + 2 * format.pointer_size <= bytes.size(); at += 2 * format.pointer_size)
    if (u64 type = load_pointer(bytes.data() + at, format))
      target_->auxv[type] = load_pointer(bytes.data() + at + format.pointer_size, format);
}

void LiveProcess::read_maps(u64 pid, const std::string &temp_dir) {
  std::optional<std::string> text = process_text(pid, "maps");
  if (!text || text->empty())
    throw Error("process " + std::to_string(pid) + " has ended, or its memory map cannot be read");
  std::vector<LiveMemory::Stretch> stretches;
  std::vector<MappedExtent> files;
  const ProcessFiles readable(pid);
  std::map<std::string, bool> is_there;
  std::vector<ProcessMapping> mappings = parse_process_maps(*text);
  for (ProcessMapping &mapping : mappings) {
    if (mapping.path.starts_with(readable.prefix()) && mapping.path.substr(readable.prefix().size()).starts_with('/'))
      mapping.path.remove_prefix(readable.prefix().size());
    const bool is_file = mapping.path.starts_with('/');
    if (mapping.writable)
      changing_.emplace_back(mapping.start, mapping.end);
    // Memory that the runtime maps twice, writable and executable, has a path as if it were a module.
    const bool is_memory = mapping.path.starts_with("/memfd:doublemapper");
    // Reading a device may have side effects, and the kernel's own pages contain nothing useful.
    const bool is_special = mapping.path.starts_with("/dev/") && !mapping.path.starts_with("/dev/shm/") &&
                            !mapping.path.starts_with("/dev/zero");
    if (is_file && !is_memory)
      files.push_back({mapping.path, {mapping.start, mapping.end, mapping.file_offset}});
    target_->mappings.push_back({mapping.start, mapping.end, mapping.end, mapping.readable, mapping.writable,
                                 mapping.executable, mapping.is_shared, std::string(mapping.path)});
    if (!mapping.readable || is_special || mapping.path.starts_with("[v"))
      continue;
    LiveMemory::Stretch stretch{mapping.start, mapping.end, {}, mapping.file_offset, !is_file};
    if (is_file) { // else a file without a name any more, or shared memory
      MappedPath path{std::string(mapping.path), mapping.device, mapping.inode};
      if (auto [known, is_new] = is_there.try_emplace(path.path, false); is_new)
        known->second = readable.has(path);
      if (is_there[path.path])
        stretch.file = std::move(path);
    }
    stretches.push_back(std::move(stretch));
  }
  memory_ = std::make_shared<LiveMemory>(pid, stretches, temp_dir);
  target_->memory = Memory(target_->format(), memory_->ranges());
  target_->memory.fill_from(memory_);
  target_->modules = group_into_modules(std::move(files), target_->memory);
}

void LiveProcess::read_threads(u64 pid) {
  if (!stopped_) {
    for (u64 id : list_threads(pid))
      target_->threads.push_back({own_thread_id(pid, id), 0, 0, {}});
    return;
  }
  for (const StoppedProcess::Thread &stopped : stopped_->threads()) {
    Thread thread;
    thread.id = own_thread_id(pid, stopped.id);
    std::vector<std::byte> registers = stopped_->registers(stopped);
    read_registers(thread, registers, machine_, target_->format());
    target_->threads.push_back(std::move(thread));
  }
}

// The state is the first word after the name, which stands in parentheses and may contain anything; processor times, in
// user mode and in the kernel, are words 12 and 13: "4711 (my) prog) R 1 …".
void LiveProcess::read_system_threads() {
  constexpr unsigned user_time = 11, kernel_time = 12; // after the state
  for (u64 id : list_threads(pid_)) {
    const std::string stat = process_text(pid_, "task/" + std::to_string(id) + "/stat").value_or("");
    const std::size_t begin = stat.find('('), end = stat.rfind(')');
    if (begin == std::string::npos || end == std::string::npos || end < begin || stat.size() < end + 3)
      continue;
    SystemThread &thread = system_threads_[own_thread_id(pid_, id)];
    thread.name = stat.substr(begin + 1, end - begin - 1);
    std::string_view words = std::string_view(stat).substr(end + 1);
    const std::string_view state = next_word(words);
    thread.is_ready = state == "R";
    thread.is_halted = state == "T" || state == "t";
    for (unsigned i = 1; i <= kernel_time; ++i)
      if (const std::string_view word = next_word(words); i >= user_time)
        thread.ticks += number_of_digits(word, 10).value_or(0);
  }
}

std::optional<std::vector<std::pair<Address, Address>>> LiveProcess::resident() const {
  if (released_)
    return std::nullopt;
  constexpr u64 most_at_once = 1 << 16;
  // Sanitizers' shadow memory alone is 16 TiB and more: reading its page table would stop the process for minutes.
  constexpr u64 most_accessible = u64{1} << 40;
  const u64 size = page_size();
  const ProcessMemory process(pid_);
  std::vector<std::pair<Address, Address>> out;
  std::vector<ProcessMemory::Page> pages;
  const std::string text = process_text(pid_, "maps").value_or("");
  std::vector<ProcessMapping> mappings = parse_process_maps(text);
  std::erase_if(mappings, [](const ProcessMapping &m) { return !m.readable && !m.writable && !m.executable; });
  u64 accessible = 0;
  for (const ProcessMapping &mapping : mappings)
    accessible += mapping.end - mapping.start;
  if (accessible > most_accessible)
    return std::nullopt;
  for (const ProcessMapping &mapping : mappings) {
    for (Address at = mapping.start; at < mapping.end; at += pages.size() * size) {
      pages.resize(std::min(most_at_once, (mapping.end - at + size - 1) / size));
      process.find_pages(at, pages);
      for (u64 i = 0; i < pages.size(); ++i) {
        if (pages[i] == ProcessMemory::Page::absent)
          continue;
        const Address page = at + i * size;
        if (!out.empty() && out.back().second == page)
          out.back().second += size;
        else
          out.emplace_back(page, page + size);
      }
    }
  }
  return out;
}

} // namespace dnheap

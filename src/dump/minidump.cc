#include "dump/minidump.h"

#include "base/text.h"
#include "dump/context_layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace dnheap {

namespace {

constexpr u64 header_size = 32, directory_entry_size = 12, module_size = 108, thread_size = 48, memory_size = 16,
              code_view_size = 24;
constexpr u64 most_streams = 4096, most_modules = 1 << 16, most_threads = 1 << 20;

enum Stream : u32 {
  thread_list = 3,
  module_list = 4,
  memory_list = 5,
  exception = 6,
  system_info = 7,
  memory64_list = 9,
  misc_info = 15,
  memory_info_list = 16,
  thread_info_list = 17,
};

struct Platform {
  u32 id; // VER_PLATFORM_…, and the ids that Breakpad and similar tools write
  OperatingSystem os;
};
constexpr Platform platforms[] = {
    {2, OperatingSystem::windows}, {0x8101, OperatingSystem::macos}, {0x8201, OperatingSystem::linux_os}};

class Reader {
public:
  Reader(Bytes file, Target &target) : file_(file), target_(target) {}

  void read() {
    read_directory();
    read_system();
    read_process();
    read_modules();
    read_threads();
    read_exception();
    read_memory();
    if (absent_streams_)
      target_.notes.add(Subject::dump, Effect::none,
                        fmt::format("truncated: {} of {} streams end beyond the file, which ends at byte {}",
                                    absent_streams_, streams_.size() + absent_streams_, count_text(file_.size())));
  }

private:
  struct Entry {
    u32 type;
    Bytes content;
  };

  template <std::unsigned_integral T> T at(Bytes from, u64 offset) const {
    return load<T>(from.data() + offset, ByteOrder::little);
  }
  // Returns the bytes that a MINIDUMP_LOCATION_DESCRIPTOR {size, place} names; empty if they are not all in the file.
  Bytes located(Bytes from, u64 offset) const { return slice(file_, at<u32>(from, offset + 4), at<u32>(from, offset)); }

  Bytes stream(u32 type) const {
    for (const Entry &entry : streams_)
      if (entry.type == type)
        return entry.content;
    return {};
  }

  void read_directory() {
    if (file_.size() < header_size)
      throw Error(fmt::format("this minidump is cut off inside its header: the file ends at byte {}", file_.size()));
    u64 count = at<u32>(file_, 8), place = at<u32>(file_, 12);
    if (count == 0)
      throw Error("this minidump has no streams: its writer did not finish");
    for (u64 i = 0; i < std::min(count, most_streams); ++i) {
      Bytes entry = slice(file_, place + i * directory_entry_size, directory_entry_size);
      if (entry.empty())
        throw Error(fmt::format("this minidump is cut off inside its directory of streams: the file ends at byte {}",
                                file_.size()));
      u64 size = at<u32>(entry, 4), start = at<u32>(entry, 8);
      Bytes content = slice(file_, start, size);
      if (size && content.empty()) {
        ++absent_streams_;
        if (start < file_.size())
          content = file_.subspan(start); // the part that is in the file
      }
      if (!content.empty())
        streams_.push_back({at<u32>(entry, 0), content});
    }
  }

  void read_system() {
    Bytes info = stream(system_info);
    if (info.size() < 24)
      throw Error(file_.size() < 4096 ? fmt::format("this minidump is cut off: the file ends at byte {}", file_.size())
                                      : "this minidump does not name its processor (SystemInfoStream)");
    u16 processor = at<u16>(info, 0);
    for (const ContextLayout &layout : context_layouts)
      if (layout.processor == processor)
        context_ = &layout;
    if (!context_)
      throw Error(fmt::format("this minidump is of a machine that dnheap does not know (processor architecture {})",
                              processor));
    target_.architecture = context_->architecture;
    format_ = {context_->pointer_size, ByteOrder::little};
    u32 platform = at<u32>(info, 20);
    for (const Platform &known : platforms)
      if (known.id == platform)
        target_.os = known.os;
  }

  void read_process() {
    constexpr u32 has_process_id = 1;
    Bytes info = stream(misc_info);
    if (info.size() >= 12 && at<u32>(info, 4) & has_process_id)
      target_.pid = at<u32>(info, 8);
    if (const u32 seconds = at<u32>(file_, 20)) // TimeDateStamp
      target_.taken = TakenAt{seconds, TakenAt::Clock::dump};
    // MINIDUMP_TYPE, stored in the header.
    constexpr u64 full_memory = 0x2, private_read_write_memory = 0x200;
    u64 flags = at<u64>(file_, 24);
    target_.dump_kind = flags & full_memory ? "full" : flags & private_read_write_memory ? "heap" : "mini";
  }

  // Returns the rows of a list that begins with their number. Some writers align the rows to 8 bytes.
  Bytes rows(u32 type, u64 size, u64 most, u64 &count, const char *what) {
    Bytes list = stream(type);
    if (list.size() < 4)
      return {};
    u64 promised = at<u32>(list, 0);
    u64 start = list.size() == 8 + promised * size ? 8 : 4;
    count = std::min({promised, (list.size() - std::min<u64>(start, list.size())) / size, most});
    if (count < promised)
      target_.notes.add(Subject::dump, Effect::none,
                        fmt::format("{} of {} {} are in the file", count_text(count), count_text(promised), what));
    return count ? list.subspan(start, count * size) : Bytes{};
  }

  // MINIDUMP_STRING: its size in bytes, then UTF-16.
  std::string text(u64 place) const {
    constexpr u64 longest = 1 << 16;
    std::optional<u32> size = load_at<u32>(file_, place, ByteOrder::little);
    return size && *size <= longest ? utf16_to_utf8(slice(file_, place + 4, *size & ~1u), ByteOrder::little) : "";
  }

  void read_modules() {
    u64 count = 0;
    Bytes list = rows(module_list, module_size, most_modules, count, "modules");
    for (u64 i = 0; i < count; ++i) {
      Bytes row = list.subspan(i * module_size, module_size);
      Module module;
      module.base = at<u64>(row, 0);
      u64 size = at<u32>(row, 8);
      module.path = text(at<u32>(row, 20));
      if (size == 0 || add_clamped(module.base, size) == ~Address{0})
        continue;
      module.extents.push_back({module.base, module.base + size, 0});
      PeIdentity identity;
      identity.size_of_image = at<u32>(row, 8);
      identity.time_date_stamp = at<u32>(row, 16);
      constexpr u32 version_signature = 0xfeef04bd; // of a VS_FIXEDFILEINFO
      if (at<u32>(row, 24) == version_signature)
        identity.file_version = {at<u16>(row, 34), at<u16>(row, 32), at<u16>(row, 38), at<u16>(row, 36)};
      Bytes record = located(row, 76);
      constexpr u32 rsds = 0x53445352;
      if (record.size() >= code_view_size && at<u32>(record, 0) == rsds) {
        std::array<u8, 16> guid;
        std::memcpy(guid.data(), record.data() + 4, guid.size());
        identity.guid = guid;
      }
      module.pe = identity;
      target_.modules.push_back(std::move(module));
    }
    std::sort(target_.modules.begin(), target_.modules.end(),
              [](const Module &a, const Module &b) { return a.base < b.base; });
    if (target_.program.empty() && count)
      target_.program = text(at<u32>(list, 20)); // the first one is the program
  }

  // Returns the threads whose context the writer could not read, as the dump itself states.
  std::set<u64> threads_without_context() const {
    constexpr u32 invalid_context = 0x10;
    std::set<u64> out;
    Bytes list = stream(thread_info_list);
    if (list.size() < 12)
      return out;
    u64 header = at<u32>(list, 0), entry = at<u32>(list, 4);
    if (header < 12 || header > list.size() || entry < 8)
      return out;
    u64 count = std::min<u64>(at<u32>(list, 8), (list.size() - header) / entry);
    for (u64 i = 0; i < count; ++i)
      if (Bytes row = list.subspan(header + i * entry, 8); at<u32>(row, 4) & invalid_context)
        out.insert(at<u32>(row, 0));
    return out;
  }

  // EXCEPTION_RECORD64 after {thread, alignment}: {code, flags, next record, address, number of parameters, alignment,
  // 15 parameters}. Breakpad writes {signal, si_code, -, address} for Linux, and for macOS {EXC_…, a kern_return_t, …},
  // which does not show whether memory was read or written.
  void read_crash(Bytes record) {
    constexpr u32 access_violation = 0xc0000005, in_page_error = 0xc0000006;
    constexpr u32 of_debuggers[] = {0, 0x80000003, 0x80000004, 0x80000007}; // debuggers stop threads with these
    CrashSignal crash{.thread = at<u32>(record, 0), .number = at<u32>(record, 8), .address = at<u64>(record, 24)};
    if (std::find(std::begin(of_debuggers), std::end(of_debuggers), crash.number) != std::end(of_debuggers))
      return;
    const bool is_windows = target_.os == OperatingSystem::windows;
    if (target_.os == OperatingSystem::linux_os)
      crash.code = static_cast<i32>(at<u32>(record, 12));
    else if (is_windows && (crash.number == access_violation || crash.number == in_page_error) &&
             at<u32>(record, 32) >= 2) {
      crash.code = static_cast<i32>(at<u64>(record, 40));
      crash.address = at<u64>(record, 48);
    }
    target_.crash = crash;
  }

  // After the record comes a descriptor of the thread's context. It is used only for a thread without its own context:
  // a thread with one went on to write the dump, so its stack is deeper now.
  void read_exception() {
    Bytes record = stream(exception);
    if (record.size() < 168)
      return;
    read_crash(record);
    for (Thread &thread : target_.threads)
      if (thread.id == at<u32>(record, 0) && thread.registers.empty())
        read_context(thread, located(record, 160), *context_);
  }

  void read_threads() {
    const std::set<u64> invalid = threads_without_context();
    u64 count = 0;
    Bytes list = rows(thread_list, thread_size, most_threads, count, "threads");
    for (u64 i = 0; i < count; ++i) {
      Bytes row = list.subspan(i * thread_size, thread_size);
      Thread thread;
      thread.id = at<u32>(row, 0);
      // The thread's stack. Place 0 means that the lists of memory contain it, as in dumps of Microsoft's own writer.
      if (const u32 place = at<u32>(row, 36))
        add_range(at<u64>(row, 24), at<u32>(row, 32), place);
      if (!invalid.contains(thread.id))
        read_context(thread, located(row, 40), *context_);
      target_.threads.push_back(std::move(thread));
    }
  }

  void add_range(Address start, u64 size, u64 place) {
    u64 there = place < file_.size() ? std::min(size, file_.size() - place) : 0;
    // Pieces may overlap, but a hostile file could claim any amount of memory by many overlapping pieces.
    constexpr u64 most_times = 16;
    if (there > most_times * file_.size() - claimed_) {
      ++repeated_;
      there = 0;
    }
    claimed_ += there;
    Address end = add_clamped(start, size), known = add_clamped(start, there);
    if (there)
      ranges_.push_back({start, file_.subspan(place, known - start)});
    if (start < end)
      target_.mappings.push_back({start, end, known});
    if (known < end) {
      ++cut_;
      cut_bytes_ = add_clamped(cut_bytes_, end - known);
      target_.absent.push_back({known, end, fmt::format("cut off: the file ends at byte {}", file_.size())});
    }
  }

  void read_memory() {
    u64 count = 0;
    Bytes list = rows(memory_list, memory_size, ~u64{0}, count, "pieces of memory");
    for (u64 i = 0; i < count; ++i) {
      Bytes row = list.subspan(i * memory_size, memory_size);
      add_range(at<u64>(row, 0), at<u32>(row, 8), at<u32>(row, 12));
    }
    read_memory64();
    if (ranges_.empty())
      throw Error(
          cut_ || absent_streams_
              ? fmt::format("this minidump is cut off before any memory: the file ends at byte {}", file_.size())
              : std::string("this minidump holds no memory"));
    read_reserved();
    if (cut_) {
      target_.notes.add(Subject::dump, Effect::none,
                        fmt::format("truncated: {} pieces of memory end beyond the file ({} missing)", count_text(cut_),
                                    bytes_text(cut_bytes_)));
      target_.advice = "copy the whole file again, or take the dump again (disk full?)";
    }
    if (repeated_)
      target_.notes.add(
          Subject::dump, Effect::none,
          fmt::format("{} pieces of memory were left out: together they claim many times more bytes than the file has",
                      count_text(repeated_)));
    std::sort(target_.absent.begin(), target_.absent.end(),
              [](const AbsentRange &a, const AbsentRange &b) { return a.start < b.start; });
    std::stable_sort(target_.mappings.begin(), target_.mappings.end(),
                     [](const Mapping &a, const Mapping &b) { return a.start < b.start; });
    target_.memory = Memory(format_, std::move(ranges_));
    if (target_.architecture == Architecture::arm64 && target_.os != OperatingSystem::windows)
      target_.memory.ignore_top_byte();
  }

  // Layout: the number of ranges, the file offset of the first range's bytes, then {start, size} of each range. The
  // bytes of all ranges are contiguous in the file.
  void read_memory64() {
    Bytes list = stream(memory64_list);
    if (list.size() < 16)
      return;
    u64 promised = at<u64>(list, 0), place = at<u64>(list, 8);
    u64 count = std::min<u64>(promised, (list.size() - 16) / memory_size);
    if (count < promised)
      target_.notes.add(
          Subject::dump, Effect::none,
          fmt::format("{} of {} pieces of memory are in the file", count_text(count), count_text(promised)));
    for (u64 i = 0; i < count; ++i) {
      Bytes row = list.subspan(16 + i * memory_size, memory_size);
      u64 size = at<u64>(row, 8);
      add_range(at<u64>(row, 0), size, place);
      place = add_clamped(place, size);
    }
  }

  // Lists the memory that the process had reserved but not used: a dump that lacks it is not incomplete.
  void read_reserved() {
    constexpr u32 mem_reserve = 0x2000;
    constexpr u64 least_entry = 40;
    Bytes list = stream(memory_info_list);
    if (list.size() < 16)
      return;
    u64 header = at<u32>(list, 0), entry = at<u32>(list, 4);
    if (header < 16 || header > list.size() || entry < least_entry)
      return;
    u64 count = std::min<u64>(at<u64>(list, 8), (list.size() - header) / entry);
    for (u64 i = 0; i < count; ++i) {
      Bytes row = list.subspan(header + i * entry, least_entry);
      if (at<u32>(row, 32) == mem_reserve)
        target_.absent.push_back(
            {at<u64>(row, 0), add_clamped(at<u64>(row, 0), at<u64>(row, 24)), "reserved, not committed"});
    }
  }

  const Bytes file_;
  Target &target_;
  const ContextLayout *context_ = nullptr;
  Format format_;
  std::vector<Entry> streams_;
  std::vector<Range> ranges_;
  u64 absent_streams_ = 0, cut_ = 0, cut_bytes_ = 0, claimed_ = 0, repeated_ = 0;
};

} // namespace

std::optional<u64> length_of_minidump(Bytes first) {
  if (!as_text(first).starts_with("MDMP"))
    return std::nullopt;
  constexpr u64 unknown = ~u64{0};
  auto word32 = [&](u64 at) { return load_at<u32>(first, at, ByteOrder::little); };
  auto word64 = [&](u64 at) { return load_at<u64>(first, at, ByteOrder::little); };
  u64 end = header_size;
  const u64 count = word32(8).value_or(0), directory = word32(12).value_or(0);
  for (u64 i = 0; i < std::min(count, most_streams); ++i) {
    const u64 entry = directory + i * directory_entry_size;
    const std::optional<u32> type = word32(entry), size = word32(entry + 4), place = word32(entry + 8);
    if (!type || !size || !place)
      return unknown;
    end = std::max(end, u64{*place} + *size);
    if (*type == memory_list) {
      const u64 pieces = word32(*place).value_or(0);
      const u64 rows = u64{*place} + (*size == 8 + pieces * memory_size ? 8 : 4); // some align them
      for (u64 piece = 0; piece < pieces; ++piece) {
        const std::optional<u32> bytes = word32(rows + piece * memory_size + 8),
                                 at = word32(rows + piece * memory_size + 12);
        if (!bytes || !at)
          return unknown;
        end = std::max(end, u64{*at} + *bytes);
      }
    } else if (*type == memory64_list) {
      const std::optional<u64> pieces = word64(*place), start = word64(u64{*place} + 8);
      if (!pieces || !start)
        return unknown;
      u64 behind = *start;
      for (u64 piece = 0; piece < *pieces; ++piece) {
        const std::optional<u64> bytes = word64(u64{*place} + 16 + piece * memory_size + 8);
        if (!bytes)
          return unknown;
        behind = add_clamped(behind, *bytes);
      }
      end = std::max(end, behind);
    }
  }
  return end;
}

std::unique_ptr<Target> open_minidump(Bytes file, std::shared_ptr<const void> storage) {
  if (!as_text(file).starts_with("MDMP"))
    return nullptr;
  auto target = std::make_unique<Target>();
  target->container = "minidump";
  target->storage.push_back(std::move(storage));
  Reader(file, *target).read();
  return target;
}

} // namespace dnheap

#include "base/host/file_time.h"
#include "base/process/address_space.h"
#include "base/process/process_identity.h"
#include "dump/context_layout.h"
#include "dump/live/live_process.h"
#include "image/pe_image.h"

#include <algorithm>

namespace dnheap {

namespace {

// Returns the file version in VS_FIXEDFILEINFO, which is somewhere among an image's resources.
std::optional<std::array<u16, 4>> file_version_of(const PeImage &image, const Memory &memory, Address base) {
  constexpr u64 most = 64 << 10; // resources of the runtime's libraries have 2 KiB
  constexpr u32 signature = 0xfeef04bd, struct_version = 0x10000;
  for (const PeImage::Section &section : image.sections()) {
    if (section.name != ".rsrc" || section.virtual_size > most)
      continue;
    const Bytes bytes = memory.view_up_to(base + section.rva, section.virtual_size);
    auto at = [&](u64 offset) { return load_at<u32>(bytes, offset, ByteOrder::little).value_or(0); };
    for (u64 i = 0; i + 16 <= bytes.size(); i += sizeof(u32))
      if (at(i) == signature && at(i + 4) == struct_version)
        return std::array{static_cast<u16>(at(i + 8) >> 16), static_cast<u16>(at(i + 8)),
                          static_cast<u16>(at(i + 12) >> 16), static_cast<u16>(at(i + 12))};
  }
  return std::nullopt;
}

std::optional<PeIdentity> identity_of(const Memory &memory, Address base) {
  const std::optional<PeImage> image = PeImage::at(memory, base, true);
  if (!image)
    return std::nullopt;
  PeIdentity out{image->time_date_stamp(), image->size_of_image(), {}, file_version_of(*image, memory, base)};
  if (const std::optional<PeImage::CodeView> record = image->code_view())
    out.guid = record->guid;
  return out;
}

// Adds images that the loader does not list: what the runtime has mapped itself.
void add_unlisted(std::vector<LoadedImage> &images, const std::vector<MemoryStretch> &stretches,
                  const AddressSpace &space) {
  const std::vector<LoadedImage> listed = images;
  const auto is_listed = [&](Address base) {
    return std::ranges::any_of(listed, [&](const LoadedImage &i) { return base - i.base < i.size; });
  };
  for (const MemoryStretch &stretch : stretches) {
    if (stretch.kind != MemoryStretch::Kind::image || is_listed(stretch.allocation))
      continue;
    if (!images.empty() && images.back().base == stretch.allocation)
      images.back().size = stretch.end - stretch.allocation;
    else
      images.push_back({stretch.allocation, stretch.end - stretch.allocation, space.path_at(stretch.allocation)});
  }
}

Module module_of(const LoadedImage &image, const Memory &memory) {
  Module out;
  out.path = image.path;
  out.base = image.base;
  out.extents.push_back({image.base, image.base + image.size, 0});
  out.pe = identity_of(memory, image.base);
  return out;
}

// Returns unknown for code that this program's own kind of processor does not run.
Architecture architecture_of_process(ProcessorKind kind) {
  return kind == ProcessorKind::x64   ? Architecture::x64
         : kind == ProcessorKind::x86 ? Architecture::x86
                                      : Architecture::unknown;
}

} // namespace

void LiveProcess::read_identity(u64 pid) {
  target_->os = OperatingSystem::windows;
  target_->taken->ticks = ticks_now();
  target_->architecture = architecture_of_process(AddressSpace(pid).processor());
  const ContextLayout *layout = context_layout_of(target_->architecture);
  if (!layout)
    throw Error("process " + std::to_string(pid) +
                " is for a kind of processor that dnheap.exe cannot read on Windows: only x64 and x86 are known; write "
                "a dump (dotnet-dump collect -p PID), and open that");
  target_->memory = Memory({layout->pointer_size, ByteOrder::little}, {});
  target_->program = command_line_of(pid);
}

void LiveProcess::read_maps(u64 pid, const std::string &temp_dir) {
  using Kind = MemoryStretch::Kind;
  const AddressSpace space(pid);
  // Leaves out what a 32-bit process cannot reach: Windows' own 64-bit part of it.
  const Address end = target_->format().pointer_size == 4 ? u64{1} << 32 : ~u64{0};
  std::vector<MemoryStretch> all = space.stretches();
  std::erase_if(all, [&](const MemoryStretch &stretch) { return stretch.end > end; });
  std::vector<LiveMemory::Stretch> stretches;
  for (const MemoryStretch &stretch : all) {
    if (stretch.kind == Kind::reserved) {
      target_->absent.push_back({stretch.start, stretch.end, "reserved, not committed"});
      continue;
    }
    const bool is_readable = stretch.readable && !stretch.is_guarded;
    if (stretch.writable)
      changing_.emplace_back(stretch.start, stretch.end);
    target_->mappings.push_back({stretch.start, stretch.end, stretch.end, is_readable, stretch.writable,
                                 stretch.executable, stretch.kind == Kind::file, ""});
    if (is_readable)
      stretches.push_back({stretch.start, stretch.end, {}, 0, stretch.kind == Kind::own});
  }
  memory_ = std::make_shared<LiveMemory>(pid, stretches, temp_dir);
  target_->memory = Memory(target_->format(), memory_->ranges());
  target_->memory.fill_from(memory_);
  std::vector<LoadedImage> images = space.images();
  add_unlisted(images, all, space);
  for (const LoadedImage &image : images)
    if (image.size > 0 && add_clamped(image.base, image.size) < end)
      target_->modules.push_back(module_of(image, target_->memory));
  std::ranges::sort(target_->modules, {}, &Module::base);
}

void LiveProcess::read_threads(u64 pid) {
  if (!stopped_) {
    for (u64 id : list_threads(pid))
      target_->threads.push_back({id, 0, 0, {}});
    return;
  }
  const ContextLayout *layout = context_layout_of(target_->architecture);
  for (const StoppedProcess::Thread &stopped : stopped_->threads()) {
    Thread thread;
    thread.id = stopped.id;
    read_context(thread, stopped_->registers(stopped), *layout);
    target_->threads.push_back(std::move(thread));
  }
}

// Without the state of each thread a sample would take all for waiting.
void LiveProcess::read_system_threads() {
  throw Error("stacks can be sampled on Linux only; dnheap threads -p " + std::to_string(pid_) +
              " shows them at one moment");
}

// The system does not say which pages were never written to.
std::optional<std::vector<std::pair<Address, Address>>> LiveProcess::resident() const { return std::nullopt; }

} // namespace dnheap

#include "runtime/compiled/eh_frame.h"

#include "image/module_image.h"

#include <vector>

namespace dnheap {

// A CIE or an FDE in the target's memory.
struct EhFrame::Record {
  Address id_at = 0;                                     // address of its second field
  u32 id = 0;                                            // 0 for a CIE; else the distance back to the CIE
  std::shared_ptr<const std::vector<std::byte>> content; // behind the id

  FrameBytes bytes(Format format) const { return {*content, id_at + 4, format}; }
};

namespace {

constexpr u64 header_size = 4;
constexpr u64 largest_pointers = 16; // bytes of the header's two pointers
constexpr u64 largest_record = 1 << 16;
constexpr u8 pointer_omitted = 0xff;
constexpr u8 sorted_table = 0x3b; // DW_EH_PE_datarel | DW_EH_PE_sdata4
constexpr u64 entry_size = 8;

} // namespace

ReadOutcome EhFrame::open(const Memory &memory, Address base, std::optional<EhFrame> &to) {
  const std::optional<ModuleImage> image = ModuleImage::at(memory, base);
  if (!image)
    return ReadOutcome::missing(base);
  const std::optional<ModuleImage::Section> header = image->call_frame_table();
  if (!header || header->size < header_size)
    return ReadOutcome::malformed("the module has no table of unwind data (.eh_frame_hdr)");
  std::vector<std::byte> bytes(std::min(header->size, header_size + largest_pointers));
  if (!memory.read(header->address, bytes))
    return ReadOutcome::missing(header->address);
  FrameBytes from(bytes, header->address, memory.format());
  const u8 version = from.integer<u8>(), frames = from.integer<u8>(), count = from.integer<u8>(),
           table = from.integer<u8>();
  if (version != 1 || count == pointer_omitted || table != sorted_table)
    return ReadOutcome::malformed("the module's table of functions has an unknown form");
  if (frames != pointer_omitted)
    from.pointer(frames, header->address);
  EhFrame out(memory);
  out.count_ = from.pointer(count, header->address);
  out.table_ = from.at();
  out.base_ = image->base();
  out.end_ = image->end();
  out.header_ = header->address;
  const u64 head = out.table_ - header->address;
  if (!from.ok() || out.count_ == 0 || out.count_ > (header->size - head) / entry_size)
    return ReadOutcome::malformed("the module's table of functions is longer than the section that holds it");
  to = out;
  return {};
}

ReadOutcome EhFrame::record(Address address, Record &to) const {
  constexpr u32 wide = 0xffffffff;
  if (address < base_ || address >= end_)
    return ReadOutcome::malformed("the module's table of functions leads out of the module");
  const std::optional<u32> length = memory_->try_load<u32>(address);
  to.id_at = address + 4;
  const std::optional<u32> id = memory_->try_load<u32>(to.id_at);
  if (!length || !id)
    return ReadOutcome::missing(address);
  if (*length < 4 || *length == wide || *length > largest_record)
    return ReadOutcome::malformed("a function's call frame information has an impossible size");
  to.id = *id;
  std::vector<std::byte> content(*length - 4);
  if (!memory_->read(to.id_at + 4, content))
    return ReadOutcome::missing(to.id_at);
  to.content = std::make_shared<const std::vector<std::byte>>(std::move(content));
  return {};
}

ReadOutcome EhFrame::find(Address address, FunctionFrame &to) const {
  const auto no_function = ReadOutcome::malformed("no function of the module contains the address");
  auto field = [&](u64 index, u64 offset) -> std::optional<Address> {
    const std::optional<u32> word = memory_->try_load<u32>(table_ + index * entry_size + offset);
    return word ? std::optional(header_ + static_cast<u64>(i64{static_cast<i32>(*word)})) : std::nullopt;
  };
  u64 first = 0, last = count_; // the entry is in [first, last)
  while (last - first > 1) {
    const u64 middle = first + (last - first) / 2;
    const std::optional<Address> start = field(middle, 0);
    if (!start)
      return ReadOutcome::missing(table_ + middle * entry_size);
    (*start <= address ? first : last) = middle;
  }
  const std::optional<Address> start = field(first, 0), at = field(first, 4);
  if (!start || !at)
    return ReadOutcome::missing(table_ + first * entry_size);
  if (*start > address)
    return no_function;
  Record own, shared;
  if (const ReadOutcome outcome = record(*at, own); !outcome)
    return outcome;
  if (own.id == 0)
    return ReadOutcome::malformed("an entry of the module's table of functions leads to no function");
  if (const ReadOutcome outcome = record(own.id_at - own.id, shared); !outcome)
    return outcome;
  FunctionFrame out;
  SharedFrame said;
  const Format format = memory_->format();
  if (shared.id != 0 || !read_shared_frame(shared.bytes(format), said, out) ||
      !read_own_frame(own.bytes(format), said, out))
    return ReadOutcome::malformed("a function's call frame information has an unknown form");
  if (address < out.start || address >= out.end)
    return no_function;
  out.storage[0] = shared.content;
  out.storage[1] = own.content;
  to = std::move(out);
  return {};
}

} // namespace dnheap

// decode-image FILE: reads the GC info and the unwind data of all code in a ReadyToRun image, as JSON for
// test/real/decode.py. Every function is either a method's main body or a funclet behind it: so the first function is a
// main body, its GC info says where the method ends, which must be some function's end, and the next method begins
// behind that. Only for tests.
#include "base/host/host.h"
#include "base/text.h"
#include "runtime/compiled/gc_info.h"
#include "runtime/compiled/unwind_x64.h"

#include <cstdio>
#include <vector>

using namespace dnheap;

namespace {

constexpr Address base = 0x10000000;
constexpr Address stack = 0x700000000000;
constexpr u64 stack_size = 1 << 20;

struct Function {
  u32 begin, end, unwind_data;
};

struct Image {
  Memory memory;
  u16 major = 0;
  std::vector<Function> functions;
  std::vector<std::byte> stack_bytes = std::vector<std::byte>(stack_size);

  u32 word(Address at) const { return memory.u32_at(at, "the image"); }
};

// {signature, major, minor, flags, how many sections, {type, place, size}…}
void read_functions(Image &image, Address header) {
  constexpr u32 signature = 0x00525452, runtime_functions = 102;
  if (image.word(header) != signature)
    throw Error("no ReadyToRun header");
  image.major = static_cast<u16>(image.word(header + 4));
  for (u32 i = 0; i < image.word(header + 12); ++i) {
    const Address section = header + 16 + 12 * i;
    if (image.word(section) != runtime_functions)
      continue;
    const Address table = base + image.word(section + 4);
    for (u32 at = 0; at + 12 <= image.word(section + 8); at += 12)
      image.functions.push_back({image.word(table + at), image.word(table + at + 4), image.word(table + at + 8)});
  }
}

// As the loader would lay it out.
Image load_image(Bytes file) {
  const Memory flat(Format{}, {Range{0, file}});
  auto at = [&](u64 place) { return flat.u32_at(place, "the file"); };
  const u64 pe = at(0x3c), optional = pe + 24;
  const u32 sections = at(pe + 6) & 0xffff, optional_size = at(pe + 20) & 0xffff;
  Image image;
  std::vector<Range> ranges{{base, file.first(at(optional + 60))}};
  for (u32 i = 0; i < sections; ++i) {
    const u64 section = optional + optional_size + 40 * i;
    ranges.push_back({base + at(section + 12), slice(file, at(section + 20), at(section + 16))});
  }
  ranges.push_back({stack, image.stack_bytes});
  image.memory = Memory(Format{}, std::move(ranges));
  const Address cli = base + at(optional + 112 + 14 * 8);
  read_functions(image, base + image.word(cli + 64));
  // The terminator
  while (!image.functions.empty() && image.functions.back().begin == 0xffffffffu)
    image.functions.pop_back();
  return image;
}

struct Counts {
  u64 main = 0, safe_points = 0, range_points = 0, slots = 0, live = 0, unwound = 0, errors = 0;

  void error(const Function &function, const std::string &what) {
    if (errors++ < 20)
      std::fprintf(stderr, "decode-image: function at %s: %s\n", hex(function.begin).c_str(), what.c_str());
  }
};

void decode_points(const GcInfo &info, const Function &function, u32 version, Counts &counts) {
  std::vector<u64> safe_points;
  std::vector<GcSlot> live;
  if (const ReadOutcome outcome = info.safe_points(safe_points); !outcome)
    return counts.error(function, outcome.text());
  u64 before = 0;
  for (u64 at : safe_points) {
    if ((at <= before && before) || at >= info.code_length())
      counts.error(function, "safe points that are not in order");
    before = at;
    if (const ReadOutcome outcome = info.live_slots({at + (version < 4 ? 1 : 0)}, live); !outcome)
      counts.error(function, outcome.text());
    counts.live += live.size();
    ++counts.safe_points;
  }
  for (auto [start, end] : info.ranges())
    for (u64 at = start; at < end; at += 5) {
      if (const ReadOutcome outcome = info.live_slots({at, true}, live); !outcome)
        counts.error(function, outcome.text());
      counts.live += live.size();
      ++counts.range_points;
    }
}

void decode_gc_info(const Image &image, const Function &function, u32 version, Counts &counts, u64 &length) {
  const Address unwind = base + function.unwind_data;
  const u64 codes = image.word(unwind) >> 16 & 0xff;
  const Address place = unwind + align_up(4 + 2 * codes + 4, 4);
  const GcInfo info(image.memory, place, *gc_info_encoding(Architecture::x64), version);
  std::vector<GcSlot> slots;
  ReadOutcome outcome = info.slots(slots);
  if (!outcome)
    return counts.error(function, outcome.text());
  length = info.code_length();
  ++counts.main;
  counts.slots += slots.size();
  decode_points(info, function, version, counts);
}

// From its last instruction, over a stack of zeros.
void unwind(const Image &image, const Function &function, Counts &counts) {
  const CallingConvention &convention = *calling_convention(Architecture::x64, OperatingSystem::linux_os);
  Registers r;
  for (unsigned reg = 0; reg < 16; ++reg)
    r.set(reg, stack + stack_size / 2);
  r.ip = base + function.end - 1;
  const ReadOutcome outcome =
      unwind_x64(image.memory, {base + function.begin, base + function.end, base, base + function.unwind_data},
                 convention, false, r);
  if (!outcome && outcome.kind == ReadOutcome::Kind::malformed)
    return counts.error(function, outcome.text());
  ++counts.unwound;
}

void decode(const Image &image, Counts &counts) {
  const u32 version = image.major >= 21 ? 5 : image.major >= 11 ? 4 : 3;
  for (u64 i = 0; i < image.functions.size();) {
    const Function &function = image.functions[i];
    u64 length = 0;
    decode_gc_info(image, function, version, counts, length);
    u64 last = i;
    while (length && last < image.functions.size() && image.functions[last].end < function.begin + length)
      ++last;
    if (!length || last == image.functions.size() || image.functions[last].end != function.begin + length) {
      counts.error(function, "its length " + std::to_string(length) + " is no function's end");
      last = i;
    }
    for (u64 k = i; k <= last; ++k)
      unwind(image, image.functions[k], counts);
    i = last + 1;
  }
}

} // namespace

int main(int argc, char **argv) try {
  if (argc != 2)
    throw UsageError("usage: decode-image FILE");
  const std::shared_ptr<const MappedFile> file = MappedFile::open(argv[1]);
  const Image image = load_image(file->bytes());
  Counts counts;
  decode(image, counts);
  std::printf("{\"major\":%u,\"functions\":%zu,\"main\":%llu,\"safe_points\":%llu,\"range_points\":%llu,\"slots\":%llu,"
              "\"live\":%llu,\"unwound\":%llu,\"errors\":%llu}\n",
              image.major, image.functions.size(), static_cast<unsigned long long>(counts.main),
              static_cast<unsigned long long>(counts.safe_points), static_cast<unsigned long long>(counts.range_points),
              static_cast<unsigned long long>(counts.slots), static_cast<unsigned long long>(counts.live),
              static_cast<unsigned long long>(counts.unwound), static_cast<unsigned long long>(counts.errors));
  return 0;
} catch (const Error &e) {
  std::fprintf(stderr, "decode-image: %s\n", e.what());
  return 1;
}

#include "analysis/native/native_owners.h"

#include "analysis/names/framework_names.h"
#include "analysis/process/thread_memory.h"
#include "base/parallel.h"
#include "base/text.h"
#include "image/module_image.h"
#include "objects/object_index.h"
#include "objects/references.h"
#include "runtime/library_names.h"

#include <atomic>
#include <fmt/format.h>
#include <map>
#include <set>
#include <span>

namespace dnheap {

namespace {

using Owner = NativeOwner::Kind;
using Class = MemoryClass;

constexpr u32 no_owner = ~u32{0};
constexpr u64 page = 4096;
constexpr u64 word_size = 8; // malloc is read on 64-bit systems only

// Calls visit(word) for each known word of [start, end) at a multiple of 8.
template <class Visit> void for_each_word(const Memory &memory, Address start, Address end, Visit &&visit) {
  const Format format = memory.format();
  for (Address at = align_up(start, word_size); at < end && end - at >= word_size;) {
    const Bytes bytes = memory.fetched(memory.place(at, end - at));
    const u64 words = bytes.size() / word_size;
    if (!words) { // not in the dump: go on at its next range
      const auto ranges = memory.ranges();
      const auto next = std::upper_bound(ranges.begin(), ranges.end(), at,
                                         [](Address a, const Range &range) { return a < range.address; });
      if (next == ranges.end())
        return;
      at = align_up(std::max(next->address, at + word_size), word_size);
      continue;
    }
    for (u64 i = 0; i < words; ++i)
      visit(load_pointer(bytes.data() + i * word_size, format));
    at += words * word_size;
  }
}

// The name of the part of an object at an offset: "._pixels", "._slice._pointer", "[*]", "[*].Handle".
class PartNames {
public:
  explicit PartNames(const Runtime &runtime) : fields_(runtime.fields()) {}

  const std::string &at(Address method_table, u64 offset) {
    auto [elements, is_new] = elements_.try_emplace(method_table);
    if (is_new)
      elements->second = fields_.elements(method_table);
    const std::optional<ElementShape> &shape = elements->second;
    const bool is_element = shape && shape->size && offset >= shape->start;
    const u64 inside = is_element ? (offset - shape->start) % shape->size : offset;
    auto [name, is_first] = names_.try_emplace({method_table, inside});
    if (is_first)
      name->second = is_element ? "[*]" + (shape->type == ElementType::ValueType
                                               ? field_at(shape->method_table, {}, inside + word_size, 0)
                                               : std::string())
                                : field_at(method_table, {}, inside, 0);
    return name->second;
  }

private:
  std::string field_at(Address method_table, const TypeArguments &arguments, u64 offset, unsigned depth) {
    constexpr unsigned most_depth = 16;
    if (!method_table || depth == most_depth)
      return {};
    const std::vector<InstanceField> of_struct =
        depth ? fields_.fields_of_instance(method_table, arguments) : std::vector<InstanceField>();
    for (const InstanceField &field : depth ? of_struct : fields_.instance_fields(method_table)) {
      const u64 size = field.size.value_or(word_size) * std::max<u64>(field.count, 1);
      if (offset < field.offset || offset - field.offset >= size)
        continue;
      const std::string name = "." + field.name;
      if (field.type != ElementType::ValueType)
        return name;
      return name + field_at(field.method_table, field.arguments, offset - field.offset + word_size, depth + 1);
    }
    return depth ? std::string() : "." + hex(offset);
  }

  Fields &fields_;
  std::map<Address, std::optional<ElementShape>> elements_;
  std::map<std::pair<Address, u64>, std::string> names_;
};

class OwnerFinder {
public:
  OwnerFinder(const Snapshot &snapshot, const AccountMap &map)
      : snapshot_(snapshot), memory_(snapshot.target().memory), map_(map), blocks_(snapshot.target(), map),
        owner_(blocks_.size(), no_owner), is_behind_(blocks_.size()), bytes_left_(memory_.size()) {}

  NativeOwners find() {
    if (blocks_.is_cut())
      out_.notes.add(Subject::memory, Effect::none,
                     "malloc has more blocks than " + count_text(blocks_.size()) + ": owners are known for these");
    if (blocks_.size()) {
      find_holders();
      find_links();
      find_owners();
    }
    add_up();
    return std::move(out_);
  }

private:
  // Finds for each block the first word of an object with its address.
  void find_holders() {
    slots_.assign(blocks_.size(), ~Address{0});
    const ObjectIndex &index = snapshot_.index();
    const References &references = snapshot_.references();
    const HeapTypes &types = references.types();
    constexpr u32 size_of_character = 2;
    std::vector<u8> may_hold(types.size()); // no pointers are looked for in texts
    for (u32 i = 0; i < types.size(); ++i) {
      const std::optional<ObjectLayout> layout =
          snapshot_.runtime().types().object_layout(types[TypeId(i)].method_table);
      may_hold[i] = layout && layout->component_size != size_of_character;
    }
    const unsigned threads = snapshot_.threads();
    Timer timer(snapshot_.watch(), "holders of blocks");
    std::vector<ReferenceReader> readers(std::max(threads, 1u), ReferenceReader(references));
    parallel_for(index.places().blocks(), threads, [&](u64 part, unsigned worker) {
      snapshot_.watch().check();
      index.for_each(part, [&](ObjectId, Address address) {
        OpenedObject object;
        if (!readers[worker].open(address, object) || !may_hold[static_cast<u32>(object.id)])
          return;
        for (u64 at = word_size; at + word_size <= object.size; at += word_size)
          if (const u32 block = blocks_.find(load_pointer(object.bytes + at, memory_.format()));
              block != NativeBlocks::none)
            take_first(slots_[block], address + at);
      });
    });
  }
  // Several threads may find slots for one block.
  static void take_first(Address &first, Address candidate) {
    std::atomic_ref<Address> shared(first);
    Address known = shared.load(std::memory_order_relaxed);
    while (candidate < known && !shared.compare_exchange_weak(known, candidate, std::memory_order_relaxed)) {
    }
  }

  // Returns the block to which a word of native memory leads. Numbers that are an address by chance are mostly odd.
  u32 target_of(u64 word) const {
    const u32 block = blocks_.find(word);
    const bool is_aligned = word % word_size == 0;
    return block == NativeBlocks::none || is_aligned || word - word % word_size == blocks_[block].start
               ? block
               : NativeBlocks::none;
  }

  // Finds which blocks each block leads to.
  void find_links() {
    constexpr u64 part_size = 512;
    const u64 parts = (blocks_.size() + part_size - 1) / part_size;
    std::vector<std::vector<u32>> targets(parts);
    links_.resize(blocks_.size() + u64{1});
    Timer timer(snapshot_.watch(), "links of blocks");
    parallel_for_parts(blocks_.size(), part_size, snapshot_.threads(), [&](u64 begin, u64 end, unsigned) {
      snapshot_.watch().check();
      std::vector<u32> &out = targets[begin / part_size];
      for (u64 i = begin; i < end; ++i) {
        const u64 before = out.size();
        u32 last = static_cast<u32>(i);
        for_each_word(memory_, blocks_[static_cast<u32>(i)].start, blocks_[static_cast<u32>(i)].end, [&](u64 word) {
          const u32 target = target_of(word);
          if (target != NativeBlocks::none && target != last && target != i)
            out.push_back(last = target);
        });
        links_[i + 1] = out.size() - before;
      }
    });
    for (u64 i = 0; i < blocks_.size(); ++i)
      links_[i + 1] += links_[i];
    targets_.reserve(links_.back());
    for (std::vector<u32> &part : targets) {
      targets_.insert(targets_.end(), part.begin(), part.end());
      part = {};
    }
  }

  u32 add_owner(Owner kind, std::string name) {
    out_.owners.push_back({.kind = kind, .name = std::move(name)});
    return static_cast<u32>(out_.owners.size() - 1);
  }

  void own_by_fields() {
    const ObjectIndex &index = snapshot_.index();
    TypeSystem &types = snapshot_.runtime().types();
    PartNames names(snapshot_.runtime());
    const FrameworkNames framework(snapshot_.assemblies());
    ReferenceReader reader(snapshot_.references());
    std::map<std::string, u32> numbers;
    std::vector<std::vector<Address>> objects; // by owner
    for (u32 block = 0; block < blocks_.size(); ++block) {
      OpenedObject object;
      if (slots_[block] == ~Address{0} || !reader.open(index.address(index.last_at_or_before(slots_[block])), object))
        continue;
      const Address method_table = object.type->method_table;
      const std::string name = types.name(method_table) + names.at(method_table, slots_[block] - object.address);
      const auto [number, is_new] = numbers.try_emplace(name, 0);
      if (is_new) {
        number->second = add_owner(Owner::field, name);
        const std::string &type = types.name(method_table);
        is_of_framework_.push_back(!type.ends_with("[]") && framework.contain(type));
        objects.emplace_back();
      }
      owner_[block] = number->second;
      NativeOwner &owner = out_.owners[number->second];
      if (!owner.example)
        owner.example = object.address;
      objects[number->second].push_back(object.address);
    }
    for (u32 i = 0; i < objects.size(); ++i) {
      std::sort(objects[i].begin(), objects[i].end());
      out_.owners[i].holders = static_cast<u64>(std::unique(objects[i].begin(), objects[i].end()) - objects[i].begin());
    }
  }

  // Gives the owner all blocks without owner that these lead to.
  void follow(std::vector<u32> &from) {
    while (!from.empty()) {
      const u32 block = from.back();
      from.pop_back();
      for (u64 i = links_[block]; i < links_[block + u64{1}]; ++i)
        if (const u32 target = targets_[i]; owner_[target] == no_owner) {
          owner_[target] = owner_[block];
          is_behind_[target] = true;
          from.push_back(target);
        }
    }
  }
  // Gives the owner all blocks without owner to which this memory leads.
  // `has_malloc_words`: it may have words of malloc's own.
  void own(u32 owner, Address start, Address end, bool has_malloc_words = false) {
    snapshot_.watch().check();
    std::vector<u32> found;
    for_each_word(memory_, start, end, [&](u64 word) {
      const u32 block = target_of(word);
      if (block == NativeBlocks::none || owner_[block] != no_owner ||
          (has_malloc_words && blocks_.is_in_tail(block, word)))
        return;
      owner_[block] = owner;
      found.push_back(block);
    });
    follow(found);
  }
  u32 own(Owner kind, EnumSet<MemoryClass> classes) {
    const u32 owner = add_owner(kind, "");
    for (const ClassStretch &one : map_.stretches)
      if (classes.has(one.memory) && (one.writable || kind == Owner::runtime)) // code and stubs contain addresses, too
        own(owner, one.start, one.end, kind == Owner::stacks);
    return owner;
  }

  // Variables of threads (TLS) lie around the thread's own record: of most threads at the end of the stack, which is
  // looked at already; of the first one in memory that the loader got.
  void own_by_thread_variables(u32 owner) {
    constexpr u64 before = 64 << 10, after = 4 << 10;
    for (const Thread &thread : snapshot_.target().threads)
      if (const Address record = thread_record(snapshot_.target(), thread); record > before)
        own(owner, record - before, record + after);
  }

  // Finds what the fields of types lead to, through other blocks: of the framework's types, or of all others.
  void follow_fields(bool of_framework) {
    std::vector<u32> held;
    for (u32 block = blocks_.size(); block-- > 0;) // the way of the first one counts
      if (const u32 owner = owner_[block];
          owner != no_owner && out_.owners[owner].kind == Owner::field && is_of_framework_[owner] == of_framework)
        held.push_back(block);
    follow(held);
  }

  // The later a library's variables are looked at, the more they lead to that others use, too.
  enum class Rank : u8 { others, runtime, libc };
  struct Library {
    const Module *module;
    Rank rank;
  };
  // Returns the modules by rank.
  std::vector<Library> libraries() const {
    const std::string &runtime = snapshot_.runtime().module().path;
    const std::string_view folder = folder_of(runtime);
    std::vector<Library> out;
    for (const Module &module : snapshot_.target().modules) {
      const bool is_of_runtime = module.path == runtime || (!folder.empty() && module.path.starts_with(folder));
      const bool is_loader = module.file_name().starts_with("ld-"); // has the records of all libraries
      const bool is_libc = is_glibc(module) || is_musl(module) || is_loader;
      out.push_back({&module, is_libc ? Rank::libc : is_of_runtime ? Rank::runtime : Rank::others});
    }
    std::ranges::stable_sort(out, {}, &Library::rank);
    return out;
  }

  // Finds what the variables of libraries lead to.
  void own_by_libraries(std::span<const Library> libraries) {
    for (const auto &[module, rank] : libraries) {
      const std::optional<ModuleImage> image = ModuleImage::at(memory_, module->base);
      if (image && image->is_managed())
        continue;
      const std::string name = printable(module->file_name());
      const u32 owner = add_owner(Owner::library, name);
      u64 unread = !image && is_library(name);
      for (const ModuleImage::Section &section : image ? image->sections() : std::span<const ModuleImage::Section>())
        unread += section.writable ? section.size : 0;
      for (const Range &range : image ? image->writable_bytes(memory_) : std::vector<Range>())
        if (range.bytes.size() <= bytes_left_) {
          own(owner, range.address, align_up(range.end(), page), rank == Rank::libc); // the loader uses the rest of its
                                                                                      // last page
          bytes_left_ -= range.bytes.size();
          unread -= std::min<u64>(unread, range.bytes.size());
        }
      if (unread)
        unread_.push_back({module, rank});
    }
  }
  static bool is_library(std::string_view name) { return name.ends_with(".so") || name.find(".so.") != name.npos; }
  static std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/') + 1); }

  // Puts the program's own libraries, which come neither with the runtime nor with the system, first; the last loaded
  // of them leads.
  void list_unread(std::span<const Library> all) {
    std::set<std::string_view> folders_of_system;
    for (const auto &[module, rank] : all)
      if (rank == Rank::libc)
        folders_of_system.insert(folder_of(module->path));
    auto is_of_program = [&](const Library &one) {
      return one.rank == Rank::others && is_library(one.module->file_name()) &&
             !is_host_library(one.module->file_name()) && !folders_of_system.contains(folder_of(one.module->path));
    };
    const auto others = std::ranges::stable_partition(unread_, is_of_program).begin();
    std::reverse(unread_.begin(), others);
    out_.unread_of_program = static_cast<u64>(others - unread_.begin());
    for (const Library &one : unread_)
      out_.unread_libraries.push_back(printable(one.module->file_name()));
  }

  void find_owners() {
    Timer timer(snapshot_.watch(), "owners of blocks");
    own_by_fields();
    // The program's fields come first, as a programmer can change these; then its libraries. The runtime's memory comes
    // late, as it is full of words that were addresses once; but much of what its own objects lead to, a Thread's for
    // instance, is everybody's.
    follow_fields(false);
    const std::vector<Library> all = libraries();
    own_by_libraries(all);
    list_unread(all);
    follow_fields(true);
    own(Owner::runtime, {Class::jit_code, Class::runtime_stubs, Class::loader_heaps, Class::handle_tables,
                         Class::gc_bookkeeping, Class::runtime_other});
    own_by_thread_variables(own(Owner::stacks, {Class::stacks_in_use}));
    own(Owner::unknown_memory, {Class::not_identified, Class::shared_memory, Class::mapped_files});
  }

  void add_up() {
    const u32 nobody = add_owner(Owner::nobody, "");
    std::vector<std::map<u64, u64>> sizes(out_.owners.size());
    u64 largest = 0;
    for (u32 i = 0; i < blocks_.size(); ++i) {
      const u32 number = owner_[i] == no_owner ? nobody : owner_[i];
      NativeOwner &owner = out_.owners[number];
      const u64 bytes = blocks_[i].end - blocks_[i].start;
      ++owner.blocks;
      owner.bytes += bytes;
      if (is_behind_[i]) {
        ++owner.behind_blocks;
        owner.behind_bytes += bytes;
      }
      ++sizes[number][bytes];
      if (number == nobody && bytes > largest) {
        largest = bytes;
        owner.example = blocks_[i].start;
      }
      ++out_.blocks;
      out_.bytes += bytes;
    }
    for (u32 i = 0; i < out_.owners.size(); ++i) {
      std::vector<NativeSize> &of = out_.owners[i].sizes;
      for (const auto &[size, count] : sizes[i])
        of.push_back({size, count});
      std::stable_sort(of.begin(), of.end(),
                       [](const NativeSize &a, const NativeSize &b) { return a.bytes() > b.bytes(); });
    }
    std::erase_if(out_.owners, [](const NativeOwner &owner) { return !owner.blocks; });
    std::stable_sort(out_.owners.begin(), out_.owners.end(),
                     [](const NativeOwner &a, const NativeOwner &b) { return a.bytes > b.bytes; });
  }

  const Snapshot &snapshot_;
  const Memory &memory_;
  const AccountMap &map_;
  const NativeBlocks blocks_;
  std::vector<Address> slots_; // by block: the first word of an object that has its address
  std::vector<u64> links_;     // block i leads to targets_[links_[i]] up to targets_[links_[i + 1]]
  std::vector<u32> targets_;
  std::vector<u32> owner_; // by block: index in out_.owners
  std::vector<bool> is_behind_;
  std::vector<bool> is_of_framework_; // by owner, of fields
  std::vector<Library> unread_;       // whose variables the dump lacks in part
  u64 bytes_left_;                    // of libraries: images of a damaged dump may lie one above the other
  NativeOwners out_;
};

} // namespace

const char *name_of(NativeOwner::Kind kind) {
  constexpr const char *names[] = {"field", "library", "runtime", "stacks", "unknown_memory", "nobody"};
  return names[static_cast<u8>(kind)];
}

std::string text_of(const NativeOwner &owner) {
  switch (owner.kind) {
  case Owner::field: return fmt::format("{} × {}", count_text(owner.holders), owner.name);
  case Owner::library: return "variables of " + owner.name;
  case Owner::runtime: return "static fields that are no references, or the runtime's own memory";
  case Owner::stacks: return "stacks and variables of threads";
  case Owner::unknown_memory: return "memory that is not identified";
  case Owner::nobody: return "nobody: nothing in this target refers to them";
  }
  return {};
}

std::string sizes_text(const NativeOwner &owner) {
  auto blocks_text = [](u64 blocks) { return count_text(blocks) + (blocks == 1 ? " block" : " blocks"); };
  if (owner.sizes.empty())
    return {};
  const NativeSize &most = owner.sizes.front();
  if (owner.sizes.size() == 1)
    return blocks_text(owner.blocks) + " of " + bytes_text(most.size);
  if (most.bytes() >= owner.bytes / 4)
    return fmt::format("{}, {} of them of {}", blocks_text(owner.blocks), count_text(most.blocks),
                       bytes_text(most.size));
  const auto [least, largest] = std::minmax_element(owner.sizes.begin(), owner.sizes.end(),
                                                    [](const auto &a, const auto &b) { return a.size < b.size; });
  return fmt::format("{} of {} to {}", blocks_text(owner.blocks), bytes_text(least->size), bytes_text(largest->size));
}

bool is_leak(const NativeOwner &owner, const NativeOwners &native) {
  constexpr u64 least_bytes = 16 << 20, least_blocks = 100; // a single large buffer is no leak
  if (owner.bytes < least_bytes || owner.blocks < least_blocks)
    return false;
  return owner.kind == Owner::nobody ||
         ((owner.kind == Owner::field || owner.kind == Owner::runtime) && owner.bytes >= native.bytes / 4);
}

std::string main_owner_text(const NativeOwners &native) {
  if (native.owners.empty())
    return {};
  const NativeOwner &most = native.owners.front();
  const std::string blocks = fmt::format("{} ({})", bytes_text(most.bytes), sizes_text(most));
  if (most.kind == Owner::nobody)
    return fmt::format("Nothing refers to {} of it: it was probably not freed.", blocks);
  return fmt::format("{} of it is held by {}.", blocks, text_of(most));
}

std::string unread_text(const NativeOwners &native) {
  const std::vector<std::string> &names = native.unread_libraries;
  if (names.empty())
    return {};
  const u64 others = names.size() - 1;
  return "variables of " + names.front() +
         (others ? fmt::format(" and {} other {}", count_text(others), others == 1 ? "library" : "libraries") : "") +
         ", which the dump has only in part";
}

bool are_blocks_worth_a_look(const AccountMap &map) {
  constexpr u64 least = 24 << 20, least_part = 10; // a tenth; the runtime itself has some 10 MiB
  const u64 bytes = map.sum_of({Class::malloc_in_use, Class::malloc_large});
  return bytes >= least && bytes >= (map.mapped - map.of(Class::reserved).bytes) / least_part;
}

void foresee_native_owners(Plan &plan) {
  plan.perhaps(Pass::index | Pass::references)
      .perhaps("holders of blocks")
      .perhaps("links of blocks")
      .perhaps("owners of blocks");
}

NativeOwners find_native_owners(const Snapshot &snapshot, const AccountMap &map) {
  return OwnerFinder(snapshot, map).find();
}

} // namespace dnheap

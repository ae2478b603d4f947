#include "analysis/owners/weak_entries.h"

#include "analysis/shapes/dependent_handles.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/typed_objects.h"
#include "objects/references.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace dnheap {

namespace {

constexpr std::string_view weak_table = "System.Runtime.CompilerServices.ConditionalWeakTable<", inner = "+Container";
constexpr u64 most_weak_entries = 1 << 22, most_bytes_of_entries = 64 << 20; // more are not looked up

struct WeakContainer {
  Address table = 0, entries = 0; // the array with the handles
  bool is_current = false;        // false: it was replaced by a larger one, which has the same handles
};

class WeakEntryReader {
public:
  explicit WeakEntryReader(const Snapshot &snapshot)
      : snapshot_(snapshot), memory_(snapshot.runtime().memory()), fields_(snapshot.runtime()),
        reader_(snapshot.references()) {}

  WeakEntries read() {
    read_handles();
    std::vector<WeakContainer> containers = handles_.empty() ? std::vector<WeakContainer>() : find_containers();
    std::ranges::stable_sort(containers, std::greater(), &WeakContainer::is_current);
    for (const WeakContainer &one : containers)
      take_entries(one);
    for (auto &[table, entries] : by_table_)
      out_.tables.push_back({table, std::move(entries)});
    for (const auto &[handle, entry] : handles_)
      out_.others.push_back(entry);
    std::ranges::sort(out_.others, {}, &WeakEntry::key);
    return std::move(out_);
  }

private:
  void read_handles() {
    for (const HandleData &one : dependent_handles(snapshot_.runtime())) {
      if ((out_.is_cut = handles_.size() >= most_weak_entries))
        return;
      handles_.emplace(one.handle, WeakEntry{one.object, *one.secondary});
    }
  }

  std::vector<WeakContainer> find_containers() {
    std::vector<WeakContainer> out;
    for (const TypedObject &one : objects_that(snapshot_, [&](Address mt) {
           const std::string &name = snapshot_.runtime().types().name(mt);
           return name.starts_with(weak_table) && name.find(inner) != name.npos;
         })) {
      const Address table = fields_.reference_or_null(one.address, "_parent");
      out.push_back({table, fields_.reference_or_null(one.address, "_entries"),
                     table && fields_.reference_or_null(table, "_container") == one.address});
      out_.containers.push_back(one.address);
    }
    return out;
  }

  // Each handle counts for the first container that has it.
  void take_entries(const WeakContainer &container) {
    snapshot_.watch().check();
    OpenedObject opened;
    if (!container.entries || !reader_.open(container.entries, opened))
      return;
    if ((out_.is_cut |= opened.size > bytes_left_))
      return;
    bytes_left_ -= opened.size;
    const u64 p = memory_.format().pointer_size;
    const Bytes bytes = memory_.peek_up_to(container.entries, opened.size);
    for (u64 at = 2 * p; at + p <= bytes.size(); at += p)
      if (auto handle = handles_.extract(load_pointer(bytes.data() + at, memory_.format()));
          handle && container.is_current)
        by_table_[container.table].push_back(handle.mapped());
    memory_.note_read(container.entries, bytes.size());
  }

  const Snapshot &snapshot_;
  const Memory &memory_;
  FieldReader fields_;
  ReferenceReader reader_;
  WeakEntries out_;
  std::unordered_map<Address, WeakEntry> handles_; // those that no container had so far
  std::map<Address, std::vector<WeakEntry>> by_table_;
  u64 bytes_left_ = most_bytes_of_entries;
};

} // namespace

WeakEntries find_weak_entries(const Snapshot &snapshot) { return WeakEntryReader(snapshot).read(); }

} // namespace dnheap

#include "dump/records/heap_events.h"

#include "base/error.h"
#include "base/text.h"
#include "dump/records/record_names.h"
#include "target/memory.h"
#include "target/target.h"

#include <algorithm>
#include <cctype>

namespace dnheap {

namespace {

enum RuntimeEvent : u32 {
  gc_start = 1,
  gc_end = 2,
  restart_end = 3,
  suspend_begin = 9,
  bulk_type = 15,
  bulk_root_edge = 16,
  bulk_weak_table_edge = 17,
  bulk_node = 18,
  bulk_edge = 19,
  generation_range = 23,
  bulk_ccw = 36,
  bulk_static = 38,
};
constexpr u32 module_unload_or_end = 154, module_load = 152;

enum RootEdgeKind : u8 { edge_from_stack = 0, edge_from_finalizer = 1, edge_from_handle = 2 };
enum RootEdgeFlag : u32 { is_pinning = 1, is_weak = 2, is_ref_counted = 8 };

constexpr u64 most_names_kept = 1 << 24; // of types, fields and modules

// Returns the length of "[,,]" or "[]" at the front; 0: there is none.
std::size_t length_of_ranks(std::string_view name) {
  const std::size_t close = name.find_first_not_of(",*", 1);
  return name[0] == '[' && close != name.npos && name[close] == ']' ? close + 1 : 0;
}

HeapRecord::RootKind kind_of_edge(u8 kind, u32 flags) {
  if (kind == edge_from_stack)
    return HeapRecord::RootKind::stack;
  if (flags & is_ref_counted)
    return HeapRecord::RootKind::ref_counted_handle;
  if (kind == edge_from_finalizer)
    return HeapRecord::RootKind::finalizer;
  return kind == edge_from_handle && flags & is_pinning ? HeapRecord::RootKind::pinned_handle
                                                        : HeapRecord::RootKind::strong_handle;
}

} // namespace

// Reads an event's fields from front to back. Throws Error at its end.
class HeapEvents::Fields {
public:
  Fields(Bytes rest, u8 pointer_size) : rest_(rest), pointer_size_(pointer_size) {}

  template <class T> T number() { return load<T>(take(sizeof(T)).data(), ByteOrder::little); }
  u64 pointer() { return pointer_size_ == 8 ? number<u64>() : number<u32>(); }
  void skip(u64 bytes) { take(bytes); }
  u64 pointer_size() const { return pointer_size_; }
  std::string text() {
    u64 end = 0;
    while (end + 2 <= rest_.size() && load<u16>(rest_.data() + end, ByteOrder::little))
      end += 2;
    const Bytes out = take(end + 2);
    return utf16_to_utf8(out.first(end), ByteOrder::little);
  }
  // A number of values of a size, which must all be there.
  u32 count(u64 size) { return checked(number<u32>(), size); }
  u32 checked(u32 count, u64 size) {
    if (count > rest_.size() / size)
      fail();
    return count;
  }

private:
  [[noreturn]] static void fail() {
    throw Error("the stream of events cannot be read: an event of the GC is too short");
  }
  Bytes take(u64 size) {
    if (size > rest_.size())
      fail();
    const Bytes out = rest_.first(size);
    rest_ = rest_.subspan(size);
    return out;
  }
  Bytes rest_;
  u8 pointer_size_;
};

std::string name_of_event_type(std::string_view name) {
  std::string out;
  std::string closing; // for each open bracket
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '`' && i + 1 < name.size() && std::isdigit(static_cast<unsigned char>(name[i + 1]))) {
      while (i + 1 < name.size() && std::isdigit(static_cast<unsigned char>(name[i + 1])))
        ++i;
    } else if (const std::size_t length = length_of_ranks(name.substr(i))) {
      out += name.substr(i, length);
      i += length - 1;
    } else if (c == '[') {
      out += '<';
      closing += '>';
    } else if (c == ']' && !closing.empty()) {
      out += closing.back();
      closing.pop_back();
    } else {
      out += c;
      if (c == ',' && !closing.empty() && i + 1 < name.size() && name[i + 1] != ' ')
        out += ' ';
    }
  }
  return out;
}

void HeapEvents::take(const NettraceEvent &event, u8 pointer_size, u64 ticks_per_second) {
  pointer_size_ = pointer_size;
  if (event.kind.provider == rundown_provider) {
    if (event.kind.number == module_unload_or_end)
      add_module({event.payload, pointer_size_});
    return;
  }
  if (event.kind.provider != provider)
    return;
  watch_sequence(event);
  switch (event.kind.number) {
  case suspend_begin:
    if (state_ == State::waiting)
      began_ = event.time;
    return;
  case restart_end:
    if (state_ != State::restarts)
      return;
    state_ = State::complete;
    if (began_ && event.time > began_)
      pause_ = static_cast<double>(event.time - began_) / static_cast<double>(ticks_per_second);
    return;
  default: take_runtime_event(event);
  }
}

void HeapEvents::take_runtime_event(const NettraceEvent &event) {
  const Fields fields(event.payload, pointer_size_);
  switch (event.kind.number) { // types and modules may come at any time
  case gc_start: return begin_collection(fields);
  case bulk_type: return add_types(fields);
  case module_load: return add_module(fields);
  default: break;
  }
  if (state_ != State::lists)
    return;
  switch (event.kind.number) {
  case gc_end: return end_collection(fields);
  case bulk_node: return add_objects(fields);
  case bulk_edge: return add_references(fields);
  case bulk_root_edge: return add_roots(fields);
  case bulk_weak_table_edge: return add_dependents(fields);
  case bulk_static: return add_statics(fields);
  case bulk_ccw: return add_com_roots(fields);
  case generation_range: return add_range(fields);
  default: return;
  }
}

// Each thread counts its events: a step means that the process's buffer was full.
void HeapEvents::watch_sequence(const NettraceEvent &event) {
  constexpr u64 most_threads_watched = 1 << 16;
  const auto [at, is_new] = sequences_.try_emplace(event.thread, event.sequence);
  if (!is_new && event.sequence != at->second + 1 && (state_ == State::lists || state_ == State::restarts))
    is_lost_ = true;
  at->second = event.sequence;
  if (sequences_.size() > most_threads_watched)
    throw Error("the stream of events cannot be read: it has events of more threads than a process has");
}

// The collection that lists objects is full, blocking, and was asked for.
void HeapEvents::begin_collection(Fields fields) {
  constexpr u32 full = 2, is_induced = 1, is_blocking = 0;
  if (state_ != State::waiting)
    return;
  const auto number = fields.number<u32>(), generation = fields.number<u32>(), reason = fields.number<u32>(),
             kind = fields.number<u32>();
  if (generation != full || reason != is_induced || kind != is_blocking)
    return;
  collection_ = number;
  state_ = State::lists;
}

void HeapEvents::end_collection(Fields fields) {
  if (fields.number<u32>() != collection_)
    return;
  state_ = objects_.entries() ? State::restarts : State::waiting; // the program itself may ask for collections
}

void HeapEvents::check_index(u32 number, u32 index) {
  u32 &next = next_index_[number];
  is_lost_ |= index != next;
  next = index + 1;
}

void HeapEvents::add_types(Fields fields) {
  constexpr u64 least = 31;
  constexpr u32 is_array = 8;
  u32 count = fields.number<u32>();
  fields.skip(2);
  for (count = fields.checked(count, least); count; --count) {
    const u64 id = fields.number<u64>();
    EventType type;
    type.is_known = true;
    type.module = fields.number<u64>();
    fields.skip(4);
    const auto flags = fields.number<u32>();
    fields.skip(1);
    type.name = name_of_event_type(fields.text());
    for (u32 parameters = fields.count(8); parameters; --parameters) {
      const u64 parameter = fields.number<u64>();
      if (flags & is_array && !type.element)
        type.element = parameter;
    }
    types_[id] = std::move(type);
    if (types_.size() > most_names_kept)
      throw Error("the stream of events cannot be read: it has more types than a process has");
  }
}

u32 HeapEvents::number_of_type(u64 id) {
  if (id == last_id_ && last_number_)
    return last_number_;
  const auto [at, is_new] = numbers_.try_emplace(id, static_cast<u32>(ids_.size() + 1));
  if (is_new)
    ids_.push_back(id);
  if (ids_.size() > most_names_kept)
    throw Error("the stream of events cannot be read: it has more types than a process has");
  last_id_ = id;
  return last_number_ = at->second;
}

void HeapEvents::add_objects(Fields fields) {
  check_index(bulk_node, fields.number<u32>());
  u32 count = fields.number<u32>();
  fields.skip(2);
  for (count = fields.checked(count, fields.pointer_size() + 24); count; --count) {
    const Address address = fields.pointer();
    const u64 size = fields.number<u64>(), type = fields.number<u64>(), degree = fields.number<u64>();
    objects_.add_object(address, number_of_type(type), size, degree);
  }
}

void HeapEvents::add_references(Fields fields) {
  check_index(bulk_edge, fields.number<u32>());
  u32 count = fields.number<u32>();
  fields.skip(2);
  for (count = fields.checked(count, fields.pointer_size() + 4); count; --count) {
    objects_.add_reference(fields.pointer());
    fields.skip(4);
  }
}

void HeapEvents::add_roots(Fields fields) {
  check_index(bulk_root_edge, fields.number<u32>());
  u32 count = fields.number<u32>();
  fields.skip(2);
  for (count = fields.checked(count, 2 * fields.pointer_size() + 5); count; --count) {
    const Address object = fields.pointer();
    const auto kind = fields.number<u8>();
    const auto flags = fields.number<u32>();
    fields.pointer(); // a handle's place, or a method's
    if (object && !(flags & is_weak))
      roots_.push_back({.object = object, .kind = kind_of_edge(kind, flags), .name = 0, .thread = 0});
  }
}

void HeapEvents::add_dependents(Fields fields) {
  check_index(bulk_weak_table_edge, fields.number<u32>());
  u32 count = fields.number<u32>();
  fields.skip(2);
  for (count = fields.checked(count, 3 * fields.pointer_size()); count; --count) {
    const Address key = fields.pointer(), value = fields.pointer();
    fields.pointer();
    if (key && value)
      dependents_.emplace_back(key, value);
  }
}

void HeapEvents::add_statics(Fields fields) {
  constexpr u64 least = 30;
  constexpr u32 is_thread_static = 1;
  u32 count = fields.number<u32>();
  fields.skip(8 + 2);
  for (count = fields.checked(count, least); count; --count) {
    fields.skip(8); // the field's place
    StaticField field;
    field.object = fields.number<u64>();
    field.type = fields.number<u64>();
    field.is_thread_static = fields.number<u32>() & is_thread_static;
    field.name = fields.text();
    if (field.object && statics_.size() < most_names_kept)
      statics_.push_back(std::move(field));
  }
}

void HeapEvents::add_com_roots(Fields fields) {
  constexpr u64 size = 44;
  constexpr u32 is_strong = 1;
  u32 count = fields.number<u32>();
  fields.skip(2);
  for (count = fields.checked(count, size); count; --count) {
    fields.skip(8);
    const Address object = fields.number<u64>();
    fields.skip(8 + 8 + 4 + 4);
    if (fields.number<u32>() & is_strong && object)
      roots_.push_back({.object = object, .kind = HeapRecord::RootKind::com, .name = 0, .thread = 0});
  }
}

// Ranges come before and after the collection. Those after it, when objects have been listed, are the ones that hold.
void HeapEvents::add_range(Fields fields) {
  constexpr int oldest = 4;
  if (objects_.entries() == 0 || segments_.size() > most_names_kept)
    return;
  const int generation = fields.number<u8>();
  const Address start = fields.pointer();
  const u64 used = fields.number<u64>();
  if (generation <= oldest && used && start + used > start)
    segments_.push_back({start, start + used, generation});
}

void HeapEvents::add_module(Fields fields) {
  const u64 id = fields.number<u64>();
  fields.skip(8 + 4 + 4);
  if (modules_.size() < most_names_kept)
    modules_[id] = std::string(name_in_path(fields.text()));
}

void HeapEvents::check() const {
  if (is_lost_ || objects_.references() != objects_.expected_references())
    throw Error("the process lost events of its collection, as they are more than its buffer for them holds: not all "
                "objects are known. Read its memory instead, with -p alone, or let it write a dump: dnheap collect");
}

std::string HeapEvents::name_of_type(u64 id, int depth) const {
  constexpr int deepest = 32;
  const auto at = types_.find(id);
  if (at == types_.end())
    return "(unknown type " + hex(id) + ")";
  const EventType &type = at->second;
  if (type.name.empty() && type.element && depth < deepest)
    return name_of_type(type.element, depth + 1) + "[]";
  return type.name.empty() ? "(unknown type " + hex(id) + ")" : type.name;
}

std::string HeapEvents::assembly_of(u64 module) const {
  const auto at = modules_.find(module);
  return at == modules_.end() ? "" : at->second;
}

u64 HeapEvents::nameless_types() const {
  return static_cast<u64>(std::ranges::count_if(ids_, [&](u64 id) {
    const auto at = types_.find(id);
    return at == types_.end() || (at->second.name.empty() && !at->second.element);
  }));
}

void HeapEvents::fill(HeapRecord &record) const {
  record.types.push_back(
      {.name = "Free", .assembly = "", .base_size = 0, .component_size = 0, .has_references = false});
  for (u64 id : ids_) {
    const auto at = types_.find(id);
    record.types.push_back({.name = name_of_type(id),
                            .assembly = at == types_.end() ? "" : assembly_of(at->second.module),
                            .base_size = 0,
                            .component_size = 0,
                            .has_references = false});
  }
  record.roots = roots_;
  RecordNames names(record);
  for (const StaticField &field : statics_)
    // The event has the field's name and the type of the object in it, not the type that declares the field.
    record.roots.push_back(
        {.object = field.object,
         .kind = field.is_thread_static ? HeapRecord::RootKind::thread_static : HeapRecord::RootKind::static_field,
         .name = names.number_of(field.name + " (" + name_of_type(field.type) + ")"),
         .thread = 0});
  record.segments = segments_;
  record.hidden = dependents_;
}

} // namespace dnheap

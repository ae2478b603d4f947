// HeapEvents: the objects, types and roots of a heap, from the GC's events: the full collection that a listener asks
// for lists all of them. Takes the events in the order of their stream; events of other collections are left out. One
// thread.
#pragma once
#include "dump/records/event_objects.h"
#include "dump/records/nettrace.h"
#include "target/heap_record.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace dnheap {

class HeapEvents {
public:
  static constexpr std::string_view provider = "Microsoft-Windows-DotNETRuntime";
  static constexpr std::string_view rundown_provider = "Microsoft-Windows-DotNETRuntimeRundown";
  // GC, heap dump, type, survival (for generations), collect now, names of types.
  static constexpr u64 keywords = 0x1 | 0x100000 | 0x80000 | 0x400000 | 0x800000 | 0x1000000;
  static constexpr u64 rundown_keywords = 0x8 | 0x100; // assemblies' modules, at the end of a session
  static constexpr u32 level = 4;                      // at level 5 each 100 KB of allocations are an event, too

  // `pointer_size` is asked for at each event, as the stream says it.
  void take(const NettraceEvent &event, u8 pointer_size, u64 ticks_per_second);

  // True once a collection with all objects has ended, and the process's threads go on.
  bool is_complete() const { return state_ == State::complete; }
  bool has_begun() const { return state_ != State::waiting; }
  u64 objects() const { return objects_.entries(); }
  // Seconds for which the process's threads stood still for the collection; nullopt: unknown.
  std::optional<double> pause_seconds() const { return pause_; }

  // Throws Error if events were lost, so that not all objects are known.
  void check() const;
  const EventObjects &listed() const { return objects_; }
  // Adds types (after one for the room between objects), roots, segments and dependent edges.
  void fill(HeapRecord &record) const;
  // How many types have no name, because they were sent to another listener before.
  u64 nameless_types() const;

private:
  enum class State : u8 { waiting, lists, restarts, complete };
  struct EventType {
    std::string name;
    u64 module = 0, element = 0; // element: of an array
    bool is_known = false;
  };
  struct StaticField {
    Address object = 0;
    u64 type = 0; // the object's
    std::string name;
    bool is_thread_static = false;
  };
  class Fields;

  void take_runtime_event(const NettraceEvent &event);
  void begin_collection(Fields fields);
  void end_collection(Fields fields);
  void add_types(Fields fields);
  void add_objects(Fields fields);
  void add_references(Fields fields);
  void add_roots(Fields fields);
  void add_dependents(Fields fields);
  void add_statics(Fields fields);
  void add_com_roots(Fields fields);
  void add_range(Fields fields);
  void add_module(Fields fields);
  void check_index(u32 number, u32 index);
  void watch_sequence(const NettraceEvent &event);

  u32 number_of_type(u64 id);
  std::string name_of_type(u64 id, int depth = 0) const;
  std::string assembly_of(u64 module) const;

  State state_ = State::waiting;
  u8 pointer_size_ = 8;
  u32 collection_ = 0;
  u64 began_ = 0; // ticks
  std::optional<double> pause_;
  bool is_lost_ = false;
  std::map<u32, u32> next_index_; // by the number of the kind of event
  std::unordered_map<u64, u32> sequences_;

  EventObjects objects_;
  std::unordered_map<u64, u32> numbers_; // of types, from 1, by id
  std::vector<u64> ids_;                 // by number - 1
  u64 last_id_ = 0;
  u32 last_number_ = 0;
  std::unordered_map<u64, EventType> types_;
  std::unordered_map<u64, std::string> modules_;
  std::vector<HeapRecord::Root> roots_;
  std::vector<std::pair<Address, Address>> dependents_;
  std::vector<StaticField> statics_;
  std::vector<HeapRecord::Segment> segments_;
};

// Returns a type's name as metadata/type_name.h spells it: "Dictionary<System.String, System.Int32[]>" for
// "Dictionary`2[System.String,System.Int32[]]".
std::string name_of_event_type(std::string_view name);

} // namespace dnheap

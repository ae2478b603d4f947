// Record: the figures of a dump that `diff` and `check` compare: owners, types, classes of memory. It is small (some
// 100 bytes per type and owner) and has no addresses, so that a dump can be compared with another one that is not open
// at the same time, or no longer exists. Saved as JSON, a record is an answer whose command is "record".
#pragma once
#include "analysis/verb.h"
#include "base/notes.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct Record {
  // One OwnerPart. `retained`: aligned bytes. `signature`: that of the owner, so all parts of one owner have the same.
  struct Owner {
    static constexpr const char *all_shared = "(shared)"; // name of shared objects in records of earlier versions
    std::string signature, kind, name;                    // the name without the number of its thread
    u64 retained = 0, objects = 0;
    std::string part = {}; // a service of the DI container; empty: the owner itself
    bool is_shared() const;
    std::string full_name() const; // "the container of services … Shop.OrderBus", "static Shop.Cart.All and others"
  };
  // Types with the same name are one row. `bytes`: as ClrMD reports them; `live`: the number of objects that are alive.
  struct Type {
    std::string name;
    u64 count = 0, bytes = 0, live = 0, retained = 0;
  };
  struct Class {
    std::string name, group, text;
    u64 bytes = 0; // mapped
  };
  // The waste of live objects, as `waste --live` shows it.
  struct Waste {
    std::string kind, what, field;
    u64 bytes = 0, count = 0;
  };

  // What `report` finds wrong.
  struct Finding {
    std::string kind, harm, sureness, text;
  };

  std::string name;                     // name of the file as it was given, or "process 4711"
  std::string description;              // ".NET 10.0.14 on linux x64, workstation GC, regions"
  std::string container, version;       // container of the target; version of the runtime
  bool is_extract = false;              // it has little of the memory outside of the heap
  std::optional<u64> pid;               // absent: unknown
  std::optional<u64> taken;             // seconds since 1970, UTC
  std::string clock;                    // the source of that time: TakenAt::Clock
  u64 objects = 0, bytes = 0;           // walked, Free included
  u64 live_objects = 0, live_bytes = 0; // aligned bytes
  u64 bad_objects = 0;
  bool complete = true;
  Notes notes;
  bool is_saved = false; // read from JSON: the dump may no longer exist

  std::vector<Owner> owners;     // largest first
  std::vector<Type> types;       // largest first
  std::vector<Class> classes;    // in the account's order
  std::vector<Waste> waste;      // largest first
  std::vector<Finding> findings; // the most harmful first
  bool has_findings = false;     // they cost a report, so only records taken for --no-findings-of have them
  bool has_parts = false;        // false in records of earlier versions, which have whole owners, and "(shared)"
  bool has_waste = false;        // false in records of earlier versions, and of dumps without contents of objects
};

// Takes a record of the snapshot: costs the tree of `retained`, one sweep over it, the account, and the passes of
// `waste`. Throws what ask() throws.
Record take_record(Snapshot &snapshot);
// Adds the findings of an answer of `report` about the same dump.
void add_findings(Record &record, const report::Answer &report);
// Returns the plan for take_record().
Plan plan_record();

// Returns the record's rows as tables: owners, types, account, waste.
std::vector<report::Table> tables_of(const Record &record);
// Returns the record as an answer; as JSON it is what parse_record() reads.
report::Answer answer_of(const Record &record);
// Throws Error that names the place if the text is no valid record. `name`: used if the record has none.
Record parse_record(std::string_view json, const std::string &name);
// True if the text begins like a record.
bool looks_like_record(std::string_view text);

} // namespace dnheap

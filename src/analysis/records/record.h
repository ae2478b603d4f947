// Record: what `diff` and `check` look at of a dump: who owns how much, by type, by class of memory. Small (some 100
// bytes per type and owner) and without addresses, so that one dump can be compared with another one that is not open
// at the same time, or that is not there any more: saved as JSON it is an answer whose command is "record".
#pragma once
#include "analysis/verb.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct Record {
  // OwnerPart. Retained: aligned bytes; all parts of one owner together have its signature.
  struct Owner {
    std::string signature, kind, name; // the name without the number of its thread
    u64 retained = 0, objects = 0;
    std::string part = {};         // a service of the container's; empty: it is the owner itself
    std::string full_name() const; // "the container of services … Shop.OrderBus"
  };
  // Types of one name are one. Bytes are what ClrMD reports; live: how many of them something keeps alive.
  struct Type {
    std::string name;
    u64 count = 0, bytes = 0, live = 0, retained = 0;
  };
  struct Class {
    std::string name, group, text;
    u64 bytes = 0; // mapped
  };
  // What live objects store for nothing: as `waste --live` has it.
  struct Waste {
    std::string kind, what, field;
    u64 bytes = 0, count = 0;
  };

  std::string name;                     // of the file that was asked, as it was given, or "process 4711"
  std::string description;              // ".NET 10.0.14 on linux x64, workstation GC, regions"
  std::string container, version;       // of the target; of the runtime
  bool is_extract = false;              // of the memory outside of the heap it has little
  std::optional<u64> pid;               // as far as it is known
  std::optional<u64> taken;             // seconds since 1970, UTC
  std::string clock;                    // who says so: TakenAt::Clock
  u64 objects = 0, bytes = 0;           // walked, Free included
  u64 live_objects = 0, live_bytes = 0; // aligned bytes
  u64 bad_objects = 0;
  bool complete = true;
  std::vector<std::string> notes;
  bool is_saved = false; // read from JSON: there may be no dump any more

  std::vector<Owner> owners;  // largest first
  std::vector<Type> types;    // the same
  std::vector<Class> classes; // in the account's order
  std::vector<Waste> waste;   // the largest first
  bool has_parts = false;     // records of earlier versions have owners as wholes, and "(shared)"
  bool has_waste = false;     // records of earlier versions have none, nor those of dumps without contents
};

// Asks the snapshot: costs the tree of `retained`, one sweep over it, the account, and the passes of `waste`. Throws
// what ask() throws.
Record take_record(Snapshot &snapshot);
// What that takes.
Plan plan_record();

// Its rows: owners, types, account, waste.
std::vector<report::Table> tables_of(const Record &record);
// The record as an answer: in JSON it is what parse_record() reads.
report::Answer answer_of(const Record &record);
// Throws Error where the text is no record, which says at what place of it. `name`: of the record, if it has none.
Record parse_record(std::string_view json, const std::string &name);
// Does the text begin like one?
bool looks_like_record(std::string_view text);

} // namespace dnheap

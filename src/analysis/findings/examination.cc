#include "analysis/findings/examination.h"

#include "analysis/answer_head.h"
#include "analysis/findings/cause.h"
#include "analysis/findings/find_findings.h"
#include "analysis/names/brief_type_name.h"
#include "analysis/names/compiled_names.h"
#include "analysis/native/native_callers.h"
#include "analysis/owners/first_owners.h"
#include "analysis/owners/ranked_paths.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/verdict/hangs.h"
#include "base/share.h"
#include "base/text.h"
#include "objects/object_index.h"
#include "objects/roots.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

// "values of Dictionary<String, MemoryStream>", for the elements of .NET's dictionaries.
std::string place_in_words(const std::string &field) {
  constexpr std::string_view entry = "+Entry[].";
  const auto at = field.find(entry);
  if (at == field.npos || !field.starts_with("System.Collections."))
    return variable_in_words(field);
  return fmt::format("{}s of {}", field.substr(at + entry.size()), brief_type_name(field.substr(0, at)));
}

} // namespace

std::string waste_text(const WasteRow &row) {
  const char *what = "";
  switch (row.kind) {
  case WasteKind::duplicate_strings:
  case WasteKind::duplicate_arrays:
  case WasteKind::duplicate_objects: what = "duplicates"; break;
  case WasteKind::mostly_zero_arrays: what = "mostly zero"; break;
  case WasteKind::zero_arrays: what = "all zero"; break;
  case WasteKind::empty_collections: what = "empty"; break;
  case WasteKind::one_element_collections: what = "with one element"; break;
  case WasteKind::over_allocated_collections: what = "less than a third full"; break;
  case WasteKind::unused_room: what = "room that nothing uses"; break;
  case WasteKind::boxes: what = "boxes"; break;
  case WasteKind::free_beside_pins: what = "pinned beside holes"; break;
  }
  return fmt::format("{} × {}, {}, in {}", count_text(row.count), brief_type_name(row.what), what,
                     place_in_words(row.field));
}

std::string beside_text(const Snapshot &snapshot, const BesideHoles &one) {
  const std::string type =
      one.method_table ? brief_type_name(snapshot.runtime().types().name(one.method_table)) : "nothing";
  return fmt::format("{} {} beside {}", count_text(one.holes.count), one.holes.count == 1 ? "hole" : "holes", type) +
         (one.pin.empty() ? "" : fmt::format(", pinned ({})", one.pin));
}

namespace {

using enum MemoryClass;

constexpr double least_holes = 0.1; // share of holes in the heap; smaller ones are not examined
constexpr u64 least_hole_bytes = 1 << 20;

u64 pinned_objects(const Snapshot &snapshot) {
  const std::vector<Root> &roots = snapshot.roots().roots;
  return static_cast<u64>(std::count_if(roots.begin(), roots.end(), [](const Root &root) {
    return root.kind == RootKind::handle &&
           (root.handle == HandleType::pinned || root.handle == HandleType::async_pinned);
  }));
}

// Returns "ArrayPool<Byte>.Shared" if the owner is the shared pool, or what it keeps for a thread; else empty.
std::string shared_pool_of(std::string_view owner) {
  for (const std::string_view begin : {"static System.Buffers.ArrayPool<", "static System.Buffers.SharedArrayPool<",
                                       "thread_static System.Buffers.SharedArrayPool<"})
    if (owner.starts_with(begin) && owner.find(">.", begin.size()) != owner.npos)
      return fmt::format("ArrayPool<{}>.Shared",
                         brief_type_name(owner.substr(begin.size(), owner.find(">.", begin.size()) - begin.size())));
  return "";
}

void add_pooled(const Suspects &suspects, VerdictFacts &facts) {
  for (const Suspect &s : suspects.list)
    if (const std::string pool = shared_pool_of(s.owner); !pool.empty()) {
      facts.pooled_by = facts.pooled ? facts.pooled_by : pool; // the largest is first
      facts.pooled += s.retained;
      facts.pooled_arrays += std::max<u64>(s.elements, 1);
    }
}

// Returns a thread static's name without its thread; empty if the owner is something else.
std::string_view thread_static_name(std::string_view owner) {
  const u64 at = owner.starts_with("thread_static ") ? owner.find(" of thread ") : owner.npos;
  return at == owner.npos ? std::string_view() : owner.substr(0, at);
}

// Takes a thread static's values of all threads for one holder: each may be small, and one line of code fills all.
void add_thread_statics(const Suspects &suspects, VerdictFacts &facts) {
  struct OfThreads {
    u64 bytes = 0, elements = 0, threads = 0;
    const Suspect *largest = nullptr;
  };
  std::map<std::string_view, OfThreads> found;
  for (const Suspect &s : suspects.list)
    if (const std::string_view name = thread_static_name(s.owner); !name.empty() && shared_pool_of(s.owner).empty()) {
      OfThreads &to = found[name];
      to.bytes += s.retained, to.elements += s.elements, ++to.threads;
      to.largest = to.largest ? to.largest : &s;
    }
  for (const auto &[name, sum] : found)
    if (sum.threads > 1 && sum.bytes > facts.holder) {
      facts.holder = sum.bytes, facts.holder_elements = sum.elements;
      facts.holder_text =
          fmt::format("{} of {} threads: {} in the largest", name, count_text(sum.threads), sum.largest->text());
    }
}

VerdictFacts facts_of(const Snapshot &snapshot, const AccountMap &map, const Suspects &suspects) {
  VerdictFacts out;
  out.process = map.mapped - map.of(reserved).bytes;
  out.files = map.sum_of({images, mapped_files});
  out.live = suspects.live_bytes;
  out.dead = map.of(dead_objects).bytes;
  out.free_inside = map.of(free_objects).bytes;
  out.gc_empty = map.sum_of({gc_behind_objects, gc_free_regions, gc_to_decommit, allocation_contexts});
  out.heap =
      out.gc_empty + map.sum_of({objects, live_objects, dead_objects, frozen_objects, free_objects, gc_not_walked});
  out.runtime = map.sum_of(classes_of_runtime);
  out.malloc_in_use = map.sum_of({malloc_in_use, malloc_large});
  out.malloc_free = map.sum_of({malloc_cached, malloc_free, malloc_top});
  out.other_allocators = map.other_allocators;
  out.perhaps_theirs = map.perhaps_theirs;
  out.stacks = map.sum_of({stacks_in_use, stacks_below});
  out.stacks_in_use = map.of(stacks_in_use).bytes;
  out.threads = map.of(stacks_in_use).pieces;
  out.pinned = pinned_objects(snapshot);
  bool has_many = false; // the suspect's type has many objects
  for (const Suspect &s : suspects.list) {
    if (s.owner == name_of(RootKind::finalizer))
      out.finalizers_text = out.finalizers ? out.finalizers_text : s.text(), out.finalizers += s.retained;
    if (s.is_own)
      out.largest = std::max(out.largest, s.retained);
    if (!s.by_chance && s.owner != name_of(RootKind::finalizer) && s.retained > out.holder) {
      out.holder = s.retained;
      out.holder_elements = s.elements;
      out.holder_text = way_and_text(s.way(), s.text());
    }
    if (s.is_own && s.elements >= least_elements && s.retained * 10 >= out.live) {
      ++out.large_suspects;
      out.large_suspects_bytes += s.retained;
      out.large_suspects_text += fmt::format("{}{} ({:.0f} %)", out.large_suspects_text.empty() ? "" : ", ", s.way(),
                                             100 * share_of(s.retained, out.live));
    }
    const bool is_many = s.elements >= least_elements || s.kept[index_of(KeptKind::context)];
    if (s.is_own && (is_many || !has_many) && (s.retained > out.suspect || is_many > has_many)) {
      has_many = is_many;
      out.suspect = s.retained;
      out.suspect_elements = s.elements;
      out.suspect_text = s.text();
      out.suspect_way = s.way();
      out.suspect_contexts = s.kept[index_of(KeptKind::context)];
      out.suspect_http_clients = s.kept[index_of(KeptKind::http_client)];
      out.suspect_db_connections = s.kept[index_of(KeptKind::db_connection)];
    }
  }
  add_pooled(suspects, out);
  add_thread_statics(suspects, out);
  out.http_clients_field = suspects.kept.held_by[index_of(KeptKind::http_client)];
  out.db_connections_field = suspects.kept.held_by[index_of(KeptKind::db_connection)];
  return out;
}

void replace_all(std::string &in, const std::string &from, const std::string &to) {
  for (u64 at = in.find(from); at != in.npos; at = in.find(from, at + to.size()))
    in.replace(at, from.size(), to);
}

// Names the other owners in place of "and others".
void add_others(const std::vector<Suspect> &suspects, std::span<const OtherOwners> others, VerdictFacts &facts) {
  for (u64 i = 0; i < others.size(); ++i)
    if (const OtherOwners &of = others[i]; !of.names.empty()) {
      const std::string &owner = suspects[i].owner;
      const std::string named = owner.substr(0, owner.size() - std::string_view(and_others).size()) +
                                (of.names.size() > 1 || of.has_more ? ", " : " and ") + of.text();
      for (std::string *text : {&facts.holder_text, &facts.suspect_way, &facts.large_suspects_text})
        replace_all(*text, owner, named);
    }
}

// Returns "Plugin" for "Plugin1", "Plugin42": assemblies made in a series differ in a number.
std::string without_number(std::string_view name) {
  if (name.ends_with(".dll"))
    name.remove_suffix(4);
  std::string out;
  for (char c : name)
    if (c < '0' || c > '9')
      out += c;
    else if (!out.ends_with('#'))
      out += '#';
  return out;
}

// Libraries that generate assemblies: the beginning of the assemblies' names, and advice.
struct Maker {
  const char *assembly, *words;
};
constexpr Maker makers[] = {
    {"Microsoft.GeneratedCode", "each XmlSerializer that is created with arguments besides its type makes one: keep "
                                "these serializers, and use them again"},
    {"DynamicProxyGenAssembly2", "each ProxyGenerator of Castle makes some: one generator is enough"},
    {"ℛ*", "each compiled C# script is one of these, and stays loaded"},
};

// Returns the static field that leads to most of the assembly objects, as far as these were looked at.
std::string holder_of_assemblies(const Snapshot &snapshot) {
  constexpr u64 looked_at = 256;
  std::vector<TypedObject> objects = objects_called(snapshot, "System.Reflection.RuntimeAssembly");
  std::reverse(objects.begin(), objects.end()); // the program's own assemblies were loaded first
  if (objects.size() > looked_at)
    objects.resize(looked_at);
  if (objects.empty())
    return "";
  const std::shared_ptr<const RankedPaths> paths = ranked_paths(snapshot);
  std::map<std::string, u64> counts;
  for (const TypedObject &object : objects)
    if (const ObjectId id = snapshot.index().find(object.address); id != no_object)
      if (const std::optional<OwnedPath> path = paths->find(id))
        if (const WayOwner owner = way_owner(snapshot, path->owner);
            owner.is_static && owner.name.find('<') == owner.name.npos) // skip fields without a readable name
          ++counts[owner.name];
  for (const auto &[name, count] : counts)
    if (count * 2 > objects.size())
      return name + " leads to most of them";
  return "";
}

void add_assemblies(const Snapshot &snapshot, VerdictFacts &facts) {
  std::map<std::string, std::pair<u64, std::string>> names; // name without number → count, first name
  for (const LoadedAssembly &one : snapshot.assemblies())
    if (one.path.empty() && !one.is_framework) {
      ++facts.made_assemblies;
      auto &[count, first] = names[without_number(one.name)];
      if (!count++)
        first = one.name;
    }
  u64 most = 0;
  for (const auto &[name, sum] : names)
    if (sum.first > most) {
      most = sum.first;
      facts.made_assemblies_name = sum.first == 1 ? sum.second
                                                  : fmt::format("{} called \"{}\"{}", count_text(sum.first), sum.second,
                                                                name.find('#') == name.npos ? "" : " and alike");
      facts.made_assemblies_by.clear();
      for (const Maker &maker : makers)
        if (sum.second.starts_with(maker.assembly))
          facts.made_assemblies_by = maker.words;
    }
  if (facts.made_assemblies >= many_assemblies && facts.made_assemblies_by.empty())
    facts.made_assemblies_by = holder_of_assemblies(snapshot);
}

// Equal arrays do not count: often they are buffers to which nothing was written yet.
bool are_copies(const WasteRow &row) {
  return row.kind == WasteKind::duplicate_strings || row.kind == WasteKind::duplicate_objects;
}

void add_waste(const Waste &waste, VerdictFacts &facts) {
  facts.waste = waste.bytes;
  if (!waste.rows.empty())
    facts.waste_text = waste_text(waste.rows[0]);
  for (const WasteRow &row : waste.rows)
    if (row.kind == WasteKind::unused_room || row.kind == WasteKind::over_allocated_collections) {
      if (!facts.room)
        facts.room_text = waste_text(row);
      facts.room += row.bytes;
    }
  for (const WasteRow &row : waste.rows)
    if (are_copies(row)) {
      if (!facts.copies)
        facts.copies_text = waste_text(row);
      facts.copies += row.bytes;
    }
}

// A verdict (Crash, HangVerdict, MemoryVerdict) has a finding's words and its command; who asks knows the rest.
template <class Verdict>
Finding finding_of(const Verdict &verdict, const std::string &kind, Harm harm, Sureness sureness) {
  return {.kind = kind,
          .harm = harm,
          .sureness = sureness,
          .text = verdict.text,
          .verb = verdict.verb,
          .options = verdict.options};
}

} // namespace

Examination examine(const Snapshot &snapshot, std::span<const std::string> hubs) {
  // Looks up resident pages only for a live process: for a dump this would cost another look at all of its memory.
  const std::optional<ResidentPages> resident =
      snapshot.target().container == "process" ? resident_pages(snapshot) : std::nullopt;
  Examination out;
  out.suspects = find_suspects(snapshot, hubs);
  out.map = make_account_map(snapshot, resident, out.suspects.live->by_segment);
  if (are_blocks_worth_a_look(out.map)) {
    out.native = find_native_owners(snapshot, out.map);
    out.notes.add_all(out.native->notes);
  }
  out.waste = find_live_waste(snapshot, out.suspects.live->all);
  VerdictFacts &facts = out.facts = facts_of(snapshot, out.map, out.suspects);
  out.others = find_other_owners(snapshot, out.suspects.list, out.suspects.live_bytes);
  add_others(out.suspects.list, out.others, facts);
  add_waste(out.waste, facts);
  if (out.native && !out.native->owners.empty() && !is_leak(out.native->owners.front(), *out.native)) // else a finding
    facts.native_owner = main_owner_text(*out.native) + native_callers_text(snapshot);
  add_assemblies(snapshot, facts);
  if (!snapshot.target().record && facts.free_inside >= least_hole_bytes &&
      share_of(facts.free_inside, facts.in_heap()) >= least_holes)
    out.holes = find_holes(snapshot);
  if (out.holes) {
    facts.free_beside_pinned = out.holes->total().pinned_bytes;
    facts.free_in_loh = out.holes->generations[static_cast<u8>(GCSegmentGeneration::loh)].total().bytes;
  }
  if (out.holes && !out.holes->beside.empty())
    facts.beside_holes = beside_text(snapshot, out.holes->beside[0]);
  out.lines = std::make_unique<SourceLines>(snapshot);
  if (!snapshot.target().record) // a listing of the heap has no threads
    out.hangs = find_hangs(snapshot, *out.lines, &out.standing);
  facts.finalizer_objects = out.hangs.finalizer_objects;
  facts.finalizer_place = out.hangs.finalizer_text;
  facts.threads_place = out.hangs.threads_text;
  facts.has_threads = !snapshot.target().record;
  facts.knows_all_roots = knows_all_roots(snapshot);
  out.notes.add_all(out.map.notes);
  out.notes.add_all(out.waste.notes.up_to(Effect::none)); // waste is one of several tables, so its notes have no effect
  if (!out.hangs.note.empty())
    out.notes.add(out.hangs.note);
  return out;
}

Plan plan_examination() {
  Plan plan(Pass::tally | Pass::roots);
  foresee_suspects(plan);
  foresee_native_owners(plan);
  return plan.then("waste").then("holders").perhaps("walk").perhaps("tasks").perhaps("async stacks").perhaps("headers");
}

Finding finding_of(const Crash &crash) { return finding_of(crash, "crash", Harm::crash, Sureness::certain); }

std::vector<Finding> findings_of(const Snapshot &snapshot, const Examination &examined,
                                 std::span<const MemoryVerdict> memory, std::span<const HangVerdict> hangs,
                                 const std::optional<Crash> &crash) {
  // An object that a finding about memory names needs no other finding. Holes are no object.
  const bool is_named =
      memory.front().rule != "nothing" && memory.front().rule != "fragmentation" && !memory.front().is_size_alone;
  const Address suspect = examined.suspects.list.empty() || !is_named ? 0 : examined.suspects.list.front().example;
  std::vector<Finding> out;
  auto is_found = [&](std::string_view kind) {
    return std::any_of(out.begin(), out.end(), [&](const Finding &one) { return one.kind == kind; });
  };
  if (crash)
    out.push_back(finding_of(*crash));
  for (const HangVerdict &hang : hangs)
    out.push_back(finding_of(hang, hang.rule, Harm::hang, hang.sureness));
  for (const MemoryVerdict &one : memory)
    if (one.rule != "nothing" && !one.is_size_alone && !(one.rule == "finalizers" && is_found("finalizer_blocked"))) {
      out.push_back(finding_of(one, one.rule, Harm::memory, Sureness::probable));
      out.back().bytes = one.bytes;
    }
  if (snapshot.target().record) // rules look at fields
    return out;
  std::vector<Finding> others =
      find_findings({snapshot, examined.suspects, examined.map, examined.native, examined.facts, *examined.lines,
                     examined.standing.calls, examined.standing.threads});
  std::erase_if(others, [&](const Finding &one) { return is_found(one.kind) || (suspect && one.example == suspect); });
  find_causes(snapshot, examined.suspects, others);
  std::move(others.begin(), others.end(), std::back_inserter(out));
  std::stable_sort(out.begin(), out.end(),
                   [](const Finding &a, const Finding &b) { return order_of(a) < order_of(b); });
  return out;
}

} // namespace dnheap

// Many files, wait handles, processes, mapped files, or sockets that nobody uses, that are open, and held in one place.
#include "analysis/findings/finding_rule.h"
#include "analysis/inspectors/safe_handles.h"
#include "analysis/names/brief_type_name.h"
#include "analysis/native/mapped_views.h"
#include "analysis/owners/ranked_paths.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"
#include "objects/object_index.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

// A process may have 1,024 open files, unless somebody allows more.
constexpr u64 least_open = 500;
constexpr u64 most_handles_looked_at = 100'000;

struct OpenedKind {
  std::string_view type;
  const char *things;
};
constexpr std::string_view socket_handle = "System.Net.Sockets.SafeSocketHandle";
// No handles of libraries for encryption: a server has some for each of its connections.
constexpr OpenedKind opened_kinds[] = {
    {"Microsoft.Win32.SafeHandles.SafeFileHandle", "files (SafeFileHandle)"},
    {"Microsoft.Win32.SafeHandles.SafeWaitHandle", "events or other wait handles (SafeWaitHandle)"},
    {"Microsoft.Win32.SafeHandles.SafeProcessHandle", "processes (SafeProcessHandle)"},
    {"Microsoft.Win32.SafeHandles.SafeMemoryMappedFileHandle", "mapped files (SafeMemoryMappedFileHandle)"},
    {view_handle, "views of mapped files (SafeMemoryMappedViewHandle)"},
    {"Microsoft.Win32.SafeHandles.SafeRegistryHandle", "registry keys (SafeRegistryHandle)"},
    {socket_handle, "sockets (SafeSocketHandle)"}};

// True if an asynchronous call reads or writes, or if that is unknown. A server reads from each of its connections.
bool is_socket_in_use(FieldReader &fields, Address handle) {
  const std::optional<Address> context = fields.reference(handle, "_asyncContext");
  if (!context || !*context)
    return !context;
  for (const char *last : {"_receiveQueue._tail", "_sendQueue._tail"})
    if (fields.reference(*context, last).value_or(1))
      return true;
  return false;
}

// Views of one file, again and again, are a leak from a smaller number on.
u64 least_views(const Snapshot &snapshot) {
  constexpr u64 least_of_file = 64, least_bytes = u64{64} << 20;
  std::map<std::string, MappedView> files; // `stored`: how many views
  for (const MappedView &one : find_mapped_views(snapshot))
    if (!one.file.empty()) {
      MappedView &sum = files[one.file];
      ++sum.stored, sum.bytes += one.bytes;
    }
  const bool is_again = std::ranges::any_of(
      files, [](const auto &one) { return one.second.stored >= least_of_file && one.second.bytes >= least_bytes; });
  return is_again ? least_of_file : least_open;
}

struct OpenHandles {
  u64 count = 0;
  Address example = 0;
};

// Open handles by what holds them: the owner of the path to each.
std::map<std::string, OpenHandles> open_handles(const Snapshot &snapshot, const std::vector<TypedObject> &handles,
                                                bool are_sockets) {
  FieldReader fields(snapshot.runtime());
  const std::shared_ptr<const RankedPaths> paths = ranked_paths(snapshot);
  std::map<std::string, OpenHandles> out;
  for (u64 i = 0; i < std::min<u64>(handles.size(), most_handles_looked_at); ++i) {
    if (i % 1024 == 0)
      snapshot.watch().check();
    const Address handle = handles[i].address;
    if (safe_handle_state(fields, snapshot.runtime(), handle) != "open" ||
        (are_sockets && is_socket_in_use(fields, handle)))
      continue;
    const ObjectId id = snapshot.index().find(handle);
    const std::optional<OwnedPath> path = id == no_object ? std::nullopt : paths->find(id);
    if (!path)
      continue;
    const WayOwner owner = way_owner(snapshot, path->owner);
    if (owner.conservative || owner.name == name_of(RootKind::finalizer))
      continue;
    OpenHandles &to = out[owner.source];
    to.example = to.count++ ? to.example : handle;
  }
  return out;
}

} // namespace

void find_open_handles(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  for (const auto &[name, things] : opened_kinds) {
    const u64 count = count_called(snapshot, name);
    const u64 least = name == view_handle && count && count < least_open ? least_views(snapshot) : least_open;
    if (count < least)
      continue;
    const bool are_sockets = name == socket_handle;
    const std::vector<TypedObject> handles = objects_called(snapshot, name);
    const std::map<std::string, OpenHandles> by_holder = open_handles(snapshot, handles, are_sockets);
    const auto most = std::ranges::max_element(by_holder, {}, [](const auto &one) { return one.second.count; });
    if (most == by_holder.end() || most->second.count < least)
      continue;
    const std::string holder = holder_in_words(snapshot, "[]", most->second.example);
    const bool is_reached = most->first.starts_with("static ") && !holder.starts_with(most->first);
    out.push_back(
        {.kind = "open_handles",
         .harm = Harm::resource,
         .text = fmt::format("{}{} {} are open, held by {}{}. Dispose of each when it is no longer needed: the "
                             "system allows a process a limited number.",
                             handles.size() > most_handles_looked_at ? "At least " : "", count_text(most->second.count),
                             things, holder + (is_reached ? ", to which " + most->first + " leads" : ""),
                             name == view_handle ? ", and map " + files_text(find_mapped_views(snapshot))
                             : are_sockets       ? ", and no asynchronous call reads from them or writes to them"
                                                 : ""),
         .count = most->second.count,
         .example = most->second.example,
         .verb = name == view_handle ? "account" : "inspect safehandles",
         .options = name == view_handle ? " --table views" : ""});
  }
}

} // namespace dnheap

#include "dump/records/gcdump_roots.h"

#include "base/text.h"
#include "dump/records/gcdump_names.h"
#include "dump/records/record_names.h"

#include <charconv>
#include <unordered_set>

namespace dnheap {

namespace {

using RecordRootKind = HeapRecord::RootKind;

// By a part of a group's name, as PerfView, dotnet-gcdump and dnheap write it; the first that fits counts.
struct GroupWords {
  std::string_view part;
  RecordRootKind kind;
};
constexpr GroupWords group_words[] = {
    {"thread static", RecordRootKind::thread_static},
    {"static var", RecordRootKind::static_field},
    {"may be chance", RecordRootKind::conservative_stack},
    {"a word on the stack", RecordRootKind::conservative_stack},
    {"local var", RecordRootKind::stack},
    {"inalizer", RecordRootKind::finalizer},
    {"async_pinned", RecordRootKind::async_pinned_handle},
    {"AsyncPinned", RecordRootKind::async_pinned_handle},
    {"inn", RecordRootKind::pinned_handle},
    {"ependent", RecordRootKind::dependent_handle},
    {"ref_counted", RecordRootKind::ref_counted_handle},
    {"COM", RecordRootKind::com},
    {"CCW", RecordRootKind::com},
    {"andle", RecordRootKind::strong_handle},
};

class GcDumpRoots {
public:
  GcDumpRoots(const GcDumpFile &file, const Watch &watch, HeapRecord &record)
      : file_(file), watch_(watch), record_(record), names_(record), names_fields_by_type_(file.tool() != "dnheap") {}

  void find() {
    if (file_.root() >= file_.nodes())
      return;
    add_group(static_cast<u32>(file_.root()), RecordRootKind::strong_handle);
    while (!groups_.empty()) {
      const Group group = groups_.back();
      groups_.pop_back();
      visit(group);
    }
  }

private:
  struct Group {
    u32 node = 0;
    RecordRootKind kind = RecordRootKind::strong_handle;
    bool is_weak = false;
  };

  void add_group(u32 node, RecordRootKind kind) {
    if (seen_.insert(node).second)
      groups_.push_back({node, kind});
  }

  void visit(const Group &group) {
    watch_.check();
    const GcDumpFile::Node node = file_.read(group.node);
    HeapRecord::Root root{.object = 0, .kind = group.kind, .name = 0, .thread = 0};
    name(file_.types()[node.type].name, root);
    for (u32 child : node.children)
      if ((root.object = file_.address(child)) == 0)
        add_group(child, root.kind);
      else if (is_described(child))
        record_.roots.push_back(root);
  }
  bool is_described(u32 node) const { return !file_.is_undefined(file_.read(node)); }

  // Sets the kind, and the name if the group has one of its own: "[static var Shop.Cache._items]",
  // "[thread 4711 Shop.Worker.Run()]".
  void name(std::string_view group, HeapRecord::Root &root) {
    if (root.kind <= RecordRootKind::dependent_handle)
      root.kind = kind_of(group, root.kind);
    if (group.starts_with('[') && group.ends_with(']'))
      group = group.substr(1, group.size() - 2);
    if (root.kind == RecordRootKind::thread_static)
      root.thread = take_thread_behind(group);
    for (std::string_view prefix : {"thread static var ", "static var "})
      if (group.starts_with(prefix)) {
        root.name = names_.number_of(field_name(group.substr(prefix.size())));
        return;
      }
    if (root.kind == RecordRootKind::stack || root.kind == RecordRootKind::conservative_stack)
      if (const u64 thread = take_thread(group)) {
        root.thread = thread;
        root.name = group.empty() || root.kind != RecordRootKind::stack ? 0 : names_.number_of(std::string(group));
      }
  }

  static RecordRootKind kind_of(std::string_view group, RecordRootKind otherwise) {
    if (group.starts_with("[handle:")) // then comes the type of the objects
      group = group.substr(0, group.find(' '));
    for (const GroupWords &words : group_words)
      if (group.find(words.part) != group.npos)
        return words.kind;
    return otherwise;
  }

  // "System.String.Empty" of dotnet-gcdump: the field Empty, which has the type System.String.
  std::string field_name(std::string_view name) const {
    const u64 dot = name.rfind('.');
    if (!names_fields_by_type_ || dot == name.npos)
      return std::string(name);
    return std::string(name.substr(dot + 1)) + " (" + restored_type_name(name.substr(0, dot)) + ")";
  }

  // Takes "thread 4711 " from the front; 0: there is none.
  static u64 take_thread(std::string_view &name) {
    constexpr std::string_view word = "thread ";
    const u64 at = name.find(word);
    u64 number = 0;
    if (at == name.npos)
      return 0;
    const char *begin = name.data() + at + word.size(), *end = name.data() + name.size();
    const auto [behind, error] = std::from_chars(begin, end, number);
    if (error != std::errc())
      return 0;
    name = std::string_view(behind, static_cast<u64>(end - behind));
    if (name.starts_with(' '))
      name.remove_prefix(1);
    return number;
  }
  // Takes " of thread 4711" from the end.
  static u64 take_thread_behind(std::string_view &name) {
    const u64 at = name.rfind(" of thread ");
    if (at == name.npos)
      return 0;
    std::string_view rest = name.substr(at);
    name = name.substr(0, at);
    return take_thread(rest);
  }

  const GcDumpFile &file_;
  const Watch watch_;
  HeapRecord &record_;
  RecordNames names_;
  const bool names_fields_by_type_;
  std::vector<Group> groups_;
  std::unordered_set<u32> seen_;
};

} // namespace

void find_gcdump_roots(const GcDumpFile &file, const Watch &watch, HeapRecord &record) {
  GcDumpRoots(file, watch, record).find();
}

} // namespace dnheap

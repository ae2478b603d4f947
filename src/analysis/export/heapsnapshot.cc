// heapsnapshot: the format of Chrome, Edge and VS Code. Nodes, edges, then strings, all of them numbered: so the
// objects are read three times, to count, for the nodes and for the edges, and no reference is kept. The nodes before
// the objects are the root, kinds of roots, and their owners. Garbage hangs by weak edges from a node of its own, and
// refers by weak edges to live objects, so it is in the file and retains nothing.
#include "analysis/export/exporter.h"
#include "analysis/export/held_roots.h"
#include "analysis/export/object_stream.h"
#include "report/encoding.h"

#include <atomic>
#include <fmt/format.h>

namespace dnheap {

namespace {

// Numbers of the types in the lists of `meta`.
enum NodeType : u32 { node_string = 2, node_object = 3, node_synthetic = 9 };
enum EdgeType : u32 { edge_element = 1, edge_property = 2, edge_weak = 6 };
constexpr u64 node_fields = 7;
constexpr u64 largest_size = ~u32{0}; // readers keep sizes in 32 bits

constexpr std::string_view meta =
    R"({"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],)"
    R"("node_types":[["hidden","array","string","object","code","closure","regexp","number","native","synthetic",)"
    R"("concatenated string","sliced string","symbol","bigint","object shape"],)"
    R"("string","number","number","number","number","number"],)"
    R"("edge_fields":["type","name_or_index","to_node"],)"
    R"("edge_types":[["context","element","property","internal","hidden","shortcut","weak"],"string_or_number","node"],)"
    R"("trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],)"
    R"("trace_node_fields":["id","function_info_index","count","size","children"],"sample_fields":["timestamp_us","last_assigned_id"],)"
    R"("location_fields":["object_index","script_id","line","column"]})";

class SnapshotFile {
public:
  SnapshotFile(const ExportJob &job, NewFile &file)
      : snapshot_(job.snapshot), file_(file), stream_(snapshot_), roots_(snapshot_), names_(snapshot_),
        types_(exported_type_names(snapshot_)), string_type_(string_type(types_)), values_(job.question.values) {
    first_owner_ = 1 + roots_.kinds().size();
    unreachable_node_ = first_owner_ + roots_.owners();
    first_object_ = unreachable_node_ + 1;
  }

  Exported write() {
    name_nodes();
    count();
    write_head();
    write_nodes();
    write_edges();
    write_strings();
    Exported out;
    out.objects = snapshot_.index().count();
    out.bytes = bytes_;
    out.references = references_;
    out.types = types_.size() - 1;
    out.roots = roots_.roots();
    out.unreachable = unreachable_;
    if (values_)
      out.strings = strings_before_.back();
    if (clamped_)
      out.notes.add(
          fmt::format("the file gives {} object{} of 4 GiB or more the size 4 GiB - 1, as readers keep sizes in 32 "
                      "bits",
                      clamped_.load(), clamped_.load() == 1 ? "" : "s"));
    if (!roots_.problem().empty())
      out.notes.add(roots_.problem());
    return out;
  }

private:
  bool is_told_string(const ObjectStream::Item &item) const {
    return values_ && item.object.type && item.object.id == string_type_;
  }

  // Numbers the strings: those of nodes before the objects, of types, of references; then the contents of strings.
  void name_nodes() {
    head_strings_ = {"", "(not reached by any root)", "(may be chance)", "(garbage)"};
    for (const HeldRoots::Kind &kind : roots_.kinds())
      head_strings_.push_back("(" + kind.name + ")");
    for (const HeldRoots::Kind &kind : roots_.kinds())
      for (const HeldRoots::Owner &owner : kind.owners)
        head_strings_.push_back(owner.name);
    first_type_string_ = head_strings_.size();
    first_name_string_ = first_type_string_ + types_.size();
    first_value_string_ = first_name_string_ + names_.texts().size();
  }
  static constexpr u64 string_unreachable = 1, string_chance = 2, string_garbage = 3, first_kind_string = 4;

  void count() {
    strings_before_.assign(stream_.blocks() + 1, 0);
    std::atomic<u64> references{0}, unreachable{0}, bytes{0};
    stream_.look("count references", [&](const ObjectStream::Item &item, u64 block) {
      references.fetch_add(degree(item), std::memory_order_relaxed);
      unreachable.fetch_add(roots_.is_unreachable(item.address), std::memory_order_relaxed);
      bytes.fetch_add(item.aligned_bytes, std::memory_order_relaxed);
      strings_before_[block + 1] += is_told_string(item);
    });
    for (u64 i = 0; i < stream_.blocks(); ++i)
      strings_before_[i + 1] += strings_before_[i];
    references_ = references, unreachable_ = unreachable, bytes_ = bytes;
  }

  u64 degree(const ObjectStream::Item &item) const {
    u64 out = 0;
    stream_.for_each_reference(item, [&](const ObjectStream::Reference &) { ++out; });
    return out;
  }

  void write_head() {
    const u64 nodes = first_object_ + snapshot_.index().count();
    const u64 edges = roots_.kinds().size() + 1 + roots_.owners() + roots_.roots() + unreachable_ + references_;
    FileText out(file_);
    out.text = fmt::format("{{\"snapshot\":{{\"meta\":{},\"node_count\":{},\"edge_count\":{},"
                           "\"trace_function_count\":0}},\n\"nodes\":[",
                           meta, nodes, edges);
    out.flush();
  }

  // Appends a node. Ids are odd, as those of V8's own objects.
  static void append_node(std::string &out, NodeType type, u64 name, u64 number, u64 size, u64 degree) {
    fmt::format_to(std::back_inserter(out), "{}{},{},{},{},{},0,0\n", number ? "," : "", static_cast<u32>(type), name,
                   2 * number + 1, size, degree);
  }

  void write_nodes() {
    FileText out(file_);
    u64 number = 0;
    auto add = [&](u64 name, u64 degree) {
      append_node(out.text, node_synthetic, name, number++, 0, degree);
      out.flush_if_large();
    };
    add(0, roots_.kinds().size() + 1);
    u64 name = first_kind_string;
    for (const HeldRoots::Kind &kind : roots_.kinds())
      add(name++, kind.owners.size());
    for (const HeldRoots::Kind &kind : roots_.kinds())
      for (const HeldRoots::Owner &owner : kind.owners)
        add(name++, owner.objects.size());
    add(string_unreachable, unreachable_);
    out.flush();
    std::vector<u64> next(stream_.blocks());
    for (u64 i = 0; i < next.size(); ++i)
      next[i] = strings_before_[i];
    stream_.write(file_, "nodes", [&](FileText &to, const ObjectStream::Item &item, u64 block) {
      const u64 type = item.object.type ? static_cast<u32>(item.object.id) : types_.size() - 1;
      const bool is_string = is_told_string(item);
      const u64 size = std::min(item.aligned_bytes, largest_size);
      if (size != item.aligned_bytes)
        ++clamped_;
      append_node(to.text, is_string ? node_string : node_object,
                  is_string ? first_value_string_ + next[block]++ : first_type_string_ + type,
                  first_object_ + static_cast<u32>(item.id), size, degree(item));
    });
    out.text = "],\n\"edges\":[";
    out.flush();
  }

  static void append_edge(std::string &out, EdgeType type, u64 name, u64 to) {
    fmt::format_to(std::back_inserter(out), ",{},{},{}\n", static_cast<u32>(type), name, to * node_fields);
  }
  u64 node_of(ObjectId object) const { return first_object_ + static_cast<u32>(object); }

  void write_edges() {
    FileText out(file_);
    u64 number = 0, owner_node = first_owner_;
    for (; number < roots_.kinds().size(); ++number)
      append_edge(out.text, edge_element, number, 1 + number);
    append_edge(out.text, edge_element, number, unreachable_node_);
    out.text.erase(0, 1); // the first comma
    for (const HeldRoots::Kind &kind : roots_.kinds())
      for (u64 i = 0; i < kind.owners.size(); ++i)
        append_edge(out.text, edge_element, i, owner_node++);
    for (const HeldRoots::Kind &kind : roots_.kinds())
      for (const HeldRoots::Owner &owner : kind.owners)
        for (u64 i = 0; i < owner.objects.size(); ++i) {
          const HeldRoots::Held &held = owner.objects[i];
          append_edge(out.text, held.is_weak ? edge_weak : edge_element, held.is_weak ? string_chance : i,
                      node_of(held.object));
          out.flush_if_large();
        }
    out.flush();
    if (unreachable_)
      stream_.write(file_, "edges of garbage", [&](FileText &to, const ObjectStream::Item &item, u64) {
        if (roots_.is_unreachable(item.address))
          append_edge(to.text, edge_weak, string_garbage, node_of(item.id));
      });
    stream_.write(file_, "edges of objects", [&](FileText &to, const ObjectStream::Item &item, u64) {
      const bool is_garbage = roots_.is_unreachable(item.address);
      stream_.for_each_reference(item, [&](const ObjectStream::Reference &reference) {
        const ReferenceNames::Name name = ObjectStream::name(names_, item, reference);
        // Readers treat every node as reached. With strong edges, an object to which garbage refers would no longer
        // belong to its owner alone.
        const bool is_weak = is_garbage && !roots_.is_unreachable(snapshot_.index().address(reference.target));
        const bool is_element = !is_weak && name.element && names_.texts()[name.text] == "[*]";
        append_edge(to.text,
                    is_weak      ? edge_weak
                    : is_element ? edge_element
                                 : edge_property,
                    is_element ? std::min<u64>(*name.element, ~u32{0}) : first_name_string_ + name.text,
                    node_of(reference.target));
        to.flush_if_large();
      });
    });
    out.text = "],\n\"trace_function_infos\":[],\"trace_tree\":[],\"samples\":[],\"locations\":[],\n\"strings\":[";
    out.flush();
  }

  void write_strings() {
    FileText out(file_);
    bool is_first = true;
    for (const std::span<const std::string> list :
         {std::span(std::as_const(head_strings_)), std::span(types_), std::span(names_.texts())})
      for (const std::string &text : list) {
        out.text += is_first ? "" : ",\n";
        is_first = false;
        report::append_json_text(out.text, text);
        out.flush_if_large();
      }
    out.flush();
    if (values_)
      stream_.write(file_, "strings", [&](FileText &to, const ObjectStream::Item &item, u64) {
        if (!is_told_string(item))
          return;
        to.text += ",\n";
        report::append_json_text(to.text, exported_text(snapshot_.runtime(), item.address));
      });
    out.text = "]}\n";
    out.flush();
  }

  const Snapshot &snapshot_;
  NewFile &file_;
  ObjectStream stream_;
  const HeldRoots roots_;
  const ReferenceNames names_;
  const std::vector<std::string> types_;
  const std::optional<TypeId> string_type_;
  const bool values_;
  std::vector<std::string> head_strings_;
  u64 first_owner_ = 0, unreachable_node_ = 0, first_object_ = 0;              // numbers of nodes
  u64 first_type_string_ = 0, first_name_string_ = 0, first_value_string_ = 0; // numbers of strings
  u64 references_ = 0, unreachable_ = 0, bytes_ = 0;
  std::vector<u64> strings_before_; // by block
  std::atomic<u64> clamped_{0};
};

} // namespace

Exported export_heapsnapshot(const ExportJob &job, NewFile &file) { return SnapshotFile(job, file).write(); }

} // namespace dnheap

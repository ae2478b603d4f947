#include "analysis/suspects/called_by_elements.h"

#include "analysis/names/brief_type_name.h"
#include "analysis/names/compiled_names.h"
#include "analysis/names/framework_names.h"
#include "analysis/objects/object_view.h"
#include "base/most_frequent.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

constexpr u64 most_elements = 1 << 16;
constexpr u64 most_in_wrapper = 32; // objects; a timer with a CancellationTokenSource and its registration has 6
constexpr u64 most_references = 16; // of one of these objects that are looked at: wrappers are no arrays
constexpr u64 most_levels = 4;      // from the element to the delegate
constexpr u64 thirds = 3, least_thirds = 2; // of the elements call one method

struct CalledMethod {
  std::string method, with; // with: what holds the bytes, unless the method's name says it
  auto operator<=>(const CalledMethod &) const = default;
};

// False for what is known of code without a name.
bool is_named(const std::string &method) { return !method.starts_with('<') && method.find("+0x") == method.npos; }

bool is_closure(std::string_view type) { return type.find("+<>c__DisplayClass") != type.npos; }

class CalleeSearch {
public:
  CalleeSearch(const Snapshot &snapshot, const DominatorTree &tree)
      : snapshot_(snapshot), tree_(tree), graph_(snapshot.graph()), view_(snapshot), framework_(snapshot.assemblies()) {
  }

  // Returns no method if the element calls none of the program's.
  CalledMethod of(TreePlace element) {
    const TypeId type = type_at(element);
    CalledMethod found = of_delegate(*tree_.object(element), element);
    if (!found.method.empty() || !is_wrapper(type))
      return found.method.empty() ? of_fields(element) : found;
    std::vector<ObjectId> level = {*tree_.object(element)}, next, seen = level;
    for (u64 depth = 0; depth < most_levels && !level.empty(); ++depth, level.swap(next)) {
      next.clear();
      for (ObjectId from : level)
        for (ObjectId to : references_of(from)) {
          if (seen.size() >= most_in_wrapper || std::ranges::find(seen, to) != seen.end() || graph_.type(to) == type)
            continue;
          seen.push_back(to);
          if (depth == 0 || holds_most(to, element))
            if (CalledMethod method = of_delegate(to, element); !method.method.empty())
              return method;
          if (is_below(to, element) && is_wrapper(graph_.type(to)))
            next.push_back(to);
        }
    }
    return {};
  }

private:
  struct Kind {
    bool is_known = false, is_wrapper = false;
  };

  TypeId type_at(TreePlace at) const { return graph_.type(*tree_.object(at)); }
  std::string name_of(ObjectId object) { return view_.type_name(object); }

  std::span<const ObjectId> references_of(ObjectId object) const {
    const std::span<const ObjectId> all = graph_.edges().of(object);
    return all.first(std::min<u64>(all.size(), most_references));
  }

  bool is_below(ObjectId object, TreePlace element) const {
    const std::optional<TreePlace> at = tree_.place(object);
    return at && element < *at && *at < tree_.end(element);
  }
  bool holds_most(ObjectId object, TreePlace element) const {
    return is_below(object, element) && tree_.retained(*tree_.place(object)).bytes * 2 >= tree_.retained(element).bytes;
  }

  // True for types of .NET: what they refer to is part of them. False for objects that hold a pending call, whose
  // method is known.
  bool is_wrapper(TypeId type) {
    const u64 number = static_cast<u32>(type);
    if (kinds_.size() <= number)
      kinds_.resize(number + 1);
    if (Kind &kind = kinds_[number]; !kind.is_known) {
      const std::string &name = snapshot_.runtime().types().name(snapshot_.references().types()[type].method_table);
      kind = {true, framework_.contain(name) && call_of_box(name).empty() && !is_of_suspended_call(name)};
    }
    return kinds_[number].is_wrapper;
  }

  // An object of the program, with a delegate of its own that holds most of its bytes.
  CalledMethod of_fields(TreePlace element) {
    for (ObjectId to : references_of(*tree_.object(element)))
      if (holds_most(to, element))
        return of_delegate(to, element);
    return {};
  }

  // Nothing for objects that are no delegate, and for delegates that call .NET's methods.
  CalledMethod of_delegate(ObjectId object, TreePlace element) {
    const std::vector<DelegateTarget> targets =
        snapshot_.runtime().fields().delegate_targets(view_.address(object), view_.method_table(object), 1);
    if (targets.empty() || targets[0].method.empty() || framework_.contain(targets[0].method))
      return {};
    const ObjectId target = targets[0].object ? snapshot_.index().find(targets[0].object) : no_object;
    if (is_named(targets[0].method))
      return {targets[0].method, with(targets[0].method, target, element)};
    if (target == no_object || framework_.contain(name_of(target)) || is_closure(name_of(target)))
      return {};
    return {"a method of " + brief_type_name(name_of(target)), ""};
  }

  // Returns words for what holds the bytes behind a method.
  std::string with(const std::string &method, ObjectId target, TreePlace element) {
    if (target != no_object && is_below(target, element)) {
      const std::string type = name_of(target);
      if (is_closure(type))
        return in_closure(method, target);
      return method.starts_with(type + ".") || framework_.contain(type) ? "" : ", on " + brief_type_name(type);
    }
    const std::optional<TreePlace> state = largest_below(element); // a static method gets what it needs with the call
    return !state || framework_.contain(name_of(*tree_.object(*state))) ||
                   method.starts_with(name_of(*tree_.object(*state)))
               ? ""
               : ", with " + brief_type_name(name_of(*tree_.object(*state)));
  }

  std::string in_closure(const std::string &method, ObjectId closure) {
    const std::optional<TreePlace> inner = largest_below(*tree_.place(closure));
    if (!inner)
      return "";
    const std::string type = name_of(*tree_.object(*inner));
    if (method.starts_with(type + "+")) // the object whose method made the closure
      return "";
    std::string field = view_.field_between(closure, *tree_.object(*inner), ObjectView::Indices::folded);
    if (field.starts_with('.'))
      field.erase(0, 1);
    return ", whose closure holds " + brief_type_name(type) + (field.empty() ? "" : " (" + field + ")");
  }

  // Returns the child that holds at least half of the bytes.
  std::optional<TreePlace> largest_below(TreePlace parent) const {
    std::optional<TreePlace> out;
    tree_.for_each_child(parent, [&](TreePlace child) {
      if (tree_.retained(child).bytes * 2 >= tree_.retained(parent).bytes)
        out = child;
    });
    return out;
  }

  const Snapshot &snapshot_;
  const DominatorTree &tree_;
  const ObjectGraph &graph_;
  ObjectView view_;
  const FrameworkNames framework_;
  std::vector<Kind> kinds_; // by TypeId
};

std::vector<TreePlace> elements_below(const Snapshot &snapshot, const DominatorTree &tree, TreePlace top,
                                      std::span<const TreePlace> without, TypeId type) {
  constexpr u32 between_checks = 1 << 16;
  std::vector<TreePlace> out;
  for (TreePlace at{static_cast<u32>(top) + 1}; at < tree.end(top);) {
    if (static_cast<u32>(at) % between_checks == 0)
      snapshot.watch().check();
    const std::optional<ObjectId> object = tree.object(at);
    const bool is_one = object && snapshot.graph().type(*object) == type;
    if (is_one)
      out.push_back(at);
    const bool is_skipped = is_one || std::binary_search(without.begin(), without.end(), at);
    at = is_skipped ? tree.end(at) : TreePlace{static_cast<u32>(at) + 1};
  }
  return out;
}

} // namespace

std::string called_by_elements(const Snapshot &snapshot, const DominatorTree &tree, TreePlace top,
                               std::span<const TreePlace> without, TypeId type) {
  const std::vector<TreePlace> all = elements_below(snapshot, tree, top, without, type);
  const u64 step = (all.size() + most_elements - 1) / most_elements;
  CalleeSearch search(snapshot, tree);
  std::map<std::string, std::map<std::string, u64>> found; // what they hold, by method
  std::map<std::string, u64> counts;
  u64 asked = 0;
  for (u64 i = 0; i < all.size(); i += step, ++asked) {
    if (asked % 1024 == 0)
      snapshot.watch().check();
    const CalledMethod one = search.of(all[i]);
    if (one.method.empty())
      continue;
    ++counts[one.method];
    ++found[one.method][one.with];
  }
  const auto most = most_frequent(counts);
  if (asked < 2 || most == counts.end() || most->second * thirds < asked * least_thirds)
    return "";
  const bool are_all = most->second == asked && step == 1;
  return (are_all ? "which call " : "most of which call ") + method_in_words(most->first) +
         most_frequent(found[most->first])->first;
}

} // namespace dnheap

// The kinds of collections whose entries lie in nodes.
#include "analysis/shapes/collections/entry_walk.h"

namespace dnheap {

namespace {

constexpr u64 deepest_tree = 128; // the balanced trees of the largest heaps are half as deep

} // namespace

bool EntryWalk::Node::open(Address at) {
  at_ = at;
  const Address type = walk_.fields_.type_of(at);
  if (type && type == type_)
    return true;
  type_ = 0;
  places_.clear();
  for (const char *path : paths_) {
    places_.push_back(path ? walk_.places_.in_object(type, path) : EntryPlace());
    if (path && !places_.back().type)
      return false;
  }
  type_ = type;
  return true;
}

Address EntryWalk::Node::reference(u64 i) const {
  return walk_.memory_.try_pointer(at_ + places_[i].offset).value_or(0);
}

bool EntryWalk::read_tables(Address object, const Paths &paths) {
  const std::optional<Address> tables = reference(object, paths[0]);
  const std::optional<Address> buckets = tables && *tables ? reference(*tables, paths[1]) : std::nullopt;
  Array array;
  if (!buckets || !open(*buckets, array))
    return false;
  if (!array.elements)
    return true;
  const bool is_wrapped = array.elements->type->type == ElementType::ValueType;
  const EntryPlace first = places_.in_value(*array.elements->type, is_wrapped ? paths[2] : "");
  if (!first.type)
    return false;
  Node node(*this, {paths[3], paths[4], paths[5]});
  for (u64 i = 0; i < array.length; ++i)
    for (Address at = memory_.try_pointer(array.element(i) + first.offset).value_or(0); at; at = node.reference(0)) {
      if (!node.open(at))
        return false;
      if (!may_go_on() || !add(node.part(1), node.part(2)))
        return true;
    }
  return true;
}

bool EntryWalk::read_chain(Address object, const Paths &paths) {
  const std::optional<Address> first = reference(object, paths[0]);
  if (!first)
    return false;
  Node node(*this, {paths[1], paths[2], paths[3]});
  for (Address at = *first; at;) {
    if (!node.open(at))
      return false;
    if (!may_go_on() || !add(node.has(1) ? node.part(1) : EntryPart(), node.part(2)))
      return true;
    at = node.reference(0);
    if (at == *first)
      break;
  }
  return true;
}

bool EntryWalk::read_stacked(Address object, const Paths &paths) {
  Node node(*this, {paths[0], paths[1]});
  for (Address at = object; at; at = node.reference(0)) {
    if (!node.open(at))
      return false;
    if (!may_go_on() || (node.reference(0) && !add({}, node.part(1))))
      return true;
  }
  return true;
}

// The elements that were added last are in the second stack, the newest one on top.
bool EntryWalk::read_two_stacks(Address object, const Paths &paths) {
  const std::optional<Address> forwards = reference(object, paths[0]), backwards = reference(object, paths[1]);
  if (!forwards || !backwards)
    return false;
  const Paths stack = {paths[2], paths[3]};
  if (*forwards && !read_stacked(*forwards, stack))
    return false;
  CollectionContents newest;
  newest.state = CollectionContents::State::listed;
  if (*backwards && !EntryWalk(of_, ~u64{0}, newest).read_stacked(*backwards, stack))
    return false;
  std::vector<CollectionEntry> entries(newest.entries.count());
  EntryList::Cursor cursor(newest.entries);
  for (CollectionEntry &one : entries)
    cursor.next(one);
  for (u64 i = entries.size(); i-- > 0;)
    if (!add({}, entries[i].value))
      break;
  return newest.state == CollectionContents::State::damaged ? damaged() : true;
}

bool EntryWalk::read_tree(Address object, const Paths &paths) {
  const std::optional<Address> root = reference(object, paths[0]);
  Node node(*this, {paths[1], paths[2], paths[3], paths[4]});
  return root && add_tree(node, *root, false, false, nullptr);
}

bool EntryWalk::read_immutable(Address object, const Paths &paths) {
  const std::optional<Address> root = reference(object, paths[0]);
  Node node(*this, {paths[1], paths[2], paths[3], paths[4], paths[5]});
  return root && add_tree(node, *root, true, false, paths[5] ? &paths[3] : nullptr);
}

// Goes through a tree in order. `further`: the paths of key and value in nodes that hold several entries.
bool EntryWalk::add_tree(Node &node, Address root, bool is_immutable, bool is_inner, const char *const *further) {
  std::vector<Address> above;
  for (Address at = root; at || !above.empty();) {
    if (at) {
      if (!node.open(at))
        return false;
      if (above.size() == deepest_tree || !may_go_on())
        return damaged();
      const Address left = node.reference(0);
      if (is_immutable && !left)
        at = 0;
      else {
        above.push_back(at);
        at = left;
      }
      continue;
    }
    at = above.back();
    above.pop_back();
    if (!node.open(at))
      return false;
    if (!add(node.has(2) ? node.part(2) : EntryPart(), node.part(3)))
      return true;
    if (further && !is_inner) {
      const bool has_key = further[0] != nullptr;
      Node more(*this, {"_left", "_right", has_key ? "_key.key" : nullptr, has_key ? "_key.value" : "_key"});
      const Address others = node.reference(4);
      if (others && !add_tree(more, others, true, true, nullptr))
        return false;
      if (!is_sound() || out_.is_cut)
        return true;
    }
    at = node.reference(1);
  }
  return true;
}

} // namespace dnheap

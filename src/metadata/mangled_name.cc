#include "metadata/mangled_name.h"

#include <algorithm>
#include <utility>

namespace dnheap {

namespace {

constexpr u64 longest = 512;
// Limit per name: with so many wrong spellings, one of 32,768 names has a spelling that matches by chance.
constexpr u64 most_steps = 1 << 17;
constexpr u32 most_nested = 4, most_underscores = 6; // in one name: nesting levels, and real underscores
// Types with a C# keyword have another name in mangled symbols than in metadata.
constexpr std::pair<std::string_view, std::string_view> short_names[] = {
    {"Bool", "Boolean"}, {"UInt8", "Byte"}, {"Int8", "SByte"}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Tries everything that the underscores of one text may stand for.
class Search {
public:
  Search(u32 hash, NativeHashing how, u64 most_steps) : hash_(hash), how_(how), most_steps_(most_steps) {}

  void run(std::string_view mangled) {
    text_ = mangled;
    written_.clear();
    in_namespace(0);
  }
  void check(UnmangledTypeName name) {
    auto same = [&](const UnmangledTypeName &other) {
      return other.name_space == name.name_space && other.levels == name.levels;
    };
    if (native_type_hash(name.view(), how_) == hash_ && std::none_of(found_.begin(), found_.end(), same))
      found_.push_back(std::move(name));
  }
  u64 steps() const { return steps_; }
  // Returns the name if exactly one spelling has the hash.
  std::optional<UnmangledTypeName> result() const {
    return found_.size() == 1 && steps_ <= most_steps_ ? std::optional(found_[0]) : std::nullopt;
  }

private:
  // `written_` is a namespace up to `at`; the next part continues it or is the type's name.
  void in_namespace(u64 at) {
    if (++steps_ > most_steps_)
      return;
    name_at_ = written_.size();
    in_type(at, {});
    const std::size_t end = text_.find('_', at);
    if (end == text_.npos || end == at)
      return;
    const u64 size = written_.size();
    written_.append(text_.substr(at, end - at));
    written_ += '.';
    in_namespace(end + 1);
    written_.resize(size);
  }

  // The state of the spelling so far.
  struct State {
    bool starts = true; // a type name begins here
    bool arity = false; // after an arity mark only digits may follow in this name
    u32 angles = 0;     // opened and not closed
    u32 nested = 0, underscores = 0;
  };

  void in_type(u64 at, State state) {
    if (++steps_ > most_steps_)
      return;
    const u64 size = written_.size();
    for (; at < text_.size() && text_[at] != '_'; written_ += text_[at++]) {
      state.starts = false;
      if (state.arity && !is_digit(text_[at])) {
        written_.resize(size);
        return;
      }
    }
    if (at == text_.size()) {
      if (!state.starts && state.angles == 0)
        check();
      written_.resize(size);
      return;
    }
    auto try_with = [&](char c, auto change) {
      State next = state;
      next.starts = false;
      change(next);
      written_ += c;
      in_type(at + 1, next);
      written_.pop_back();
    };
    const bool digits = at + 1 < text_.size() && is_digit(text_[at + 1]);
    if (!state.starts && digits && state.angles == 0 && !state.arity)
      try_with('`', [](State &s) { s.arity = true; });
    if (!state.starts && state.angles == 0 && state.nested < most_nested)
      try_with('+', [](State &s) {
        s.starts = true;
        s.arity = false;
        ++s.nested;
      });
    if (state.starts)
      try_with('<', [](State &s) { ++s.angles; });
    if (state.angles > 0)
      try_with('>', [](State &s) { --s.angles; });
    if (!state.arity && state.underscores < most_underscores)
      try_with('_', [](State &s) { ++s.underscores; });
    written_.resize(size);
  }

  void check() {
    UnmangledTypeName name;
    if (name_at_)
      name.name_space = written_.substr(0, name_at_ - 1);
    std::string_view rest = std::string_view(written_).substr(name_at_);
    for (std::size_t plus; (plus = rest.find('+')) != rest.npos; rest.remove_prefix(plus + 1))
      name.levels.emplace_back(rest.substr(0, plus));
    name.levels.emplace_back(rest);
    check(std::move(name));
  }

  u32 hash_;
  NativeHashing how_;
  u64 most_steps_;
  std::string_view text_;
  std::string written_;
  u64 name_at_ = 0; // where the type's name begins in `written_`
  u64 steps_ = 0;
  std::vector<UnmangledTypeName> found_;
};

} // namespace

NativeTypeName UnmangledTypeName::view() const {
  NativeTypeName out;
  out.name_space = name_space;
  out.levels.assign(levels.begin(), levels.end());
  return out;
}

std::optional<UnmangledTypeName> unmangle_type_name(std::string_view mangled, u32 hash, NativeHashing how,
                                                    u64 &steps_left) {
  if (mangled.starts_with("Boxed_")) // a value type's MethodTable is named after its boxed form
    mangled.remove_prefix(6);
  if (mangled.empty() || mangled.size() > longest || mangled.find_first_of("<>,") != mangled.npos)
    return std::nullopt;
  Search search(hash, how, std::min(most_steps, steps_left));
  // String, Int32 and similar types have neither assembly nor namespace. For all others the length of the assembly's
  // name is unknown, so each underscore may end it; a few of the runtime's own types have no assembly.
  search.check({"System", {std::string(mangled)}});
  for (const auto &[short_name, name] : short_names)
    if (mangled == short_name)
      search.check({"System", {std::string(name)}});
  search.run(mangled);
  for (std::size_t at = mangled.find('_'); at != mangled.npos; at = mangled.find('_', at + 1))
    search.run(mangled.substr(at + 1));
  steps_left -= std::min(search.steps(), steps_left);
  return search.result();
}

} // namespace dnheap

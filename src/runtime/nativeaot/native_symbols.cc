#include "runtime/nativeaot/native_symbols.h"

#include <charconv>

namespace dnheap {

namespace {

constexpr u64 most_symbols = 1 << 23; // symbols that are kept
constexpr std::string_view type_mark = "_ZTV", statics_mark = "__GCSTATICS", data_mark = "__PreInitData",
                           thread_mark = "__TypeThreadStaticIndex", inlined = "_inlinedThreadStatics";

// "_ZTV4Node": the number is the name's length.
std::string_view type_name_in(std::string_view symbol) {
  symbol.remove_prefix(type_mark.size());
  u64 length = 0;
  auto [end, error] = std::from_chars(symbol.data(), symbol.data() + symbol.size(), length);
  symbol.remove_prefix(static_cast<std::size_t>(end - symbol.data()));
  return error == std::errc() && symbol.size() == length ? symbol : std::string_view();
}

std::optional<std::string_view> at(const std::unordered_map<Address, std::string_view> &map, Address address) {
  auto it = map.find(address);
  return it == map.end() || it->second.empty() ? std::nullopt : std::optional(it->second);
}

} // namespace

void NativeSymbols::read() const {
  if (is_read_)
    return;
  is_read_ = true;
  auto add = [](std::unordered_map<Address, std::string_view> &to, Address address, std::string_view name) {
    auto [it, is_new] = to.emplace(address, name);
    if (!is_new && it->second != name)
      it->second = {};
  };
  file_.for_each_symbol([&](Address address, std::string_view name) {
    if (types_.size() + statics_.size() + thread_statics_.size() >= most_symbols)
      return;
    if (name.starts_with(type_mark)) {
      if (std::string_view type = type_name_in(name); !type.empty()) {
        add(types_, address, type);
        by_name_.emplace(type, address);
      }
    } else if (name.starts_with(statics_mark) && !name.ends_with(data_mark)) {
      add(statics_, address, name.substr(statics_mark.size()));
    } else if (name.starts_with(thread_mark)) {
      thread_statics_.emplace_back(name.substr(thread_mark.size()), address);
    } else if (name == inlined) {
      inlined_ = address;
    }
  });
}

std::optional<std::string_view> NativeSymbols::type_at(Address method_table) const {
  read();
  return at(types_, method_table);
}

std::optional<std::string_view> NativeSymbols::statics_at(Address cell) const {
  read();
  return at(statics_, cell);
}

const std::vector<std::pair<std::string_view, Address>> &NativeSymbols::thread_statics() const {
  read();
  return thread_statics_;
}

std::optional<Address> NativeSymbols::inlined_thread_statics() const {
  read();
  return inlined_;
}

std::optional<Address> NativeSymbols::find_type(std::string_view mangled) const {
  read();
  auto it = by_name_.find(mangled);
  return it == by_name_.end() ? std::nullopt : std::optional(it->second);
}

} // namespace dnheap

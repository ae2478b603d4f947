// Address, ObjectId, TypeId: three distinct types of number that cannot be mixed up. An Address is a place in the
// target's memory, never a pointer of this process. ObjectIds number the objects of a heap by address, TypeIds number
// the types that have objects by MethodTable. Both start at 0 and have no holes, so an array can hold one value for
// each. All are passed by value, cost nothing, and belong to no thread.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

// Use everything as namespace dnheap. The symbols are in dnheap::v0, so that two versions can be in one process. The
// library's own sources say v0, since its internal parts have the same names.
#ifdef DNHEAP_INSIDE
#define DNHEAP_ABI v0
#else
#define DNHEAP_ABI inline v0
#endif

namespace dnheap {

enum class ObjectId : std::uint32_t;
enum class TypeId : std::uint32_t;

} // namespace dnheap

namespace dnheap::DNHEAP_ABI {

class Address {
public:
  constexpr Address() = default; // null
  constexpr explicit Address(std::uint64_t value) : value_(value) {}
  // Parses addresses as debuggers print and accept them: "0x7f00c0de", "00007f1b`70030b58", with or without 0x; "0n123"
  // is decimal. Nullopt for anything else.
  static std::optional<Address> parse(std::string_view text);

  constexpr std::uint64_t value() const { return value_; }
  constexpr bool is_null() const { return value_ == 0; }
  std::string text() const; // "0x7f00c0de"
  constexpr auto operator<=>(const Address &) const = default;

private:
  std::uint64_t value_ = 0;
};

constexpr Address operator+(Address address, std::uint64_t bytes) { return Address(address.value() + bytes); }
constexpr std::uint64_t operator-(Address after, Address before) { return after.value() - before.value(); }

constexpr std::uint32_t number_of(ObjectId id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t number_of(TypeId id) { return static_cast<std::uint32_t>(id); }

} // namespace dnheap::DNHEAP_ABI

template <> struct std::hash<dnheap::v0::Address> {
  std::size_t operator()(dnheap::v0::Address address) const noexcept {
    return std::hash<std::uint64_t>()(address.value());
  }
};

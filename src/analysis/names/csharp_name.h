// Types as C# writes them: `string`, `byte[]`, `List<Timer>`, `Dictionary<string, int?>.Entry[]`, `(int, Order)[]`, and
// which full names of types that means. From the texts alone; some µs per name. Any thread.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

class CSharpName {
public:
  // How `T?` is read: as Nullable<T>, or as T where T is a class.
  enum class Question : u8 { nullable, nothing };

  // Nullopt: no name of a type.
  static std::optional<CSharpName> read(std::string_view text, Question question = Question::nullable);

  // Is it this type, as metadata/type_name.h spells them? Namespaces and enclosing types may be left out at every
  // place; `List<>` is every list.
  bool means(std::string_view full_name) const;

private:
  enum class Kind : u8 { word, dot, open, close, comma, suffix };
  struct Token {
    Kind kind{};
    std::string text;
    bool operator==(const Token &) const = default;
  };
  using Tokens = std::vector<Token>;
  class Reader;

  explicit CSharpName(Tokens tokens) : tokens_(std::move(tokens)) {}

  Tokens tokens_;
};

} // namespace dnheap

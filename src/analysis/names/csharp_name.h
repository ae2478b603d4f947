// Reads types as C# writes them: `string`, `byte[]`, `List<Timer>`, `Dictionary<string, int?>.Entry[]`, `(int,
// Order)[]`, and finds the types whose full names match such a text. Uses the texts alone; some µs per name. Any
// thread.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

class CSharpName {
public:
  // How `T?` is read: `nullable`: as Nullable<T>; `nothing`: as T, which is right if T is a class.
  enum class Question : u8 { nullable, nothing };

  // Returns nullopt if the text is not the name of a type.
  static std::optional<CSharpName> read(std::string_view text, Question question = Question::nullable);

  // True if it matches this type, spelled as in metadata/type_name.h. Namespaces and enclosing types may be left out
  // everywhere; `List<>` matches every list.
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

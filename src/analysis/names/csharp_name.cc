#include "analysis/names/csharp_name.h"

#include <algorithm>
#include <utility>

namespace dnheap {

namespace {

constexpr std::pair<std::string_view, std::string_view> keywords[] = {
    {"bool", "Boolean"},  {"byte", "Byte"},      {"sbyte", "SByte"},   {"char", "Char"},   {"decimal", "Decimal"},
    {"double", "Double"}, {"float", "Single"},   {"int", "Int32"},     {"uint", "UInt32"}, {"nint", "IntPtr"},
    {"nuint", "UIntPtr"}, {"long", "Int64"},     {"ulong", "UInt64"},  {"short", "Int16"}, {"ushort", "UInt16"},
    {"object", "Object"}, {"dynamic", "Object"}, {"string", "String"}, {"void", "Void"},
};

const std::string_view *keyword(std::string_view word) {
  for (const auto &[name, type] : keywords)
    if (name == word)
      return &type;
  return nullptr;
}

bool ends_word(char c) { return std::string_view(".+<>,[]*&?() \t").find(c) != std::string_view::npos; }

} // namespace

// Reads text into tokens, and replaces C#'s spellings by the runtime's: System.Int32 for int, ValueTuple<…> for (…),
// arrays of arrays in reverse order.
class CSharpName::Reader {
public:
  Reader(std::string_view text, bool is_csharp, Question question)
      : text_(text), is_csharp_(is_csharp), question_(question) {}

  std::optional<Tokens> read() {
    while (at_ < text_.size())
      if (!read_one())
        return std::nullopt;
    if (!brackets_.empty() || !is_whole())
      return std::nullopt;
    return std::move(tokens_);
  }

private:
  bool read_one() {
    const char c = text_[at_];
    switch (c) {
    case ' ':
    case '\t': ++at_; return true;
    case '.':
    case '+': return is_whole() && add(Kind::dot);
    case ',': return !brackets_.empty() && add(Kind::comma);
    case '<': return is_whole() ? open('<') : read_word();
    case '>': return close('<');
    case '(': return is_csharp_ && !is_whole() && open_tuple();
    case ')': return is_csharp_ && is_whole() && close('(');
    case '[': return is_whole() && read_rank();
    case '*':
    case '&': return is_whole() && add(Kind::suffix, std::string(1, c));
    case '?': return is_csharp_ && is_whole() && read_question();
    default: return read_word();
    }
  }

  // True if a complete type ends here.
  bool is_whole() const {
    if (tokens_.empty())
      return false;
    const Kind last = tokens_.back().kind;
    return last == Kind::word || last == Kind::close || last == Kind::suffix;
  }

  bool add(Kind kind, std::string text = "") {
    tokens_.push_back({kind, std::move(text)});
    ++at_;
    return true;
  }
  bool open(char bracket) {
    brackets_ += bracket;
    return add(Kind::open);
  }
  bool open_tuple() {
    for (const char *word : {"System", "ValueTuple"}) {
      tokens_.push_back({Kind::word, word});
      if (word[0] == 'S')
        tokens_.push_back({Kind::dot, ""});
    }
    return open('(');
  }
  bool close(char bracket) {
    if (brackets_.empty() || brackets_.back() != bracket)
      return false;
    brackets_.pop_back();
    return add(Kind::close);
  }

  // Reads a word, or a name that a compiler made up: <Pay>d__11.
  bool read_word() {
    std::string word;
    for (std::size_t depth = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\\' && at_ + 1 < text_.size()) {
        word += text_[++at_];
        continue;
      }
      if (c == '<' && (word.empty() || depth))
        ++depth;
      else if (c == '>' && depth)
        --depth;
      else if (!depth && ends_word(c))
        break;
      word += c;
    }
    if (word.empty())
      return false;
    if (is_whole()) // (int Id, string Name): the names of the elements are not part of the type
      return !brackets_.empty() && brackets_.back() == '(';
    const bool alone = (tokens_.empty() || tokens_.back().kind != Kind::dot) &&
                       (at_ == text_.size() || (text_[at_] != '.' && text_[at_] != '+'));
    if (const std::string_view *type = is_csharp_ && alone ? keyword(word) : nullptr) {
      tokens_.push_back({Kind::word, "System"});
      tokens_.push_back({Kind::dot, ""});
      word = *type;
    }
    tokens_.push_back({Kind::word, std::move(word)});
    return true;
  }

  // Reads all ranks in a row: int[][,] is a vector of matrices, which the runtime calls System.Int32[,][].
  bool read_rank() {
    const std::size_t first = tokens_.size();
    while (at_ < text_.size() && text_[at_] == '[') {
      const std::size_t end = text_.find(']', at_);
      if (end == std::string_view::npos)
        return false;
      std::string rank(text_.substr(at_, end + 1 - at_));
      std::erase(rank, ' ');
      if (rank.find_first_not_of("[,*]") != std::string::npos)
        return false;
      tokens_.push_back({Kind::suffix, std::move(rank)});
      at_ = end + 1;
    }
    if (is_csharp_)
      std::reverse(tokens_.begin() + static_cast<std::ptrdiff_t>(first), tokens_.end());
    return true;
  }

  bool read_question() {
    ++at_;
    const bool is_class =
        tokens_.back().kind == Kind::suffix || tokens_.back().text == "String" || tokens_.back().text == "Object";
    if (is_class || question_ == Question::nothing)
      return true;
    const Token around[] = {{Kind::word, "System"}, {Kind::dot, ""}, {Kind::word, "Nullable"}, {Kind::open, ""}};
    tokens_.insert(tokens_.begin() + static_cast<std::ptrdiff_t>(begin_of_type(tokens_, tokens_.size())),
                   std::begin(around), std::end(around));
    tokens_.push_back({Kind::close, ""});
    return true;
  }

public:
  // Returns where the type that ends before `end` begins.
  static std::size_t begin_of_type(const Tokens &tokens, std::size_t end) {
    for (std::size_t depth = 0; end > 0; --end) {
      const Kind kind = tokens[end - 1].kind;
      if (!depth && (kind == Kind::open || kind == Kind::comma))
        break;
      depth += kind == Kind::close ? 1 : 0;
      depth -= kind == Kind::open ? 1 : 0;
    }
    return end;
  }

private:
  const std::string_view text_;
  const bool is_csharp_;
  const Question question_;
  std::size_t at_ = 0;
  std::string brackets_; // open brackets
  Tokens tokens_;
};

std::optional<CSharpName> CSharpName::read(std::string_view text, Question question) {
  std::optional<Tokens> tokens = Reader(text, true, question).read();
  if (!tokens)
    return std::nullopt;
  return CSharpName(std::move(*tokens));
}

// Compares from the ends, because optional parts are at the beginnings.
bool CSharpName::means(std::string_view full_name) const {
  const std::optional<Tokens> read = Reader(full_name, false, Question::nothing).read();
  if (!read)
    return false;
  const Tokens &full = *read, &own = tokens_;
  std::size_t i = own.size(), k = full.size();
  while (i > 0) {
    if (k == 0 || own[i - 1] != full[k - 1])
      return false;
    const Kind kind = own[--i].kind;
    --k;
    if (kind == Kind::close) {
      // List<>, Dictionary<,>: any arguments, but as many of them.
      std::size_t open = i, commas = 0;
      for (; open > 0 && own[open - 1].kind == Kind::comma; --open)
        ++commas;
      if (open == 0 || own[open - 1].kind != Kind::open)
        continue;
      for (k = Reader::begin_of_type(full, k); k > 0 && full[k - 1].kind == Kind::comma;
           k = Reader::begin_of_type(full, k - 1))
        commas = commas ? commas - 1 : ~std::size_t{0};
      if (commas || k == 0)
        return false;
      i = open - 1;
      --k;
    } else if (kind == Kind::word && (i == 0 || own[i - 1].kind == Kind::open || own[i - 1].kind == Kind::comma) &&
               k > 0 && full[k - 1].kind == Kind::dot) {
      k = Reader::begin_of_type(full, k);
    }
  }
  return k == 0;
}

} // namespace dnheap

#include "analysis/names/compiled_names.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr std::size_t most_nested = 8; // a lambda in an async lambda in …
constexpr std::size_t longest_text = 4096;
constexpr std::size_t most_lines = 20;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '|' || c == '@' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns where the bracket that opens at `open` closes; npos: nowhere.
std::size_t closing_bracket(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t at = open; at < text.size(); ++at)
    if (text[at] == '<')
      ++depth;
    else if (text[at] == '>' && --depth == 0)
      return at;
  return std::string_view::npos;
}

// Returns where a name that ends before `end` begins, including its qualifiers: for "List<Shop.Cart+" the position of
// "Shop".
std::size_t qualified_begin(std::string_view text, std::size_t end) {
  std::size_t depth = 0, at = end;
  for (; at > 0; --at) {
    char c = text[at - 1];
    if (c == '>' || c == ']')
      ++depth;
    else if (depth && (c == '<' || c == '['))
      --depth;
    else if (!depth && !is_word(c) && c != '.' && c != '+' && c != '`')
      break;
  }
  return at;
}

// Returns the source's type that contains a compiler-made name: "Shop.Cart" for names that begin with
// "Shop.Cart+<>c__DisplayClass1_0.".
std::string_view source_type(std::string_view outer) {
  std::size_t made_up = std::min({outer.find("+<"), outer.find(".<"), outer.find("+_Closure$")});
  outer = outer.substr(0, made_up);
  while (!outer.empty() && (outer.back() == '.' || outer.back() == '+'))
    outer.remove_suffix(1);
  return outer;
}

std::string of_type(std::string_view outer) {
  std::string_view type = source_type(outer);
  return type.empty() ? "" : " of " + std::string(type);
}

std::string in_source(std::string_view name, std::size_t nested = 0);

// Returns "the method Pay", or for a lambda's own state machine "a lambda in Pay". `what` precedes a plain name.
std::string method_text(std::string_view what, std::string_view inside, std::size_t nested) {
  std::string made_up = inside.front() == '<' && nested < most_nested ? in_source(inside, nested + 1) : "";
  return made_up.empty() ? std::string(what) + std::string(inside) : made_up;
}

// Returns the meaning of "<inside>rest"; empty if it does not help a developer.
std::string bracketed(std::string_view inside, std::string_view rest, std::string_view outer, std::size_t nested) {
  if (inside.empty()) {
    if (rest.starts_with("c__DisplayClass"))
      return "variables" + (of_type(outer).empty() ? "" : " of a method" + of_type(outer)) + " that lambdas use";
    if (rest == "c" || rest.starts_with("c__"))
      return "the lambdas" + of_type(outer) + " that use no variables";
    if (rest == "4__this")
      return "this";
    if (rest.starts_with("8__"))
      return "variables that lambdas use";
    if (rest.starts_with("9__"))
      return "a lambda, kept to be used again";
    if (rest.starts_with("3__") && rest.size() > 3)
      return "the parameter " + std::string(rest.substr(3)) + ", as it was passed";
    if (rest.starts_with("f__AnonymousType"))
      return "an anonymous type";
    if (rest == "O")
      return "methods" + of_type(outer) + " as delegates, kept to be used again";
    return {};
  }
  if (rest == "d" || rest.starts_with("d__"))
    return method_text("the async or iterator method ", inside, nested) + of_type(outer) +
           "; its fields are its parameters and variables";
  if (rest.starts_with("b__"))
    return "a lambda in " + method_text("", inside, nested) + of_type(outer);
  if (rest.starts_with("g__"))
    return "the local function " + std::string(rest.substr(3, rest.find('|') - 3)) + " in " +
           method_text("", inside, nested) + of_type(outer);
  if (rest.starts_with("5__"))
    return "the variable " + std::string(inside);
  if (rest == "P")
    return "the parameter " + std::string(inside) + " of the constructor" + of_type(outer);
  if (rest == "e__FixedBuffer")
    return "the fixed buffer " + std::string(inside);
  return {};
}

// Names of F#: "work@42-1"; of Visual Basic: "VB$StateMachine_3_Pay", "_Closure$__2-0".
std::string other_language(std::string_view word, std::string_view outer) {
  if (std::size_t at = word.find('@'); at != std::string_view::npos && at && at + 1 < word.size()) {
    std::string_view line = word.substr(at + 1);
    line = line.substr(0, line.find('-'));
    if (!line.empty() && std::all_of(line.begin(), line.end(), is_digit))
      return "made by F# from line " + std::string(line) + " of the source" + of_type(outer);
  }
  constexpr std::string_view state_machine = "VB$StateMachine_";
  if (word.starts_with(state_machine))
    if (std::size_t name = word.find('_', state_machine.size()); name != std::string_view::npos)
      return "the async or iterator method " + std::string(word.substr(name + 1)) + of_type(outer) +
             "; its fields are its parameters and variables";
  if (word.starts_with("_Closure$__"))
    return "variables" + (of_type(outer).empty() ? "" : " of a method" + of_type(outer)) + " that lambdas use";
  return {};
}

struct MadeUp {
  std::string_view name;
  std::string meaning;
};

// Returns the compiler-made name that begins at `at`, if there is one.
MadeUp made_up_at(std::string_view text, std::size_t at, std::size_t nested) {
  auto word_end = [&](std::size_t from) {
    while (from < text.size() && is_word(text[from]))
      ++from;
    return from;
  };
  const std::size_t begin = qualified_begin(text, at);
  std::string_view outer = text.substr(begin, at - begin);
  if (outer.starts_with('.') || outer.starts_with('['))
    outer = {}; // fields of a path: "._entries[*].value.", no type
  if (text[at] != '<') {
    std::string_view word = text.substr(at, word_end(at) - at);
    return {word, other_language(word, outer)};
  }
  const std::size_t close = closing_bracket(text, at);
  if (close == std::string_view::npos)
    return {};
  const std::size_t end = word_end(close + 1);
  std::string_view inside = text.substr(at + 1, close - at - 1), rest = text.substr(close + 1, end - close - 1);
  return {text.substr(at, end - at), bracketed(inside, rest, outer, nested)};
}

bool begins_name(std::string_view text, std::size_t at) {
  if (at && is_word(text[at - 1]))
    return false; // the arguments of a generic type, or the middle of a word
  return text[at] == '<' || is_word(text[at]);
}

std::string in_source(std::string_view name, std::size_t nested) { return made_up_at(name, 0, nested).meaning; }

// Visits the names that have a meaning, in order, until visit() returns false.
template <class Visit> void for_each_made_up(std::string_view text, Visit visit) {
  text = text.substr(0, longest_text);
  for (std::size_t at = 0; at < text.size();) {
    const MadeUp found = begins_name(text, at) ? made_up_at(text, at, 0) : MadeUp();
    if (!found.meaning.empty() && !visit(found))
      return;
    at += found.meaning.empty() ? 1 : found.name.size();
  }
}

} // namespace

bool is_of_suspended_call(std::string_view type) {
  constexpr std::string_view data = "Continuation_"; // followed by the number of bytes
  return type.starts_with(runtime_async_task) ||
         (type.starts_with(data) && type.size() > data.size() && type[data.size()] >= '0' &&
          type[data.size()] <= '9') ||
         type == "System.Runtime.CompilerServices.RuntimeAsyncTaskContinuation" ||
         type == "System.Runtime.CompilerServices.AsyncHelpers+ValueTaskSourceContinuation";
}

std::string call_of_box(std::string_view type) {
  constexpr std::string_view box = "AsyncStateMachineBox<";
  const std::size_t at = type.find(box);
  if (at == type.npos || !type.ends_with('>'))
    return {};
  const std::size_t open = at + box.size() - 1;
  if (closing_bracket(type, open) != type.size() - 1)
    return {};
  const std::string_view machine = type.substr(open + 1, type.size() - open - 2); // "Shop.Cart+<Pay>d__11"
  const std::size_t made_up = machine.rfind("+<");
  const std::size_t close = made_up == machine.npos ? machine.npos : closing_bracket(machine, made_up + 1);
  if (close == machine.npos || !machine.substr(close + 1).starts_with('d'))
    return {};
  const std::string_view inside = machine.substr(made_up + 2, close - made_up - 2), outer = machine.substr(0, made_up);
  if (inside.starts_with('<')) { // the machine of a lambda or local function
    const std::string source = in_source(inside);
    return source.empty() ? "" : source + of_type(outer);
  }
  return std::string(source_type(outer)) + "." + std::string(inside);
}

std::string method_in_words(std::string_view qualified) {
  std::string out(qualified);
  for_each_made_up(qualified, [&](const MadeUp &found) {
    out = found.meaning.substr(0, found.meaning.find(';')); // the part after it is about its fields
    return true;
  });
  return out;
}

std::string variable_in_words(std::string_view field) {
  // The type does not show which method's call it is: methods with similar data share it.
  if (const std::size_t dot = field.find('.'); dot != field.npos && field.starts_with("Continuation_"))
    if (is_of_suspended_call(field.substr(0, dot)))
      return "a variable of pending calls (" + std::string(field.substr(0, dot)) + ")" +
             (field.substr(dot).starts_with(".0x") ? "" : std::string(field.substr(dot)));
  // Which method's lambdas, its name does not show.
  if (const std::size_t at = field.find("+<>c__DisplayClass"), dot = field.find('.', at);
      at != field.npos && dot != field.npos && field.find('<', at + 2) > dot + 1)
    return "variable " + std::string(field.substr(dot + 1)) + " of lambdas in " + std::string(field.substr(0, at));
  constexpr std::string_view between = ">.StateMachine.";
  const std::size_t at = field.find(between);
  const std::string call = at == field.npos ? "" : call_of_box(field.substr(0, at + 1));
  if (call.empty())
    return std::string(field);
  std::string_view name = field.substr(at + between.size());
  if (const std::size_t close = name.find(">5__"); name.starts_with('<') && close != name.npos)
    name = name.substr(1, close - 1);
  return "variable " + std::string(name) + " of " + call;
}

void explain_compiled_names(std::string_view text, std::vector<std::string> &lines) {
  for_each_made_up(text, [&](const MadeUp &found) {
    if (lines.size() >= most_lines)
      return false;
    std::string line = std::string(found.name) + ": " + found.meaning;
    if (std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
    return true;
  });
}

} // namespace dnheap

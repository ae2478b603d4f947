#include "analysis/shapes/expression_text.h"

#include "analysis/names/brief_type_name.h"
#include "base/text.h"
#include "runtime/string_object.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_nodes = 200, longest_text = 300, most_arguments = 32, longest_name = 100;
constexpr std::string_view of_expressions = "System.Linq.Expressions.";

struct Operator {
  u32 node_type; // of ExpressionType
  const char *text;
};
constexpr Operator operators[] = {{0, "+"},  {1, "+"},   {2, "&"},   {3, "&&"},  {7, "??"},  {12, "/"}, {13, "=="},
                                  {14, "^"}, {15, ">"},  {16, ">="}, {20, "<"},  {21, "<="}, {25, "%"}, {26, "*"},
                                  {27, "*"}, {35, "!="}, {36, "|"},  {37, "||"}, {42, "-"},  {43, "-"}};
constexpr u32 is_not = 34, negate = 28;

// "System.Linq.Expressions.Expression1<System.Func<Shop.Order, System.Boolean>>": "Expression1"
std::string_view kind_of(std::string_view type) {
  if (!type.starts_with(of_expressions))
    return {};
  type.remove_prefix(of_expressions.size());
  return type.substr(0, type.find('<'));
}

// "Shop.Order": "Order"; "Shop.Outer+Inner": "Inner"
std::string last_part(const std::string &name) { return name.substr(name.find_last_of(".+") + 1); }

} // namespace

bool ExpressionText::is_full() const { return nodes_ > most_nodes || out_.text.size() > longest_text; }

const std::string &ExpressionText::type_name(Address object) { return runtime_.types().name(fields_.type_of(object)); }

std::string ExpressionText::name_in(Address object, std::string_view field, const char *otherwise) {
  const Address name = object ? fields_.reference_or_null(object, field) : 0;
  const std::optional<StringText> text = name ? string_text(runtime_, name, longest_name) : std::nullopt;
  return text && !text->text.empty() ? printable(text->text, longest_name) : otherwise;
}

ExpressionText::Written ExpressionText::write(Address expression) {
  out_ = {};
  nodes_ = 0;
  add(expression);
  if (is_full()) {
    // The text may end amid a character.
    out_.text.resize(std::min(out_.text.size(), longest_text));
    while (!out_.text.empty() && (static_cast<u8>(out_.text.back()) & 0xc0) == 0x80)
      out_.text.pop_back();
    if (!out_.text.empty() && static_cast<u8>(out_.text.back()) >= 0xc0)
      out_.text.pop_back();
    out_.text += "…";
  }
  return std::move(out_);
}

void ExpressionText::add(Address expression) {
  if (++nodes_; is_full())
    return;
  if (!expression) {
    out_.text += "…";
    return;
  }
  const std::string &type = type_name(expression);
  const std::string_view kind = kind_of(type);
  if (kind.find("MethodCallExpression") != kind.npos)
    add_call(expression);
  else if (kind.ends_with("BinaryExpression"))
    add_operation(expression);
  else if (kind.ends_with("ParameterExpression") || type.ends_with("QueryParameterExpression"))
    out_.text += name_in(expression, "<Name>k__BackingField", "…");
  else if (kind == "PropertyExpression" || kind == "FieldExpression")
    add_member(expression);
  else if (kind == "ConstantExpression" || kind == "TypedConstantExpression") {
    const Address value = fields_.reference_or_null(expression, "<Value>k__BackingField");
    out_.has_constants |= value != 0;
    out_.text += value ? brief_type_name(type_name(value)) : "null";
  } else if (kind == "UnaryExpression") { // conversions and quotes are not written, as C# has none for most
    const std::optional<u32> node_type = fields_.number<u32>(expression, "<NodeType>k__BackingField");
    out_.text += node_type == is_not ? "!" : node_type == negate ? "-" : "";
    add(fields_.reference_or_null(expression, "<Operand>k__BackingField"));
  } else if (fields_.offset(fields_.type_of(expression), "_body"))
    add_lambda(expression);
  else if (const Address entity = fields_.reference_or_null(expression, "<EntityType>k__BackingField")) {
    const std::string name = name_in(entity, "<Name>k__BackingField", "…");
    out_.text += last_part(name);
  } else if (kind.starts_with("New"))
    out_.text += "new …";
  else
    out_.text += "…";
}

// The first argument or parameter: once somebody asked for all of them, the field holds their list instead.
Address ExpressionText::first_of(Address field) {
  const Address list = fields_.reference_or_null(field, "list");
  return list ? fields_.reference_or_null(list, "_arg0") : field;
}

std::vector<Address> ExpressionText::arguments(Address call) {
  std::vector<Address> out;
  if (const Address instance = fields_.reference_or_null(call, "_instance"))
    out.push_back(instance);
  if (Address list = fields_.reference_or_null(call, "_arguments")) {
    if (const Address inner = fields_.reference_or_null(list, "list"))
      list = inner;
    const std::vector<Address> all = fields_.elements(list, most_arguments);
    out.insert(out.end(), all.begin(), all.end());
  }
  static constexpr const char *names[] = {"_arg0", "_arg1", "_arg2", "_arg3", "_arg4"};
  for (const char *name : names)
    if (const Address argument = fields_.reference_or_null(call, name))
      out.push_back(name == names[0] ? first_of(argument) : argument);
  return out;
}

void ExpressionText::add_all(const std::vector<Address> &expressions, u64 first) {
  for (u64 i = first; i < expressions.size() && !is_full(); ++i) {
    if (i > first)
      out_.text += ", ";
    add(expressions[i]);
  }
}

// An extension method is written behind its first argument.
void ExpressionText::add_call(Address call) {
  const std::vector<Address> all = arguments(call);
  if (!all.empty()) {
    add(all.front());
    out_.text += '.';
  }
  out_.text += name_in(fields_.reference_or_null(call, "<Method>k__BackingField"), "m_name", "…") + "(";
  add_all(all, 1);
  out_.text += ")";
}

void ExpressionText::add_lambda(Address lambda) {
  static constexpr const char *names[] = {"_par0", "_par1", "_par2"};
  std::string parameters;
  u64 count = 0;
  for (const char *name : names)
    if (const Address parameter = fields_.reference_or_null(lambda, name)) {
      parameters += count++ ? ", " : "";
      parameters += name_in(name == names[0] ? first_of(parameter) : parameter, "<Name>k__BackingField", "…");
    }
  out_.text += (count == 1 ? parameters : "(" + parameters + ")") + " => ";
  add(fields_.reference_or_null(lambda, "_body"));
}

void ExpressionText::add_operation(Address binary) {
  const std::optional<u32> node_type = fields_.number<u32>(binary, "<NodeType>k__BackingField");
  const auto known = std::ranges::find(operators, node_type.value_or(~0u), &Operator::node_type);
  add(fields_.reference_or_null(binary, "<Left>k__BackingField"));
  out_.text += std::string(" ") + (known != std::end(operators) ? known->text : "…") + " ";
  add(fields_.reference_or_null(binary, "<Right>k__BackingField"));
}

void ExpressionText::add_member(Address member) {
  if (const Address of = fields_.reference_or_null(member, "<Expression>k__BackingField")) {
    add(of);
    out_.text += '.';
  }
  Address info = fields_.reference_or_null(member, "_property");
  if (!info)
    info = fields_.reference_or_null(member, "_field");
  out_.text += name_in(info, "m_name", "…");
}

} // namespace dnheap

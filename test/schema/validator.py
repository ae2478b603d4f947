"""Validates values against JSON Schemas (draft 2020-12), as far as doc/schema/ uses it. Whatever else a schema says is an
error, so that nothing is silently not checked."""
import json
import pathlib
import re

TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description"}


class Validator:
    def __init__(self, folder):
        self.files = {path.name: json.loads(path.read_text()) for path in sorted(pathlib.Path(folder).glob("*.json"))}

    def problems(self, value, name):
        """What is wrong with `value` by the schema in the file `name`; empty: nothing."""
        return list(self.check(value, self.files[name], name, "$"))

    def check(self, value, schema, name, where):
        for keyword, says in schema.items():
            if keyword in ANNOTATIONS or keyword in ("properties", "additionalProperties"):
                continue
            rule = getattr(self, "check_" + keyword.lstrip("$"), None)
            if rule is None:
                raise ValueError(f"{name}: the keyword {keyword} is not supported")
            yield from rule(value, says, name, where)
        if isinstance(value, dict):
            yield from self.check_members(value, schema, name, where)

    def check_members(self, value, schema, name, where):
        properties = schema.get("properties", {})
        for key, member in value.items():
            if key in properties:
                yield from self.check(member, properties[key], name, f"{where}.{key}")
            elif schema.get("additionalProperties", True) is False:
                yield f"{where}: unexpected key {key}"

    def check_ref(self, value, says, name, where):
        file, _, pointer = says.partition("#")
        schema = self.files[file or name]
        for part in pointer.strip("/").split("/") if pointer else []:
            schema = schema[part]
        yield from self.check(value, schema, file or name, where)

    def check_type(self, value, says, name, where):
        if not any(TYPES[one](value) for one in ([says] if isinstance(says, str) else says)):
            yield f"{where}: {json.dumps(value)[:60]} is no {says}"

    def check_const(self, value, says, name, where):
        yield from self.check_enum(value, [says], name, where)

    def check_enum(self, value, says, name, where):
        if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in says):
            yield f"{where}: {json.dumps(value)[:60]} is none of {json.dumps(says)}"

    def check_anyOf(self, value, says, name, where):
        found = [list(self.check(value, one, name, where)) for one in says]
        if all(found):
            yield "; nor ".join(problems[0] for problems in found)

    def check_pattern(self, value, says, name, where):
        if isinstance(value, str) and not re.search(says, value):
            yield f"{where}: {value[:60]} does not match {says}"

    def check_minimum(self, value, says, name, where):
        if TYPES["number"](value) and value < says:
            yield f"{where}: {value} is less than {says}"

    def check_maximum(self, value, says, name, where):
        if TYPES["number"](value) and value > says:
            yield f"{where}: {value} is more than {says}"

    def check_required(self, value, says, name, where):
        if isinstance(value, dict):
            yield from (f"{where}: the key {key} is missing" for key in says if key not in value)

    def check_minProperties(self, value, says, name, where):
        if isinstance(value, dict) and len(value) < says:
            yield f"{where}: has fewer than {says} members"

    def check_items(self, value, says, name, where):
        if isinstance(value, list):
            for i, item in enumerate(value):
                yield from self.check(item, says, name, f"{where}[{i}]")

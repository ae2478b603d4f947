#!/usr/bin/env python3
"""Finds types in anonymous namespaces that have the name of a type of a header, in the namespace around. Files that are compiled as one
(cmake/unity.cmake) see both wherever that header comes first, and which files these are differs from system to system.
Usage: anonymous_names.py FOLDER"""
import collections
import pathlib
import re
import sys

# All in namespaces begins at the start of a line, as ./dev format lays it out.
NAMESPACE = re.compile(r"^namespace ([\w:]+ )?\{|^\} // namespace.*$", re.M)
TYPE = re.compile(r"^(?:template <[^>]*>\s*)?(?:struct|class|enum class|enum) (\w+)[^;(]*?\{|^using (\w+) =", re.M)


def types(text):
    """(line, namespace, is anonymous, name) of each."""
    around, at = [], 0
    for match in [*NAMESPACE.finditer(text), None]:
        end = match.start() if match else len(text)
        for found in TYPE.finditer(text, at, end):
            yield text.count("\n", 0, found.start()) + 1, "::".join(filter(None, around)), "" in around, found[1] or found[2]
        if match and match[0].startswith("}"):
            around = around[:-1]
        elif match:
            around.append((match[1] or "").strip())
        at = match.end() if match else end


def violations(folder):
    files = sorted(pathlib.Path(folder).rglob("*.*"))
    headers = collections.defaultdict(list)
    for path in files:
        if path.suffix == ".h":
            for _, namespace, _, name in types(path.read_text()):
                headers[namespace, name].append(path)
    for path in files:
        if path.suffix == ".cc":
            for line, namespace, is_anonymous, name in types(path.read_text()):
                if is_anonymous and (namespace, name) in headers:
                    yield f"{path}:{line}: {name} is a type in {headers[namespace, name][0]}, too: name it otherwise"


def main():
    problems = list(violations(sys.argv[1]))
    for problem in problems:
        print(problem)
    if not problems:
        print("names in anonymous namespaces: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

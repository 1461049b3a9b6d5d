/** Programs of packages that call more than they declare, or whose names could mean several tools. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { wireNameOfId } from "@toolcrib/inventory";
import { lintPackageProgram } from "@toolcrib/metatool";

/** Checks the severities and codes of the findings about a program. */
function check(code: string, tools: readonly string[], expected: readonly string[]): void {
  const found = lintPackageProgram({ path: "main.star", code, tools, inputSchema: {} }, wireNameOfId);
  assert.deepEqual(
    found.map(({ severity, code: own }) => `${severity} ${own}`),
    expected,
    code,
  );
  for (const { source, severity } of found) if (severity === "error") assert.equal(source?.name, "main.star");
}

const unknown = "error METATOOL_TOOL_UNKNOWN";

test("a program may call what it declares, in every way that names a tool", () => {
  check("return notes.read()", ["notes:read"], []);
  check('return tools["notes:read"]()', ["notes:read"], []);
  check('return tools["notes__read"]()', ["notes:read"], []);
  check('return tools["demo.echo"]()', ["demo.echo:echo"], []);
  check("return demo_echo.echo()", ["demo.echo:echo"], []);
  check("return saved.other()", ["saved:other"], []);
  check("return [tools[name]() for name in params.names]", ["notes:read", "notes:list"], []);
});

test("a program that calls what it does not declare is refused, however it names the tool", () => {
  check("return notes.write()", ["notes:read"], [unknown, "warning METATOOL_TOOL_UNUSED"]);
  check('return tools["notes:write"]()', ["notes:read"], [unknown, "warning METATOOL_TOOL_UNUSED"]);
  check(
    "return github.search()",
    ["notes:read"],
    ["error STARLARK_UNDEFINED_NAME", "warning METATOOL_TOOL_UNUSED"],
  );
  check("return github.search()", [], ["error STARLARK_UNDEFINED_NAME"]);
  check("f = notes\nreturn f.write()", ["notes:read"], []);
});

test("a declaration that is wider than the program is a warning", () => {
  check("return notes.read()", ["notes:read", "notes:write"], ["warning METATOOL_TOOL_UNUSED"]);
});

test("names mean the declared tools alone, and those that could mean two mean none", () => {
  // Both namespaces have the same identifier; the one that is spelled like it has it.
  check("return my_server.a()", ["my_server:a", "my-server:b"], ["warning METATOOL_TOOL_UNUSED"]);
  check(
    "return my_server.b()",
    ["my_server:a", "my-server:b"],
    [unknown, "warning METATOOL_TOOL_UNUSED", "warning METATOOL_TOOL_UNUSED"],
  );
  // Neither is spelled like it.
  check(
    "return my_server.a()",
    ["my-server:a", "my.server:a"],
    ["error STARLARK_UNDEFINED_NAME", "warning METATOOL_TOOL_UNUSED", "warning METATOOL_TOOL_UNUSED"],
  );
  // A package and a server that have one name on the wire: the name means the first, and the ids mean each.
  check('return tools["a__b"]()', ["a:b", "a_:_b"], ["warning METATOOL_TOOL_UNUSED"]);
});

/** Arguments that no preview shows, by the rules of `audit.redact`. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HiddenArguments } from "@toolcrib/policy";

const nameOf = (name: string) => ({ id: `notes:${name}`, wireName: `notes__${name}` });
const caller = { id: "toolcrib:call_tool", wireName: "call_tool" };

const hidden = new HiddenArguments(
  [
    { tool: "notes:write", arguments: ["user.token", "/keys/*/a~1b~0c"] },
    { tool: "notes__w*", arguments: ["text"] },
  ],
  {
    callToolId: caller.id,
    find: (name) => (["notes__write", "notes__read"].includes(name) ? nameOf(name.slice(7)) : undefined),
  },
);

describe("HiddenArguments", () => {
  const ofWrite = [["user", "token"], ["keys", "*", "a/b~c"], ["text"]];
  const inside = ofWrite.map((place) => ["arguments", ...place]);

  test("finds the places of the rules whose patterns name a tool, by its id or its name on the wire", () => {
    assert.deepEqual(hidden.of(nameOf("write"), {}), ofWrite);
    assert.deepEqual(hidden.of(nameOf("wipe"), {}), [["text"]]);
    assert.deepEqual(hidden.of(nameOf("read"), {}), []);
  });

  test("applies the rules of the called tool inside the arguments of call_tool", () => {
    assert.deepEqual(hidden.of(caller, { name: "notes__write" }), inside);
    assert.deepEqual(hidden.of(caller, { name: "notes__read" }), []);
  });

  test("applies all rules where call_tool names no tool that exists", () => {
    for (const name of ["notes__wrte", "", 1, undefined])
      assert.deepEqual(hidden.of(caller, { name }), inside);
  });
});

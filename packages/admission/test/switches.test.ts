/** Switches of the operator by the public names of the package: what is stored, and what a request changes. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { type Switchable, Switches } from "@toolcrib/admission";
import { SwitchStore } from "@toolcrib/store";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { operator } from "./guard-harness.ts";

const known: Switchable = {
  serverIds: ["notes", "mail", "off"],
  offInFiles: ["off"],
  toolId: (name) => (name === "notes__write" || name === "notes:write" ? "notes:write" : undefined),
  unmatchedTool: (name) =>
    name.startsWith("notes") || name === "off" ? undefined : `"${name}" is the name of no tool`,
};

/** Opens the switches of a home. `change` switches names on (`+`) or off, as in `change("server", "-notes")`. */
function open(home: string, switchable: Switchable = known) {
  const store = new SwitchStore(home, { randomBytes });
  const recorded: string[] = [];
  const switches = new Switches({
    store,
    audit: {
      record(type, data) {
        const { kind, name, by } = data as { kind: string; name: string; by: { name: string } };
        recorded.push(`${type} ${kind} ${name} by ${by.name}`);
      },
    },
    logger: { error: () => assert.fail() },
    now: () => 7,
    switchable: () => switchable,
  });
  const change = async (kind: string, state: "+" | "-", ...names: readonly string[]) => {
    const { changed, unchanged, ...rest } = await switches.change(
      { kind, names, isEnabled: state === "+" },
      operator,
    );
    assert.deepEqual(rest, { kind, enabled: state === "+" });
    return [changed, unchanged];
  };
  const stored = async () =>
    (await store.list()).map(({ kind, name, isOn }) => `${isOn ? "+" : "-"}${kind} ${name}`);
  return { store, change, stored, recorded };
}

describe("Switches", () => {
  test("switches servers off and on again, and stores only what differs from the files", async () => {
    await using directory = await makeTemporaryDirectory();
    const { change, stored, recorded } = open(directory.path);
    assert.deepEqual(await change("server", "-", "notes", "off", "notes"), [["notes"], ["off"]]);
    assert.deepEqual(await stored(), ["-server notes"]);
    assert.deepEqual(await change("server", "-", "notes"), [[], ["notes"]]);
    assert.deepEqual(await change("server", "+", "notes", "off", "mail"), [["notes", "off"], ["mail"]]);
    assert.deepEqual(await stored(), ["+server off"]);
    assert.deepEqual(await change("server", "+", "off"), [[], ["off"]]);
    assert.deepEqual(await change("server", "-", "off"), [["off"], []]);
    assert.deepEqual(await stored(), []);
    assert.deepEqual(recorded, [
      "switch.disabled server notes by operator",
      "switch.enabled server notes by operator",
      "switch.enabled server off by operator",
      "switch.disabled server off by operator",
    ]);
  });

  test("switches a tool by each of its names, and nothing of a server with the same name", async () => {
    await using directory = await makeTemporaryDirectory();
    const { change, stored } = open(directory.path);
    assert.deepEqual(await change("tool", "-", "notes__write", "notes:write"), [["notes:write"], []]);
    assert.deepEqual(await change("tool", "-", "notes:write"), [[], ["notes:write"]]);
    assert.deepEqual(await change("tool", "-", "notes:*"), [["notes:*"], []]);
    assert.deepEqual(await change("server", "-", "notes"), [["notes"], []]);
    assert.deepEqual(await stored(), ["-tool notes:write", "-tool notes:*", "-server notes"]);
    assert.deepEqual(await change("server", "+", "notes"), [["notes"], []]);
    // The name of a server that its file switches off is no tool that is off.
    assert.deepEqual(await change("tool", "-", "off"), [["off"], []]);
    assert.deepEqual(await change("tool", "+", "off"), [["off"], []]);
    assert.deepEqual(await change("tool", "+", "notes__write", "notes__*"), [
      ["notes:write", "notes__*"],
      [],
    ]);
    assert.deepEqual(await stored(), []);
  });

  test("leaves nothing denied under another name of what it enables, where the server is not known yet", async () => {
    await using directory = await makeTemporaryDirectory();
    const unknown = { ...known, toolId: () => undefined };
    const { store, change, stored } = open(directory.path, unknown);
    await change("tool", "-", "notes:write");
    // Another form of a name can be another tool's: it is denied as well.
    assert.deepEqual(await change("tool", "-", "notes__write"), [["notes__write"], []]);
    assert.deepEqual(await change("tool", "+", "notes__write"), [["notes__write"], []]);
    assert.deepEqual(await stored(), []);
    const own = { changedBy: operator, changedAt: 0, kind: "tool" } as const;
    await store.change(
      [
        { ...own, name: "notes:write", isOn: true },
        { ...own, name: "notes__write", isOn: false },
      ],
      [],
    );
    assert.deepEqual(await change("tool", "+", "notes:write"), [["notes:write"], []]);
    assert.deepEqual(await stored(), []);
    // Servers have one name.
    await change("server", "-", "notes");
    assert.deepEqual(await change("server", "+", "mail"), [[], ["mail"]]);
    assert.deepEqual(await stored(), ["-server notes"]);
  });

  test("refuses what nothing is called, and switches back what is gone", async () => {
    await using directory = await makeTemporaryDirectory();
    const { change, stored, recorded } = open(directory.path);
    for (const [kind, names, message, hint] of [
      ["planet", ["notes"], /"planet" is neither server nor tool/, /^write server ID, or tool NAME$/],
      ["server", ["notes", "zzzzzz"], /is called "zzzzzz"/, /^the ids are notes, mail, off$/],
      ["server", ["nots"], /is called "nots"/, /notes/],
      ["tool", ["notes:write", "x:y"], /"x:y" is the name of no tool/, /^toolcrib list shows/],
    ] as const) {
      const refused = change(kind, "-", ...names);
      await assert.rejects(refused, { code: "SWITCH_INVALID", message });
      await assert.rejects(refused, ({ hint: found }: { hint?: string }) => hint.test(found ?? ""));
    }
    assert.deepEqual([await stored(), recorded], [[], []]);
    await change("server", "-", "notes");
    await change("tool", "-", "notes:gone");
    const without = { ...known, serverIds: [], unmatchedTool: () => "it is gone" };
    const later = open(directory.path, without);
    await assert.rejects(later.change("server", "-", "mail"), ({ hint }: { hint?: string }) => {
      assert.equal(hint, "the configuration has none");
      return true;
    });
    assert.deepEqual(await later.change("server", "+", "notes"), [["notes"], []]);
    assert.deepEqual(await later.change("tool", "+", "notes:gone"), [["notes:gone"], []]);
    // Where the servers are not known, any can be switched.
    const blind = open(directory.path, { ...known, serverIds: undefined });
    assert.deepEqual(await blind.change("server", "-", "any"), [["any"], []]);
  });
});

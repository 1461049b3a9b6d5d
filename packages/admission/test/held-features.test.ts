/** Prompts, resources, templates and instructions without those that wait for the operator. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type FeaturePinning, holdFeatures } from "@toolcrib/admission";
import type { JsonObject } from "@toolcrib/json";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { operator } from "./guard-harness.ts";
import { asking, featuresOf, type Lists, pinning, pinsOf } from "./held-harness.ts";

const everything = (): Required<Lists> => ({
  instructions: "Use read first.",
  resources: [{ uri: "file:///a", name: "a" }],
  templates: [{ uriTemplate: "file:///{path}", name: "files" }],
  prompts: [{ name: "greet" }, { name: "part" }],
});

/** Holds the features of the server "s", and counts the definitions that are checked. */
function hold(home: string, lists: Lists, rules: FeaturePinning) {
  const pins = pinsOf(home);
  const checked = { count: 0 };
  const check: typeof pins.check = (...args) => {
    checked.count += 1;
    return pins.check(...args);
  };
  const features = holdFeatures("s", featuresOf(lists), { check }, rules);
  const shown = () => ({
    instructions: features.instructions(),
    resources: features.resources(),
    templates: features.resourceTemplates(),
    prompts: features.prompts(),
  });
  const held = () => features.held().map(({ kind, name, code }) => `${kind} ${name} ${code}`);
  return { features, pins, shown, held, checked };
}

const nothing = { instructions: undefined, resources: [], templates: [], prompts: [] };

describe("holdFeatures()", () => {
  test("offers nothing that waits, and says why", async () => {
    await using directory = await makeTemporaryDirectory();
    const { features, shown, held } = hold(directory.path, everything(), asking);
    assert.deepEqual(shown(), nothing);
    assert.deepEqual(held(), [
      "resources resources TOOL_NOT_APPROVED",
      "resourceTemplate file:///{path} TOOL_NOT_APPROVED",
      "prompt greet TOOL_NOT_APPROVED",
      "prompt part TOOL_NOT_APPROVED",
      "instructions instructions TOOL_NOT_APPROVED",
    ]);
    assert.match(features.reasonAgainst("prompts", "part") ?? "", /^"s:prompts\/part" waits/);
    assert.equal(features.reasonAgainst("prompts", "unknown"), undefined);
    assert.match(features.reasonAgainst("resources", "file:///{path}") ?? "", /^"s:resources\/file:/);
    assert.match(features.reasonAgainst("resources", "file:///unknown") ?? "", /^"s:resources" waits/);
    // A prompt that waits is no reason against a resource, nor the reverse.
    const prompts = hold(directory.path, { prompts: [{ name: "greet" }] }, asking).features;
    assert.equal(prompts.reasonAgainst("resources", "greet"), undefined);
    const resources = hold(directory.path, { resources: [{ uri: "greet", name: "a" }] }, asking).features;
    assert.equal(resources.reasonAgainst("prompts", "resources"), undefined);
  });

  test("offers what is approved, once it decides again", async () => {
    await using directory = await makeTemporaryDirectory();
    const lists = everything();
    const { features, pins, shown, held } = hold(directory.path, lists, {
      ...asking,
      trustState: "verified",
    });
    await pins.approve("s", features.held(), operator);
    assert.deepEqual(shown(), nothing);
    features.reconsider();
    assert.deepEqual(shown(), lists);
    assert.deepEqual(held(), []);
    assert.equal(features.reasonAgainst("resources", "file:///unknown"), undefined);
  });

  test("decides again about each list that changed, and only then", async () => {
    for (const [changed, waiting] of [
      [{ instructions: "Send it." }, "instructions instructions"],
      [{ resources: [{ uri: "file:///b", name: "b" }] }, "resource file:///b"],
      [{ templates: [{ uriTemplate: "file:///{other}", name: "b" }] }, "resourceTemplate file:///{other}"],
      [{ prompts: [{ name: "other" }] }, "prompt other"],
    ] satisfies [Lists, string][]) {
      await using directory = await makeTemporaryDirectory();
      const lists = everything();
      const rules = { ...asking, pinsResources: true };
      const { features, pins, held, checked } = hold(directory.path, lists, rules);
      await pins.approve("s", features.held(), operator);
      features.reconsider();
      assert.deepEqual(held(), []);
      const before = checked.count;
      assert.deepEqual(held(), []);
      assert.equal(checked.count, before, "the same lists are checked once");
      Object.assign(lists, changed);
      const code = waiting.startsWith("instructions") ? "TOOL_DEFINITION_CHANGED" : "TOOL_NOT_APPROVED";
      assert.deepEqual(held(), [`${waiting} ${code}`]);
    }
  });

  test("asks about nothing that says nothing", async () => {
    await using directory = await makeTemporaryDirectory();
    for (const instructions of [undefined, "", " \n"]) {
      const { held, shown } = hold(directory.path, { instructions }, asking);
      assert.deepEqual([held(), shown()], [[], { ...nothing, instructions }]);
    }
  });

  test("labels the resources of an unverified server, and leaves out a URI with hidden characters", async () => {
    const resources = [
      { uri: "file:///a", name: "a\u200bb", _meta: { own: 1 } },
      { uri: "file:///\u202eb", name: "b" },
      { uri: "file:///c", name: "c" },
    ];
    const label = { "toolcrib/server": "s", "toolcrib/trustState": "unverified" };
    await using directory = await makeTemporaryDirectory();
    const { features, held } = hold(directory.path, { resources }, { ...asking, firstContact: "pin" });
    assert.deepEqual(features.resources(), [
      { uri: "file:///a", name: "ab", _meta: { own: 1, ...label } },
      { uri: "file:///c", name: "c", _meta: label },
    ]);
    const [malformed, ...others] = features.malformed();
    assert.deepEqual(others, []);
    assert.deepEqual([malformed?.name, malformed?.code], ["file:///b", "TOOL_DEFINITION_INVALID"]);
    assert.deepEqual(held(), []);
    // Those of others are as the server lists them.
    for (const trustState of ["verified", "certified"] as const) {
      const trusted = hold(directory.path, { resources }, { ...pinning, trustState }).features;
      assert.deepEqual([trusted.resources(), trusted.malformed()], [resources, []]);
    }
  });

  test("pins each resource where the operator says so, without its size and its date", async () => {
    const a: JsonObject = { uri: "file:///a", name: "a" };
    const b: JsonObject = { uri: "file:///b", name: "b", annotations: { audience: ["user"] } };
    await using directory = await makeTemporaryDirectory();
    const lists: Lists = { resources: [a, b] };
    const { features, held } = hold(directory.path, lists, { ...pinning, pinsResources: true });
    assert.deepEqual(features.resources(), [a, b]);
    const date = { lastModified: "2026-01-31T12:00:00Z" };
    lists.resources = [
      { ...a, size: 2, annotations: date },
      { ...b, size: 3, annotations: { audience: ["user"], ...date } },
    ];
    assert.deepEqual(features.resources(), lists.resources);
    lists.resources = [
      { ...a, name: "other" },
      { ...b, annotations: { audience: ["assistant"] } },
    ];
    assert.deepEqual(features.resources(), []);
    assert.deepEqual(held(), [
      "resource file:///a TOOL_DEFINITION_CHANGED",
      "resource file:///b TOOL_DEFINITION_CHANGED",
    ]);
    assert.match(
      features.reasonAgainst("resources", "file:///b") ?? "",
      /"s:resources\/file:\/\/\/b" changed/,
    );
  });
});

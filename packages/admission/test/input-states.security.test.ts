/** The state of questions, which a client keeps: only the next round of the same call can use it. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { InputStates, type StateOwner } from "@toolcrib/admission";
import { localIdentity } from "@toolcrib/tool";

const owner: StateOwner = {
  identity: localIdentity("token", "ci"),
  target: "notes:write",
  args: { text: "a", place: { line: 1 } },
};

/** Seals the questions of a call with the state `at-server`. */
function sealed(isApproved = false) {
  const clock = { ms: 0 };
  const states = new InputStates({ now: () => clock.ms, randomBytes });
  const questions = { resultType: "input_required", requestState: "at-server" };
  const result = states.seal(questions, owner, { callId: "call-1", isApproved });
  return { clock, states, requestState: String(result["requestState"]) };
}

describe("InputStates", () => {
  test("returns the state of the server and the call to the next round of the same call", () => {
    const { states, requestState } = sealed();
    assert.doesNotMatch(Buffer.from(requestState, "base64url").toString("latin1"), /at-server|call-1/);
    const inputResponses = { name: { action: "accept" } };
    const args = { place: { line: 1 }, text: "a" };
    assert.deepEqual(states.open({ inputResponses, requestState }, { ...owner, args }), {
      responses: inputResponses,
      state: "at-server",
      continues: "call-1",
    });
  });

  test("opens the state of no other client, tool or arguments, and none that is too old", () => {
    const others: readonly [name: string, other: Partial<StateOwner>][] = [
      ["client", { identity: localIdentity("token", "dev") }],
      ["issuer", { identity: localIdentity("cli", "ci") }],
      ["tool", { target: "notes:delete" }],
      ["arguments", { args: { text: "b", place: { line: 1 } } }],
    ];
    for (const [name, other] of others) {
      const { states, requestState } = sealed();
      assert.match(
        String(states.open({ requestState }, { ...owner, ...other })),
        /not that of this call/,
        name,
      );
    }
    const { states, clock, requestState } = sealed();
    clock.ms = 600_000;
    assert.equal(typeof states.open({ requestState }, owner), "object");
    clock.ms += 1;
    assert.match(String(states.open({ requestState }, owner)), /older than 10 minutes/);
  });

  test("refuses a state that was changed, that another gateway sealed, or that is no text", () => {
    const { states, requestState } = sealed();
    const bytes = Buffer.from(requestState, "base64url");
    for (const at of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed[at] = (bytes[at] ?? 0) ^ 1;
      const opened = states.open({ requestState: changed.toString("base64url") }, owner);
      assert.match(String(opened), /it was changed/, `byte ${at}`);
    }
    assert.match(String(sealed().states.open({ requestState }, owner)), /not that of this call/);
    for (const text of ["", "AAAA", requestState.slice(0, -8)])
      assert.match(String(states.open({ requestState: text }, owner)), /not that of this call/);
    assert.match(String(states.open({ requestState: 1 }, owner)), /must be a string/);
    for (const inputResponses of [[], "yes", { name: 1 }])
      assert.match(String(states.open({ inputResponses }, owner)), /must be an object of objects/);
  });

  test("lets an approval count for one next round only", () => {
    const { states, requestState } = sealed(true);
    const isApproved = () => {
      const round = states.open({ requestState }, owner);
      return typeof round === "object" && round.isApproved === true;
    };
    assert.deepEqual([isApproved(), isApproved()], [true, false]);
  });
});

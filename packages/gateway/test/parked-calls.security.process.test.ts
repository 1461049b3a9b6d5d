/** Calls of modern clients that wait for answers: composites whose tools ask, pauses between rounds, and their limits. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { localIdentity } from "@toolcrib/tool";
import { dataOf, echoStdio, startTestGateway, textOf } from "./gateway-harness.ts";
import { capabilities, type ModernAnswer, postModern } from "./post-modern.ts";

const operator = localIdentity("cli", "cli");
const servers: readonly (readonly [era: string, flags: readonly string[]])[] = [
  ["legacy", []],
  ["modern", ["--protocol", "2026-07-28", "--only"]],
];
const code = `
first = echo.ask_elicitation(message="First?")
second = echo.ask_elicitation(message="Second?")
return [first, second]
`;

/** The next round of a call: the same name for each question. */
function roundOf(call: JsonObject, { result, error }: ModernAnswer, name: string | undefined): JsonObject {
  assert.equal(result["resultType"], "input_required", JSON.stringify([result, error]));
  const keys = Object.keys(result["inputRequests"] as JsonObject);
  const answer = { action: "accept", content: { name: name ?? "" } };
  const inputResponses = Object.fromEntries(name === undefined ? [] : keys.map((key) => [key, answer]));
  return { ...call, inputResponses, requestState: String(result["requestState"]) };
}

for (const [era, flags] of servers) {
  describe(`a composite whose tool belongs to a ${era} server that asks`, () => {
    test("asks a modern client in rounds, each of them a governed call", async () => {
      const server = { ...echoStdio("echo", ...flags), interactive: true };
      await using gateway = await startTestGateway({ tool_servers: [server] }, { clients: ["ada"] });
      const call = { name: "eval_starlark", arguments: { code } };
      const first = await postModern(gateway, "ada", call);
      const second = await postModern(gateway, "ada", roundOf(call, first, "Ada"));
      assert.match(JSON.stringify(second.result["inputRequests"]), /Second\?/);
      const third = await postModern(gateway, "ada", roundOf(call, second, "Bea"));
      assert.match(textOf(third.result), /Ada.*Bea/s);
      // A state that was used continues nothing.
      const again = await postModern(gateway, "ada", roundOf(call, second, "Cid"));
      assert.match(JSON.stringify(again.error), /cannot be answered/);

      const modern = await gateway.connectModern({ as: "ada", capabilities });
      modern.setRequestHandler("elicitation/create", ({ params }) => ({
        action: "accept",
        content: { name: params.message },
      }));
      assert.match(textOf(await modern.callTool(call)), /First\?.*Second\?/s);
      await gateway.stop();
      const rounds = dataOf(gateway.audit(), "call.completed").filter(({ tool }) =>
        /eval/.test(String(tool)),
      );
      assert.deepEqual(
        rounds.slice(0, 3).map(({ code: end, continues }) => [end, continues]),
        [
          ["INPUT_REQUIRED", undefined],
          ["INPUT_REQUIRED", rounds[0]?.callId],
          [undefined, rounds[1]?.callId],
        ],
      );
    });
  });
}

test("a pause ends calls that wait for answers, also of composites, and nothing continues them", async () => {
  const server = { ...echoStdio("echo"), interactive: true };
  await using gateway = await startTestGateway({ tool_servers: [server] }, { clients: ["ada"] });
  const { pauses } = gateway.gateway;
  const plain = { name: "echo__ask_elicitation", arguments: {} };
  const composite = { name: "eval_starlark", arguments: { code } };
  const parked = await Promise.all([plain, composite].map((call) => postModern(gateway, "ada", call)));
  const other = await pauses.pause({ kind: "client", name: "nobody" }, operator);
  assert.equal(other.cancelledCalls, 0);
  const { cancelledCalls } = await pauses.pause({ kind: "client", name: "ada" }, operator);
  assert.ok(cancelledCalls >= 2, `${cancelledCalls} calls were cancelled`);
  const rounds = [plain, composite].map((call, at) => roundOf(call, parked[at] as ModernAnswer, "Ada"));
  for (const round of rounds)
    assert.match(JSON.stringify(await postModern(gateway, "ada", round)), /is paused/);
  await pauses.resume({ kind: "client", name: "ada" }, operator);
  for (const round of rounds)
    assert.match(JSON.stringify(await postModern(gateway, "ada", round)), /cannot be answered/);
});

test("empty answers prolong no call, and end it after a number of rounds", async () => {
  const server = { ...echoStdio("echo"), interactive: true };
  await using gateway = await startTestGateway(
    { tool_servers: [server] },
    { clients: ["ada"], upstreamLimits: { answerTimeoutMs: 2500 } },
  );
  const call = { name: "echo__ask_elicitation", arguments: {} };
  const startedAt = Date.now();
  let answer = await postModern(gateway, "ada", call);
  let rounds = 0;
  while (answer.result["resultType"] === "input_required") {
    rounds += 1;
    await new Promise((resolve) => setTimeout(resolve, 300));
    answer = await postModern(gateway, "ada", roundOf(call, answer, undefined));
    assert.ok(Date.now() - startedAt < 60_000, "the call is prolonged");
  }
  assert.match(JSON.stringify(answer), /did not answer|cannot be answered/);

  let endless = await postModern(gateway, "ada", call);
  for (let at = 0; at < 110 && endless.result["resultType"] === "input_required"; at += 1)
    endless = await postModern(gateway, "ada", roundOf(call, endless, undefined));
  // On a slow machine its time ends before its rounds do.
  assert.match(JSON.stringify(endless), /in more than 100 rounds|did not answer|cannot be answered/);
  assert.ok(rounds > 0);
});

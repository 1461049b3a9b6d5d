/** Questions of servers to clients of either era, and attempts to answer those of another call. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "@toolcrib/json";
import { waitUntil } from "@toolcrib/testing";
import { dataOf, echoStdio, startTestGateway, textOf } from "./gateway-harness.ts";
import { capabilities, postModern } from "./post-modern.ts";

const modernFlags = ["--protocol", "2026-07-28", "--only"];
const servers: readonly (readonly [era: string, flags: readonly string[]])[] = [
  ["legacy", []],
  ["modern", modernFlags],
];
const answers = {
  sampling: { role: "assistant", content: { type: "text", text: "Ada" }, model: "m" },
  elicitation: { action: "accept", content: { name: "Ada" } },
  roots: { roots: [{ uri: "file:///ada" }] },
} as const;
const tools = ["ask_sampling", "ask_elicitation", "ask_roots"] as const;

/** The answer to each question of a result. */
function answersTo(result: JsonObject): JsonObject {
  const keys = Object.keys(result["inputRequests"] as JsonObject);
  return Object.fromEntries(keys.map((key) => [key, answers.elicitation]));
}

for (const [era, flags] of servers) {
  const server = { ...echoStdio("echo", ...flags), interactive: true };

  describe(`a server of the ${era} era that asks`, () => {
    test("gets the answers of clients of both eras", async () => {
      await using gateway = await startTestGateway({ tool_servers: [server] });
      const first = await gateway.connect({ capabilities });
      first.setRequestHandler(CreateMessageRequestSchema, async () => ({ ...answers.sampling }));
      first.setRequestHandler(ElicitRequestSchema, async () => ({ ...answers.elicitation }));
      first.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [...answers.roots.roots] }));
      const second = await gateway.connectModern({ capabilities });
      second.setRequestHandler("sampling/createMessage", async () => ({ ...answers.sampling }));
      second.setRequestHandler("elicitation/create", async () => ({ ...answers.elicitation }));
      second.setRequestHandler("roots/list", async () => ({ roots: [...answers.roots.roots] }));
      for (const client of [first, second]) {
        for (const name of tools) {
          assert.match(textOf(await client.callTool({ name: `echo__${name}`, arguments: {} })), /ada/i);
        }
        const inner = { name: "echo__ask_elicitation", arguments: {} };
        assert.match(textOf(await client.callTool({ name: "call_tool", arguments: inner })), /Ada/);
      }
    });

    test("gets no answer to the question of another client, of other arguments, or with a changed state", async () => {
      await using gateway = await startTestGateway({ tool_servers: [server] }, { clients: ["ada", "bob"] });
      const call = { name: "echo__ask_elicitation", arguments: { message: "Who?" } };
      const asked = await postModern(gateway, "ada", call);
      assert.equal(asked.result["resultType"], "input_required");
      const requestState = String(asked.result["requestState"]);
      const inputResponses = answersTo(asked.result);
      const round = { ...call, inputResponses, requestState };
      const forged = `${requestState.slice(0, -2)}${requestState.endsWith("A") ? "B" : "A"}A`;
      for (const [as, attempt] of [
        ["bob", round],
        ["ada", { ...round, arguments: { message: "Other" } }],
        ["ada", { ...round, name: "echo__ask_sampling" }],
        ["ada", { ...round, requestState: forged }],
        ["ada", { ...round, inputResponses: { q1: 1 } }],
      ] as const) {
        const { error } = await postModern(gateway, as, attempt);
        assert.equal(error["code"], -32602, JSON.stringify(attempt));
      }
      const done = await postModern(gateway, "ada", round);
      assert.equal(done.result["resultType"], "complete");
      assert.match(textOf(done.result), /Ada/);
      await gateway.stop();
      const ended = dataOf(gateway.audit(), "call.completed").filter(
        ({ tool }) => tool === "echo:ask_elicitation",
      );
      assert.deepEqual(
        ended.map(({ code, continues }) => [code, continues]),
        [
          ["INPUT_REQUIRED", undefined],
          [undefined, ended[0]?.callId],
        ],
      );
    });
  });
}

test("a call that waits for answers takes a place of its client", async () => {
  const server = { ...echoStdio("echo"), interactive: true };
  await using gateway = await startTestGateway(
    { tool_servers: [server] },
    { clients: ["ada"], upstreamLimits: { maxParkedCalls: 2 } },
  );
  const call = { name: "echo__ask_elicitation", arguments: {} };
  const parked = await postModern(gateway, "ada", call);
  assert.equal(parked.result["resultType"], "input_required");
  // Half of what is free is its share.
  const crowded = await postModern(gateway, "ada", call);
  assert.match(JSON.stringify(crowded), /calls that may wait for answers/);
});

test("a call that waits for answers ends after its time, and leaves its place to another", async () => {
  const server = { ...echoStdio("echo"), interactive: true };
  await using gateway = await startTestGateway(
    { tool_servers: [server] },
    { clients: ["ada"], upstreamLimits: { answerTimeoutMs: 500, maxParkedCalls: 2 } },
  );
  const call = { name: "echo__ask_elicitation", arguments: {} };
  const parked = await postModern(gateway, "ada", call);
  assert.equal(parked.result["resultType"], "input_required");
  const isParked = async () =>
    (await postModern(gateway, "ada", call)).result["resultType"] === "input_required";
  await waitUntil(isParked, { intervalMs: 100, what: "the place is free again" });
  const { requestState } = parked.result;
  const late = await postModern(gateway, "ada", {
    ...call,
    inputResponses: answersTo(parked.result),
    requestState: requestState as string,
  });
  assert.match(JSON.stringify(late.error), /cannot be answered/);
});

/** Labelled data waits until its labels are in the home, in its order, and does not reach a client without them. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { waitForLock } from "@toolcrib/files";
import { slowTest, waitUntil } from "@toolcrib/testing";
import { onHttp, startScriptedServer, startTestGateway, toolNamed } from "./gateway-harness.ts";

const startSource = () =>
  startScriptedServer({
    tools: () => [toolNamed("read"), toolNamed("broken")],
    call(request, name) {
      request.progress({ progress: 1, message: "a message" });
      request.notify("notifications/message", { level: "error", data: "a log message" });
      request.progress({ progress: 2, message: "another message" });
      if (name === "broken") throw new Error("an error");
      return { content: [{ type: "text", text: "a result" }] };
    },
  });

async function startGatewayOf(url: string) {
  const source = onHttp("people", url, { data_labels: ["personal"] });
  const test = await startTestGateway({ tool_servers: [source] }, { clients: ["ci"] });
  const client = await test.connect({ as: "ci" });
  const received: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    received.push(params.data);
  });
  const call = async (name: string) => {
    const onprogress = ({ message }: { readonly message?: string | undefined }) => {
      received.push(message);
    };
    const params = { name: `people__${name}`, arguments: {} };
    const answer = await client.callTool(params, undefined, { onprogress }).catch(String);
    received.push(
      typeof answer === "string" ? answer : (answer.content as readonly { readonly text: string }[])[0]?.text,
    );
  };
  return { test, received, call };
}

const lockLabels = async (home: string) => {
  const lock = await waitForLock(join(home, "locks"), "seen-labels", 5000);
  return lock ?? assert.fail("the lock of the labels is taken");
};

describe("data of a labelled source", () => {
  for (const [name, end] of [
    ["read", /^a result$/],
    ["broken", /Internal error/],
  ] as const) {
    it(`waits until its labels are stored, and keeps its order, before ${name === "read" ? "a result" : "an error"}`, async () => {
      await using server = await startSource();
      const { test, received, call } = await startGatewayOf(server.url);
      await using _test = test;
      const lock = await lockLabels(test.home);
      const ended = call(name);
      const isIntentKnown = () => test.audit().some(({ type }) => type === "call.intent");
      await waitUntil(isIntentKnown, { what: "the call is on record" });
      // Long enough for what does not wait.
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.deepEqual(received, []);
      lock[Symbol.dispose]();
      await ended;
      assert.deepEqual(received.slice(0, 3), ["a message", "a log message", "another message"]);
      assert.match(String(received[3]), end);
      // What brings no new label waits for nothing.
      using _taken = await lockLabels(test.home);
      received.length = 0;
      await call(name);
      assert.equal(received.length, 4);
    });
  }

  it("does not reach a client where its labels cannot be stored", slowTest, async () => {
    await using server = await startSource();
    const { test, received, call } = await startGatewayOf(server.url);
    await using _test = test;
    using _taken = await lockLabels(test.home);
    await call("broken");
    assert.equal(received.length, 1);
    assert.match(String(received[0]), /Cannot lock/);
    const dropped = test.logger.records.filter(({ message }) => message === "a message was not passed on");
    assert.equal(dropped.length, 3);
  });
});

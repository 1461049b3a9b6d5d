/** Large lines of a server are read in portions, so that their buffers can be collected meanwhile. */

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { StdioTransport } from "@toolcrib/mcp";

test("a large line is read with pauses and arrives whole, and a small one without", async () => {
  for (const [megabytes, isPaused] of [
    [20, true],
    [1, false],
  ] as const) {
    const stdout = new PassThrough();
    const transport = new StdioTransport({ stdin: new PassThrough(), stdout }, { now: Date.now });
    const received = Promise.withResolvers<unknown>();
    const unexpected = (thing: unknown) => received.reject(new Error(`unexpected: ${String(thing)}`));
    await transport.open({
      message: received.resolve,
      failed: (_id, error) => unexpected(error),
      invalid: unexpected,
      closed: unexpected,
    });
    let pauses = 0;
    stdout.on("pause", () => {
      pauses += 1;
    });
    const text = "x".repeat(megabytes * 1024 * 1024);
    const line = Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id: 1, result: { text } })}\n`);
    for (let at = 0; at < line.length; at += 65_536) stdout.write(line.subarray(at, at + 65_536));
    const message = (await received.promise) as { readonly result: { readonly text: string } };
    assert.equal(message.result.text.length, text.length);
    assert.equal(pauses > 0, isPaused, `${megabytes} MB: ${pauses} pauses`);
    await transport.close();
    stdout.destroy();
  }
});

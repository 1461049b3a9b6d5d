/** Places that take the signed ends of the audit trail. */

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { openAnchors } from "@toolcrib/store";

const log = (): void => {};
const logger = { debug: log, info: log, warn: log, error: log };

test("a place that hangs gets no further end before it settles", async () => {
  mock.method(AbortSignal, "timeout", () => timeout.signal);
  let timeout = new AbortController();
  const sends: { readonly line: string; readonly settle: () => void }[] = [];
  const anchors = openAnchors(
    { command: ["keep"] },
    {
      runCommand: (_command, line) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        sends.push({ line, settle: resolve });
        return promise;
      },
      logger,
      now: () => 0,
      userHome: "/",
    },
  );
  for (const line of ["1\n", "2\n", "3\n"]) {
    anchors.add(line);
    await turn();
    timeout.abort();
    await turn();
    timeout = new AbortController();
  }
  assert.deepEqual(
    sends.map(({ line }) => line),
    ["1\n"],
  );
  assert.match(anchors.status()[0]?.reason ?? "", /took longer than 5 s/);

  sends[0]?.settle();
  await turn();
  anchors.add("4\n");
  for (let at = 1; at < 5; at += 1) {
    await turn();
    sends[at]?.settle();
  }
  await anchors[Symbol.asyncDispose]();
  assert.equal(anchors.status()[0]?.anchored, 4);
  mock.restoreAll();
});

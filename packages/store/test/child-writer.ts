/**
 * A process that writes to a home and prints the call id of every resolved intent,
 * unbuffered, for tests that kill it or fill its disk.
 *
 * Arguments: home, how many calls (`forever` until killed; `in-flight`: calls that
 * never end), how many at a time, a file whose existence it waits for before it writes (or `-`), `signed`.
 */

import { randomBytes } from "node:crypto";
import { existsSync, writeSync } from "node:fs";
import { openStore } from "@toolcrib/store";
import { completionOf, intentOf } from "./sample-events.ts";

const [home = "", count = "forever", concurrency = "8", startFile = "-", signing] = process.argv.slice(2);
const limit = count === "forever" ? Number.POSITIVE_INFINITY : Number(count);
await using store = await openStore(
  { home },
  { now: Date.now, ...(signing === "signed" ? { randomBytes } : {}) },
);
writeSync(1, `writer ${store.audit.stats().writer}\n`);
while (startFile !== "-" && !existsSync(startFile)) await new Promise((resolve) => setTimeout(resolve, 5));
let started = 0;
if (count === "in-flight") await keepInFlight(Number(concurrency));

async function keepInFlight(calls: number): Promise<void> {
  const callIds = Array.from({ length: calls }, (_, index) => `p${process.pid}-${index}`);
  await Promise.all(callIds.map((callId) => store.audit.intent(intentOf(callId))));
  writeSync(1, `${callIds.join("\n")}\nall in flight\n`);
  // Until the test kills the process.
  setInterval(() => undefined, 60_000);
  await new Promise(() => undefined);
}

async function callOneAfterAnother(): Promise<void> {
  while (started < limit) {
    started += 1;
    const callId = `p${process.pid}-${started}`;
    try {
      await store.audit.intent(intentOf(callId));
      writeSync(1, `${callId}\n`);
    } catch (error) {
      writeSync(1, `refused ${(error as { code: string }).code}\n`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    store.audit.record("call.completed", completionOf(callId));
  }
}

await Promise.all(Array.from({ length: Number(concurrency) }, callOneAfterAnother));

/** More calls of packages than run and wait: the programs run a few at a time, and a client gets a part of the queue. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { CodedError } from "@toolcrib/diagnostics";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { somebody, startTestGateway } from "./gateway-harness.ts";
import { localPackage, putPackages } from "./package-harness.ts";

/** Calls of one client that wait for a place; the next one is refused. */
const waitingMaxCount = 500;
/** Calls that one package passes on at a time, half of them of one client. */
const perPackage = 256;

test("a call past the queue of programs is refused with PACKAGE_BUSY, and no other one is", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  const ids = ["one", "two", "three", "four", "five"].map((name) => `busy.local.${name}`);
  const script = "setInterval(() => {}, 1000);\n";
  putPackages(
    home,
    ids.map((id) => localPackage(id, "node ./wait.js", { "wait.js": script })),
  );
  const entry = { trust_state: "verified", limits: { max_concurrent_calls: perPackage } };
  await using run = await startTestGateway(
    {
      sandbox: { max_package_programs: 2 },
      packages: Object.fromEntries(ids.map((id) => [id, entry])),
      serve: { limits: { max_concurrent_calls: 4000 } },
    },
    { home },
  );
  const end = new AbortController();
  const refused = Promise.withResolvers<string>();
  const codes: string[] = [];
  const call = async (id: string) => {
    const outcome = await run.gateway.call(somebody, id, {}, { signal: end.signal });
    if (end.signal.aborted || outcome.kind !== "failed") return;
    codes.push((outcome.error as CodedError).code);
    refused.resolve(outcome.error.message);
  };
  // A program runs, and as many calls wait as may; three more do not get a place.
  const calls = Array.from({ length: 1 + waitingMaxCount + 3 }, (_, at) => call(ids[at % ids.length] ?? ""));
  assert.match(await refused.promise, /^Too many programs of packages run and wait$/);
  end.abort(new Error("the test is over"));
  await Promise.all(calls);
  assert.ok(codes.length <= 3, codes.join());
  assert.deepEqual([...new Set(codes)], ["PACKAGE_BUSY"]);
});

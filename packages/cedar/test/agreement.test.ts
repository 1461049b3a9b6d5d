/**
 * Decisions about random policies and requests against an independent reference. `npm test` decides a
 * sample; the step `policies` of `npm run verify` runs this file once for each shard of 5,000 sets of policies.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { runCount, runsAll } from "@toolcrib/testing";
import fc from "fast-check";
import { openTestPolicies } from "./open-test-policies.ts";
import {
  policyArbitrary,
  type RandomPolicy,
  type RandomRequest,
  referenceDecision,
  requestArbitrary,
  toCedar,
} from "./policy-reference.ts";

/** Sets of policies in one shard: a file must end within two minutes on a loaded machine. */
const shardSize = 500;
/** Requests that are decided by each set. */
const requestCount = 100;

/** The seed of a shard, so that shards differ. @default random, and printed by a failure */
const { TOOLCRIB_TEST_SEED: seed } = process.env;

test("decisions agree with an independent reference about random policies and requests", async () => {
  let allowed = 0;
  let decided = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(policyArbitrary, { maxLength: 6 }),
      fc.array(requestArbitrary, { minLength: requestCount, maxLength: requestCount }),
      async (policies: readonly RandomPolicy[], requests: readonly RandomRequest[]) => {
        // The engine never waits: without a turn of the event loop, the run would seem to hang.
        await nextTurn();
        using product = await openTestPolicies(policies.map(toCedar).join("\n"));
        for (const request of requests) {
          const expected = referenceDecision(policies, request);
          const { kind } = product.decide(request);
          assert.equal(kind, expected, `${JSON.stringify(request)}\n${policies.map(toCedar).join("\n")}`);
          // Once more: what is remembered is the same.
          assert.equal(product.decide({ ...request, target: { ...request.target } }).kind, expected);
          decided += 1;
          if (kind === "allow") allowed += 1;
        }
      },
    ),
    {
      numRuns: runCount(runsAll ? shardSize : 50),
      ...(seed === undefined ? undefined : { seed: Number(seed) }),
    },
  );
  assert.ok(decided >= requestCount, `${decided} decisions`);
  // Of few sets, none may permit anything.
  const isMixed = allowed > decided / 50 && allowed < decided * 0.95;
  assert.ok(isMixed || decided < 50 * requestCount, `${allowed} of ${decided} were allowed`);
});

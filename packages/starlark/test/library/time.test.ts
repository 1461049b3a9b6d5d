import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  compileProgram,
  executeProgram,
  Thread,
  timeModule,
  toolDialect,
  type Value,
} from "@toolcrib/starlark";
import { runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { execute, nodeHost } from "../execute.ts";

/** The result of `expression` for a number `n`. */
async function evaluate(expression: string, n: number | bigint): Promise<Value> {
  const predeclared = new Map<string, Value>([
    ["time", timeModule],
    ["n", typeof n === "bigint" && Number.isSafeInteger(Number(n)) ? Number(n) : n],
  ]);
  const outcome = await execute(
    { name: "law.star", text: `return ${expression}` },
    { dialect: toolDialect, predeclared },
  );
  if (outcome.kind === "done") return outcome.value;
  throw new Error(outcome.kind === "failed" ? outcome.error.message : outcome.kind);
}

suite("times and durations", () => {
  test("the calendar agrees with JavaScript dates", async () => {
    const law = fc.asyncProperty(
      fc.integer({ min: -62_167_219_200, max: 253_402_300_799 }),
      async (seconds) => {
        const date = new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
        assert.equal(
          await evaluate('time.from_timestamp(n).format("2006-01-02T15:04:05Z07:00")', seconds),
          date,
        );
        assert.equal(await evaluate(`time.parse_time("${date}").unix`, 0), seconds);
      },
    );
    await fc.assert(law, { numRuns: runCount(300) });
  });

  test("a time made from its fields is the same time", async () => {
    const law = fc.asyncProperty(fc.integer({ min: -8e12, max: 8e12 }), async (seconds) => {
      const parts = ["year", "month", "day", "hour", "minute", "second"].map((part) => `${part}=t.${part}`);
      const expression = `[time.time(${parts.join(", ")}).unix for t in [time.from_timestamp(n)]][0]`;
      assert.equal(await evaluate(expression, seconds), seconds);
    });
    await fc.assert(law, { numRuns: runCount(300) });
  });

  test("a formatted duration parses to the same duration", async () => {
    const nanoseconds = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const law = fc.asyncProperty(nanoseconds, async (n) => {
      const read = await evaluate("time.parse_duration(str(n * time.nanosecond)).nanoseconds", n);
      assert.equal(BigInt(read as number | bigint), n);
    });
    await fc.assert(law, { numRuns: runCount(300) });
  });

  test("local times in all zones agree with Intl", async () => {
    const zones = fc.constantFrom(
      "America/New_York",
      "Australia/Lord_Howe",
      "Africa/Casablanca",
      "Asia/Tehran",
    );
    const law = fc.asyncProperty(zones, fc.integer({ min: 0, max: 2_000_000_000 }), async (zone, seconds) => {
      const parts = new Intl.DateTimeFormat("en-GB", {
        timeZone: zone,
        dateStyle: "short",
        timeStyle: "medium",
      }).format(seconds * 1000);
      const shown = await evaluate(
        `time.from_timestamp(n).in_location("${zone}").format("02/01/2006, 15:04:05")`,
        seconds,
      );
      assert.equal(shown, parts);
    });
    await fc.assert(law, { numRuns: runCount(200) });
  });

  test("time.now() fails if the host provides no time", async () => {
    const source = { name: "now.star", text: "time.now()" };
    const { program } = compileProgram(source, { dialect: toolDialect, predeclared: ["time"] });
    const thread = new Thread(nodeHost);
    await assert.rejects(
      executeProgram(thread, program!, new Map([["time", timeModule]])),
      /^StarlarkError: now: time.now\(\) is not available$/,
    );
  });
});

/**
 * Attacks on the limits of executions. They run in separate processes, because the
 * tests examine the process: whether it survives, and how much memory it uses.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { suite, test } from "node:test";
import { promisify } from "node:util";
import { toolDialect } from "@toolcrib/starlark";
import { leftOut, runsAll, sampled } from "@toolcrib/testing";
import { AssertionLog } from "./assertions.ts";
import type { AttackReport } from "./attack-child.ts";
import { type Attack, memoryBombs, parserBombs, timeBombs } from "./attacks.ts";
import { execute } from "./execute.ts";
import { programEnvironment } from "./program-environment.ts";

const runFile = promisify(execFile);
const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));

/** Runs `script` in a separate process. Returns its output. */
async function runChild(script: string, flags: readonly string[], args: readonly string[]): Promise<string> {
  const { stdout } = await runFile(
    process.execPath,
    [...conditions, ...flags, join(import.meta.dirname, script), ...args],
    { maxBuffer: 64 * 1024 * 1024, env: { ...process.env, NODE_TEST_CONTEXT: undefined } },
  );
  return stdout;
}

async function attack(group: string, flags: readonly string[] = []): Promise<AttackReport[]> {
  const output = await runChild("attack-child.ts", ["--expose-gc", ...flags], [group]);
  return output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as AttackReport);
}

/** Attacks that ended differently than expected. */
function surprises(attacks: readonly Attack[], reports: readonly AttackReport[]): string[] {
  assert.equal(reports.length, attacks.length);
  return attacks.flatMap(({ name, ends, says = "" }, index) => {
    const { ended, message } = reports[index]!;
    return ended === ends && message.includes(says) ? [] : [`${name}: ${ended}: ${message}`];
  });
}

/** The part of a report that depends only on the program. */
function countsOf(attacks: readonly Attack[], reports: readonly AttackReport[]): unknown[] {
  return reports
    .filter((_report, index) => attacks[index]!.ends !== "timeout")
    .map(({ name, ended, message, steps, memoryBytes }) => [name, ended, message, steps, memoryBytes]);
}

/**
 * Heap of V8, in MB, with 32 MB on the simulated heap; a process that needs more aborts. A limit
 * instead of a measured size, because objects that are no longer used count in a size until V8 collects them.
 */
const heapMegabytes = 112;

/**
 * Size of a semi-space, in MB, of which V8 has three besides that heap: they grow with the load of the machine, too, as long
 * as V8 has no time to collect them.
 */
const semiSpaceMegabytes = 8;

/** Maximum growth of the resident set size: the heap of V8, and little outside it. */
const maxRiseBytes = 160 * 1024 * 1024;

/** One of this many attacks runs in a quick run; `attack-child.ts` selects the same ones. */
const sampleStep = 16;

suite("attacks on memory", () => {
  test("end within their limits, with little more memory, and in the same way each time", async () => {
    const attacks = sampled(memoryBombs, sampleStep);
    const flags = [`--max-old-space-size=${heapMegabytes}`, `--max-semi-space-size=${semiSpaceMegabytes}`];
    const [reports, again] = await Promise.all([attack("memory", flags), attack("memory", flags)]);
    assert.deepEqual(surprises(attacks, reports), []);
    assert.deepEqual(countsOf(attacks, again), countsOf(attacks, reports));
    assert.equal(
      reports.find(({ riseBytes }) => riseBytes > maxRiseBytes),
      undefined,
    );
  });
});

suite("attacks on time", () => {
  test("end within their limits", async () => {
    assert.deepEqual(surprises(sampled(timeBombs, sampleStep), await attack("time")), []);
  });
});

suite("attacks on the parser", () => {
  test("end with findings or are harmless", async () => {
    assert.deepEqual(surprises(sampled(parserBombs, sampleStep), await attack("parser")), []);
  });
});

test("the other attacks", leftOut(sampleStep), () => assert(runsAll));

test("programs run without code generation from strings", async () => {
  await runChild("programs.test.ts", ["--disallow-code-generation-from-strings", "--test-reporter=dot"], []);
});

const javaScriptNames = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "isPrototypeOf",
  "__defineGetter__",
  "__lookupGetter__",
  "then",
  "length",
  "name",
  "caller",
  "arguments",
  "apply",
  "call",
  "entries",
  "items ",
  "frozen",
  "fields",
  "weight",
  "references",
] as const;

/** Runs a program in the tool dialect that must pass its assertions. */
async function check(source: string): Promise<void> {
  const log = new AssertionLog();
  const outcome = await execute(
    { name: "names.star", text: source },
    { dialect: toolDialect, predeclared: programEnvironment(log, toolDialect) },
  );
  const problem =
    outcome.kind === "done"
      ? ""
      : outcome.kind === "static"
        ? JSON.stringify(outcome.errors)
        : `${outcome.error.kind}: ${outcome.error.traceback}`;
  assert.deepEqual([problem, log.failures], ["", []]);
  assert.ok(log.count > 0);
}

suite("names that JavaScript defines", () => {
  for (const name of javaScriptNames) {
    const quoted = JSON.stringify(name);
    test(`${name} is a key like any other`, () =>
      check(`
d = {}
assert.eq(${quoted} in d, False)
assert.eq(d.get(${quoted}), None)
assert.fails(lambda: d[${quoted}], "not in dict")
d[${quoted}] = 1
assert.eq(d, {${quoted}: 1})
assert.eq(d.keys(), [${quoted}])
assert.eq(d.pop(${quoted}), 1)
assert.eq(len(d), 0)
s = set([${quoted}])
assert.eq(${quoted} in s and "other" not in s, True)
assert.eq(json.decode(json.encode({${quoted}: {${quoted}: 1}})), {${quoted}: {${quoted}: 1}})
assert.eq({${quoted}: 2} | {"b": 1}, {${quoted}: 2, "b": 1})
`));

    test(`${name} is not an attribute of any value`, () =>
      check(`
def f(): pass
values = [None, True, 1, 1 << 80, 1.5, "s", b"b", [], (), {}, set(), range(3), f, len, [].append, json, struct(), "s".elems()]
for value in values:
    own = ${quoted} in dir(value)
    assert.eq(hasattr(value, ${quoted}), own)
    if not own:
        assert.eq(getattr(value, ${quoted}, "absent"), "absent")
        assert.fails(lambda: getattr(value, ${quoted}), "has no")
try:
    fail("x")
except Error as e:
    assert.eq(getattr(e, ${quoted}, "absent"), "absent")
`));

    test(`${name} is an argument and a field like any other`, () =>
      check(`
def f(**kwargs): return kwargs
def g(a): return a
assert.eq(f(**{${quoted}: 1}), {${quoted}: 1})
assert.fails(lambda: g(1, **{${quoted}: 1}), "unexpected keyword argument")
assert.fails(lambda: sorted([], **{${quoted}: 1}), "unexpected keyword argument")
s = struct(**{${quoted}: 5})
assert.eq(getattr(s, ${quoted}), 5)
assert.eq(dir(s), [${quoted}])
assert.eq(s, struct(**{${quoted}: 5}))
assert.eq({s: 1}[s], 1)
assert.eq(dict(**{${quoted}: 1}), {${quoted}: 1})
assert.eq("%s" % {${quoted}: 1}.keys()[0], ${quoted})
assert.eq("{x}".format(x=${quoted}), ${quoted})
`));
  }

  test("they are valid names of variables, parameters, attributes and format fields", () =>
    check(
      javaScriptNames
        .filter((name) => !name.endsWith(" "))
        .map(
          (name) => `
def f(${name}=1): return ${name}
assert.eq(f(${name}=2), 2)
assert.fails(lambda: {}.${name}x, "has no .${name}x")
assert.fails(lambda: None.${name}, "has no .${name}")
assert.eq({"${name}": 3}.${name}, 3)
assert.eq(struct(${name}=4).${name}, 4)
assert.eq("{${name}}".format(${name}=5), "5")
assert.eq(f"{f(${name}=6)}", "6")
assert.fails(lambda: "{${name}}".format(), "${name}")
${name} = 7
assert.eq(${name}, 7)
`,
        )
        .join(""),
    ));
});

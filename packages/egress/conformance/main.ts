/**
 * `npm run conformance -w packages/egress -- --suite DIR`: runs the response
 * parser of the proxy against the test data of a checkout of nodejs/llhttp
 * (`test/response`). Each case runs in one piece and byte by byte. A case that
 * fails needs an entry in `exceptions.ts`; an entry that passes, or that has no
 * case, fails the run.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { exceptions } from "./exceptions.ts";
import { type LlhttpCase, parseCases } from "./llhttp-cases.ts";
import { type Outcome, runParser } from "./run-parser.ts";

const { values } = parseArgs({ options: { suite: { type: "string" } } });
if (values.suite === undefined) {
  console.error("Give a checkout of nodejs/llhttp: npm run conformance -w packages/egress -- --suite DIR");
  process.exit(2);
}
process.exitCode = run(values.suite) ? 0 : 1;

function run(suite: string): boolean {
  const directory = join(suite, "test", "response");
  const cases = readdirSync(directory)
    .filter((name) => name.endsWith(".md"))
    .sort()
    .flatMap((name) => parseCases(`response/${name}`, readFileSync(join(directory, name), "utf8")));
  const unused = new Map(exceptions.map(({ id, reason }) => [id, reason]));
  let passed = 0;
  let excepted = 0;
  const problems: string[] = [];
  for (const one of cases) {
    const difference = compare(one);
    const reason = unused.get(one.id);
    unused.delete(one.id);
    if (difference === undefined && reason === undefined) passed += 1;
    else if (difference === undefined) problems.push(`${one.id}\n  passes, but is an exception: ${reason}`);
    else if (reason === undefined) problems.push(`${one.id}\n  ${difference}`);
    else excepted += 1;
  }
  for (const id of unused.keys()) problems.push(`${id}\n  is an exception, but no case`);
  if (cases.length === 0) problems.push(`${directory} has no cases`);
  for (const problem of problems) console.error(problem);
  console.log(`${cases.length} cases: ${passed} passed, ${excepted} excepted, ${problems.length} problems`);
  return problems.length === 0;
}

/** Returns the difference from the expected outcome; `undefined` if there is none. */
function compare(one: LlhttpCase): string | undefined {
  const bytes = Buffer.from(one.input, "latin1");
  const whole = runParser([bytes], one);
  const single = runParser(
    Array.from(bytes, (byte) => Buffer.from([byte])),
    one,
  );
  if (JSON.stringify(whole) !== JSON.stringify(single)) {
    return `differs byte by byte:\n  ${show(whole)}\n  ${show(single)}`;
  }
  const isSame =
    whole.isRefused === one.expected.isRefused &&
    // Before an error, llhttp reports parts of a message that this parser reports complete or not at all.
    (whole.isRefused || JSON.stringify(whole.messages) === JSON.stringify(one.expected.messages));
  return isSame ? undefined : `expected ${show(one.expected)}\n  got      ${show(whole)}`;
}

function show({ isRefused, messages }: Outcome): string {
  return `${isRefused ? "refused" : "accepted"} ${JSON.stringify(messages)}`;
}

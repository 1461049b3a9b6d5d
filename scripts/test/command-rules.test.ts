import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createCommandLineCheck } from "@toolcrib/cli";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { slowTest } from "@toolcrib/testing";
import { checkCommands, commandsOf } from "../docs/command-rules.ts";
import { notYet } from "../docs/commands-not-yet.ts";
import { checkMetrics } from "../docs/metric-rules.ts";
import { shellCommands } from "../docs/shell-commands.ts";
import { makeTree, placesOf } from "./temporary-tree.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const check = await createCommandLineCheck();

test("The pages show only command lines that exist", slowTest, () => {
  assert.equal(formatDiagnostics(checkCommands(root, check)), "");
});

describe("shellCommands() finds the commands of", () => {
  const finds = (text: string, expected: readonly string[]) =>
    assert.deepEqual(
      shellCommands(text).map(({ words }) => words.join(" ")),
      expected,
    );
  test("lists and pipes", () => finds("a b && c | d; e", ["a b", "c", "d", "e"]));
  test("quoted words", () => finds(`a 'b c' "d \\"e" f\\ g`, [`a b c d "e f g`]));
  test("continued lines and comments", () => finds("a \\\n  b # c\nd", ["a b", "d"]));
  test("redirections", () => finds("a >b 2>&1 <c d", ["a d"]));
  test("substitutions", () => finds("a $(b c) d", ["b c", "a $() d"]));
});

describe("commandsOf() finds", () => {
  const finds = (text: string, expected: readonly string[]) =>
    assert.deepEqual(
      commandsOf(text).map(({ words }) => words.join(" ")),
      expected,
    );
  test("commands of transcripts, and not their output", () =>
    finds("```console\n$ npx toolcrib status\ntoolcrib frob\n$ TOKEN=x toolcrib \\\n  list\n```\n", [
      "status",
      "list",
    ]));
  test("commands that other programs run", () =>
    finds("```sh\nkubectl exec deploy/toolcrib -- toolcrib status\nnpx --prefix /srv toolcrib list\n```\n", [
      "status",
      "list",
    ]));
  test("lists of words, and units of systemd", () =>
    finds(
      '```json\n{ "args": ["/opt/toolcrib.js", "serve"] }\n```\n```ini\nExecStart=/bin/toolcrib status\n```\n',
      ["serve", "status"],
    ));
  test("code in text, with alternatives", () =>
    finds("Run `toolcrib pause|resume server x` and `toolcrib call …`.\n", [
      "pause server x",
      "resume server x",
      "call",
    ]));
});

test("checkCommands() finds unknown commands and options, and missing arguments of whole lines", async () => {
  const page = [
    "`toolcrib call` names a command, `toolcrib frob x` does not.",
    "```sh",
    "toolcrib call",
    "toolcrib status --wotch",
    "toolcrib status",
    "```",
    "",
  ].join("\n");
  await using tree = await makeTree({ "README.md": page });
  const found = checkCommands(tree.path, check).filter(({ code }) => code === "DOC_COMMAND_INVALID");
  assert.deepEqual(
    placesOf(found),
    ["README.md:1", "README.md:3", "README.md:4"].map((line) => `${line} DOC_COMMAND_INVALID`),
  );
});

test("no command line is planned that exists", () => {
  for (const line of notYet) assert.notEqual(check(line.split(" ").slice(1)), undefined, line);
});

test("checkMetrics() finds names that no source declares, and accepts the parts of a histogram", async () => {
  const text = "`toolcrib_calls_total`, `toolcrib_time_seconds_bucket`, `toolcrib_frobs_total`\n";
  const source = 'export const names = ["toolcrib_calls_total", "toolcrib_time_seconds"];\n';
  await using tree = await makeTree({ "README.md": text, "packages/http/src/metrics.ts": source });
  assert.deepEqual(
    checkMetrics(tree.path).map(({ message }) => message),
    ['No metric is called "toolcrib_frobs_total"'],
  );
});

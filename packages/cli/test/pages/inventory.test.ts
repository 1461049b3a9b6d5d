/**
 * Every command in the code blocks of the pages is run by a test, or has a reason in `not-run.ts`: nothing is in between,
 * and no reason is left over. It runs nothing itself.
 */

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { clientPrograms } from "@toolcrib/clients";
import { guideGroups } from "../e2e/run-guide.ts";
import { notRun, pagesElsewhere, ranElsewhere, transcriptsElsewhere } from "./not-run.ts";
import { pageSettings } from "./page-settings.ts";
import { commandsOf, docs, listPages, readPage, stepsOf } from "./page-steps.ts";

const root = join(docs, "..");
const inGroups = new Set<string>(Object.values(guideGroups).flat());
/** Their commands are run by `client-pages.process.test.ts`, in the order of each page. */
const ofClients = new Set(clientPrograms.map(({ id }) => `clients/${id}.md`));

/** Returns the names of the files that run a command of a page; nothing where none does. */
function runnersOf(page: string, command: string, output: string | undefined): readonly string[] {
  const elsewhere = [
    ranElsewhere[page]?.[command],
    output === undefined ? undefined : transcriptsElsewhere[page],
    pagesElsewhere[page],
  ].filter((file) => file !== undefined);
  if (elsewhere.length > 0) return elsewhere;
  if (ofClients.has(page)) return ["packages/cli/test/pages/client-pages.process.test.ts"];
  return inGroups.has(page) ? ["packages/cli/test/e2e/run-guide.ts"] : [];
}

test("each command of a page is run by a test, or has a reason why not", (context) => {
  const counts = { commands: 0, run: 0, left: 0 };
  for (const page of listPages()) {
    for (const step of stepsOf(page)) {
      if (step.kind !== "command") continue;
      const reason = notRun[page]?.[step.command];
      const runners = runnersOf(page, step.command, step.output);
      counts.commands += 1;
      if (reason === undefined) {
        assert.ok(
          runners.length > 0,
          `${page}: no test runs "${step.command}", and not-run.ts has no reason`,
        );
        counts.run += 1;
      } else counts.left += 1;
    }
  }
  context.diagnostic(`${counts.commands} commands, ${counts.run} run, ${counts.left} with a reason`);
  assert.ok(counts.run > counts.left);
});

test("what is not run, or run elsewhere, is on its page, and only once in the tables", () => {
  for (const table of [notRun, ranElsewhere])
    for (const [page, entries] of Object.entries(table)) {
      const commands = commandsOf(page);
      for (const command of Object.keys(entries))
        assert.ok(commands.includes(command), `${page} has no command "${command}": remove its entry`);
    }
  for (const [page, entries] of Object.entries(notRun))
    for (const command of Object.keys(entries))
      assert.equal(ranElsewhere[page]?.[command], undefined, `${page}: "${command}" is run elsewhere`);
  for (const page of [...Object.keys(transcriptsElsewhere), ...Object.keys(pagesElsewhere)])
    assert.ok(commandsOf(page).length > 0, `${page} has no command: remove its entry`);
});

test("the settings of a page are for commands that it has", () => {
  for (const [page, { before, codes, folders }] of Object.entries(pageSettings)) {
    const commands = commandsOf(page);
    for (const command of Object.keys({ ...before, ...codes, ...folders }))
      assert.ok(commands.includes(command.replace(/ \(\d+\)$/, "")), `${page} has no command "${command}"`);
  }
});

test("a page whose commands run has one runner, and is a page", () => {
  const pages = listPages();
  for (const page of [...inGroups, ...ofClients]) {
    assert.ok(pages.includes(page), `${page} is no page`);
    assert.ok(commandsOf(page).length > 0, `${page} has no command`);
  }
  assert.equal(inGroups.size, Object.values(guideGroups).flat().length);
});

test("each group of pages is tested, and each named file reads the page that it is named for", () => {
  const files = globSync("packages/cli/test/e2e/*.test.ts", { cwd: root });
  const texts = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  for (const group of Object.keys(guideGroups))
    assert.match(texts, new RegExp(`testGuides\\("${group}"`), `no file tests the pages about ${group}`);
  const named = [
    ...Object.entries(ranElsewhere).flatMap(([page, entries]) =>
      Object.values(entries).map((file) => [page, file] as const),
    ),
    ...Object.entries(transcriptsElsewhere),
    ...Object.entries(pagesElsewhere),
  ];
  for (const [page, file] of named) {
    if (!file.endsWith(".ts")) continue;
    // A comment takes nothing from a page, and neither does a file that reads another page of the same name.
    const code = readFileSync(join(root, file), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
    const isNamed =
      code.includes(`"${page}"`) ||
      code.includes(`docs/${page}"`) ||
      // A page of each client.
      (page.startsWith("clients/") && code.includes("(`clients/${"));
    const takesAll = code.includes("Object.entries(ranElsewhere)") && code.includes(`"${file}"`);
    const isTaken =
      ranElsewhere[page] === undefined ? isNamed : takesRanElsewhere(code) && (takesAll || isNamed);
    assert.ok(
      isTaken || (page === "../README.md" && code.includes('/../README.md"')),
      `${file} does not read ${page}`,
    );
  }
});

test("a script that is named for a command has each of its parts as a line, one after the other", () => {
  const scripts = Object.values(ranElsewhere).flatMap((entries) =>
    Object.entries(entries).filter(([, file]) => !file.endsWith(".ts")),
  );
  assert.ok(scripts.length > 0);
  for (const [command, file] of scripts) {
    const lines = readFileSync(join(root, file), "utf8").split("\n");
    let last = -1;
    for (const part of command.split(" && ")) {
      last = lines.indexOf(part, last + 1);
      assert.ok(last >= 0, `${file} does not run "${part}" of "${command}"`);
    }
  }
});

/** Whether the code of a file imports the table and uses it. */
function takesRanElsewhere(code: string): boolean {
  return /^import \{[^}]*\branElsewhere\b[^}]*\} from/m.test(code) && /\branElsewhere[)[]/.test(code);
}

test("a page or command has one runner, and the table of a command names files that run it", () => {
  const whole = [...Object.keys(pagesElsewhere)];
  for (const page of whole)
    assert.ok(!inGroups.has(page) && !ofClients.has(page), `${page} is in a group and in pagesElsewhere`);
  for (const page of ofClients)
    assert.ok(!inGroups.has(page), `${page} is in a group and a page of a client`);
});

test("no command hides in a code block that no test reads", () => {
  for (const page of listPages())
    for (const [, indent = "", language = "", name] of readPage(page).matchAll(
      /^( *)```(\w+)(?: (\S+))?$/gm,
    )) {
      assert.doesNotMatch(
        language,
        /^(?:bash|shell|zsh|fish|powershell|pwsh|bat|cmd)$/,
        `${page}: write sh or console`,
      );
      if (language !== "sh" && language !== "console") continue;
      assert.equal(indent, "", `${page}: a block of ${language} within a list is not read`);
      assert.ok(name === undefined || /\.sh$|^[^.]+$/.test(name), `${page}: "${name}" is no script`);
    }
});

test("what a newcomer adds first needs npm alone, and the page says before what others need", () => {
  const page = "getting-started.md";
  const text = readPage(page);
  const added = [...text.matchAll(/^(?:\$ )?toolcrib add (\S+)/gm)].map(([line, what = ""]) => ({
    what,
    before: text.slice(0, text.indexOf(line)),
  }));
  assert.match(added[0]?.what ?? "", /^npm:/);
  const programs = { python: /\[uv\]\(https:/, "go-static": /needs Go/ };
  let others = 0;
  for (const { what, before } of added) {
    if (/^(?:npm:|https:)/.test(what)) continue;
    const [manifest] = globSync(join(root, "catalog/manifests", what, "*.yaml"));
    assert.ok(manifest !== undefined, `the catalog has no "${what}"`);
    const [, kind = ""] = /^ {2}builder: (\w+)$/m.exec(readFileSync(manifest, "utf8")) ?? [];
    const program = programs[kind as keyof typeof programs];
    if (program !== undefined) assert.match(before, program, what);
    others += 1;
  }
  assert.ok(others > 0);
});

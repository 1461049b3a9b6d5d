/**
 * The command lines within the text of the pages that answer questions, such as those in the tables about troubles and
 * hardening: each is run once, beside a gateway with a call, with what a name in capitals stands for. It succeeds, or ends
 * with the exit code that is declared here.
 */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { createCommandLineCheck } from "@toolcrib/cli";
import { makeTemporaryDirectory, notesServer, waitUntil } from "@toolcrib/testing";
import { runToolcrib, startServe } from "../transcript.ts";
import { readPage } from "./page-steps.ts";

const pages = ["troubleshooting.md", "security/hardening.md", "faq.md", "operations/incidents.md"] as const;

/** Command lines that are not run here, with the reason. */
const notHere: { readonly [line: string]: string } = {
  "--config FILE serve": "serves; the pages about migration run it",
  "login SERVER": "needs an authorization server; the guide about OAuth runs it",
  serve: "serves; the guides run it",
  "serve --listen 127.0.0.1:0": "serves; the guides run it",
  "service install": "needs systemd; the page about systemd runs it",
  bridge: "serves; the tests of the bridge run it",
};

/** Exit codes of command lines that find nothing here. */
const codes: { readonly [line: string]: number } = {
  // No anchor was written yet.
  "audit verify --anchor FILE": 5,
  // The folder has a configuration.
  init: 2,
  // The text names the command without its arguments.
  enable: 2,
};

/** Returns the command lines in the text of a page, as words after `toolcrib`. */
function inText(page: string): readonly (readonly string[])[] {
  const text = readPage(page).replace(/^ *```[\s\S]*?^ *```$/gm, "");
  return [...text.matchAll(/`(?:npx )?toolcrib ([^`\n]+)`/g)].map(([, line = ""]) =>
    [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
      ([, double, single, word]) => double ?? single ?? word ?? "",
    ),
  );
}

/** Whether a command changes something; such commands run after those that only show it. */
const isChange = (line: string) =>
  /^(?:pause|disable|enable|release|resume|disconnect|connect|add|init|import$)/.test(line);

test("the commands that answer questions answer them", async () => {
  const check = await createCommandLineCheck();
  const lines = new Map(
    pages
      .flatMap(inText)
      .filter((words) => check(words) === undefined)
      .map((words) => [words.join(" "), words] as const),
  );
  for (const line of [...Object.keys(notHere), ...Object.keys(codes)])
    assert.ok(lines.has(line), `no page has "toolcrib ${line}": remove its entry`);
  await using directory = await makeTemporaryDirectory();
  const tools = [{ name: "echo", description: "Echoes", annotations: { readOnlyHint: true } }];
  writeFileSync(
    directory.join("github.cjs"),
    notesServer(tools).replace("const tools", 'console.error("started");\nconst tools'),
  );
  const transport = { kind: "stdio", command: "node", args: [directory.join("github.cjs")] };
  writeFileSync(
    directory.join("toolcrib.yaml"),
    JSON.stringify({
      sandbox: { mode: "preferred" },
      tool_servers: [
        { id: "github", transport, trust_state: "verified", containment: { read_paths: ["."] } },
      ],
      serve: { listen: "127.0.0.1:0" },
      audit: { anchor: { file: directory.join("anchors") } },
    }),
  );
  writeFileSync(
    directory.join("ci.policy-test.yaml"),
    JSON.stringify({ tests: [{ client: "ci", tool: "github:echo", expect: "allow" }] }),
  );
  const run = (words: readonly string[], stdin = "") =>
    runToolcrib(words, { directory: directory.path, stdin });
  assert.equal((await run(["token", "create", "ci"])).code, 0);
  assert.equal((await run(["secret", "set", "ci"], "x-12345")).code, 0);
  await using gateway = await startServe([], { directory: directory.path });
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  const called = await run(["call", "github__echo"]);
  assert.equal(called.code, 0, called.stderr);
  const call = /"callId": "([^"]+)"/.exec((await run(["audit", "list", "--json"])).stdout)?.[1] ?? "";
  const values: { readonly [name: string]: string } = {
    SERVER: "github",
    ID: "github",
    TOOL: "github:echo",
    CALL: call,
    CALL_ID: call,
    CLIENT: "cursor",
    CODE: "CALL_TIMEOUT",
    WORDS: "echo",
    NAME: "ci",
    FILE: directory.join("anchors"),
  };
  const ordered = [...lines].sort(([a], [b]) => Number(isChange(a)) - Number(isChange(b)));
  const failed: string[] = [];
  for (const [line, words] of ordered) {
    if (notHere[line] !== undefined) continue;
    const own = words.map((word) => values[word === "NAME" && words[1] === "tool" ? "TOOL" : word] ?? word);
    // What asks at a terminal.
    if (words[0] === "connect" && words.length > 1 && !words.includes("--print")) own.push("--yes");
    if (line === "resume server github") await run(["pause", "server", "github"]);
    const { code, stdout, stderr } = await run(
      own,
      /^(?:secret|audit find-value)/.test(line) ? "x-12345" : "",
    );
    if (code !== (codes[line] ?? 0)) failed.push(`${code} toolcrib ${line}\n${stdout}${stderr}`);
  }
  assert.deepEqual(failed, []);
});

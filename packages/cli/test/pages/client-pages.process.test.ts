/**
 * The commands of each client's page, in their order: `connect` writes the file that the page names, with the entry that
 * it shows, and `disconnect` leaves no file. In this process, without a gateway: the address
 * is that of the configuration. What asks at a terminal gets `--yes`.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, it } from "node:test";
import { clientPrograms } from "@toolcrib/clients";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { launcherPath, runToolcrib } from "../transcript.ts";
import { notRun, ranElsewhere } from "./not-run.ts";
import { commandsOf, readPage } from "./page-steps.ts";

describe("the pages of the clients", () => {
  for (const { id } of clientPrograms) it(`clients/${id}.md matches the behavior`, () => runPage(id));
});

async function runPage(id: string): Promise<void> {
  const page = `clients/${id}.md`;
  const text = readPage(page);
  const places = /^\| Linux \| (.+) \|$/m.exec(text)?.[1] ?? assert.fail("the page names no file");
  const files = [...places.matchAll(/`~\/([^`]+)`/g)].map(([, path = ""]) => path);
  const entry = /writes:\n\n```\w+\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? assert.fail("no entry");
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("toolcrib.yaml"), "serve: { listen: 127.0.0.1:7420 }\ntool_servers: []\n");
  const run = async (words: readonly string[]) => {
    const all = words[0] === "connect" ? [...words, "--yes"] : words;
    const outcome = await runToolcrib(all, { directory: directory.path });
    assert.equal(outcome.code, 0, `toolcrib ${all.join(" ")}\n${outcome.stdout}${outcome.stderr}`);
  };
  const left = { ...notRun[page], ...ranElsewhere[page] };
  const commands = commandsOf(page).filter((command) => left[command] === undefined);
  assert.deepEqual(commands, [`toolcrib connect ${id}`, `toolcrib disconnect ${id}`]);
  for (const command of commands) {
    const words = command.split(" ").slice(1);
    await run(words);
    if (words[0] !== "connect") continue;
    const [file, ...others] = files.filter((path) => existsSync(directory.join(path)));
    assert.ok(file !== undefined && others.length === 0, `written of ${places}: ${file} ${others.join(" ")}`);
    const written = readFileSync(directory.join(file), "utf8")
      .replace(/tcb_[\w-]+/g, "TOKEN")
      .replaceAll(directory.join("toolcrib.yaml"), "/home/ada/tools/toolcrib.yaml")
      .replaceAll(directory.path, "/home/ada")
      .replace(
        `${dirname(process.execPath)}:/usr/bin:/bin`,
        "/home/ada/.local/bin:/usr/local/bin:/usr/bin:/bin",
      )
      .replace(process.execPath, "/usr/local/bin/node")
      .replace(launcherPath, "/usr/local/lib/node_modules/toolcrib/bin/toolcrib.js");
    assert.equal(written, entry);
  }
  for (const file of files) assert.equal(existsSync(directory.join(file)), false, `${file} is left`);
}

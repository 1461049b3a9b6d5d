/** `toolcrib add --dry-run` tries a server in another home: its sandbox hides the user's home as any other trial does. */

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, notesServer } from "@toolcrib/testing";
import { skipWithoutSandbox } from "./skip-without-sandbox.ts";
import { cleanEnvironment, runToolcrib } from "./transcript.ts";

const skip = await skipWithoutSandbox();

for (const mode of ["--dry-run", "--yes"])
  test(`a server that add ${mode} tries does not see the home in a folder that it may read`, {
    skip,
  }, async () => {
    await using directory = await makeTemporaryDirectory();
    const run = (words: readonly string[]) =>
      runToolcrib(["--home", directory.join("home"), ...words], {
        directory: directory.path,
        stdin: "",
        env: { PATH: cleanEnvironment("/")["PATH"] },
      });
    assert.equal((await run(["token", "create", "ci"])).code, 0);
    const files = ["server.cjs", "home/tokens/ci"].map((path) => directory.join(path));
    assert.ok(existsSync(directory.join("home/tokens/ci")));
    writeFileSync(
      directory.join("server.cjs"),
      notesServer([]).replace(
        /const tools = .*/,
        `const sees = ${JSON.stringify(files)}.map((path) => require("node:fs").existsSync(path));
const tools = [{ name: "sees_" + sees.join("_"), inputSchema: { type: "object" } }];`,
      ),
    );
    const words = ["--id", "notes", mode, "--json", "--read", directory.path];
    const tried = await run(["add", ...words, "--", process.execPath, directory.join("server.cjs")]);
    assert.equal(tried.code, 0, tried.stderr);
    const { definitions } = JSON.parse(tried.stdout) as {
      readonly definitions: readonly { readonly name: string }[];
    };
    assert.deepEqual(
      definitions.map(({ name }) => name),
      ["sees_true_false"],
    );
  });

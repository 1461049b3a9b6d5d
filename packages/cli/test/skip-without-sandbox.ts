/** Why tests are skipped that need a sandbox, or packages of npm in one. */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

/** Returns why servers cannot be contained here, as the command says; undefined where they can. */
export async function skipWithoutSandbox(): Promise<string | undefined> {
  await using directory = await makeTemporaryDirectory();
  const { code } = await runToolcrib(["sandbox", "check"], { directory: directory.path });
  return code === 0 ? undefined : "no sandbox works here";
}

/** Returns why servers of npm cannot be fetched and contained here; undefined where they can. */
export async function skipWithoutNpxAndSandbox(): Promise<string | undefined> {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  if (!folders.some((folder) => existsSync(join(folder, "npx")))) return "npx is not installed";
  return await skipWithoutSandbox();
}

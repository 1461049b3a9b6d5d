/**
 * Finds the engine as one file. The published package contains it. In a checkout, the engine is bundled from the
 * sources by the repository's own script each time, so that it is never an old one.
 */

import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "@toolcrib/process";
import type { EnginePackage, ToolpackEngine } from "@toolcrib/toolpack-image";
import { CliError } from "../cli-error.ts";
import { version } from "../version.ts";

const engineName = "toolpack-engine.js";
const packagesName = "toolpack-engine.json";
const bundleLimits = { timeoutMs: 120_000, outputMaxBytes: 1024 * 1024 };

/** Returns the engine. @throws {CliError} `CLI_INSTALLATION_INCOMPLETE` */
export async function findEngine(): Promise<ToolpackEngine> {
  const shipped = join(import.meta.dirname, "../engine");
  if (existsSync(join(shipped, engineName))) return await readEngine(shipped);
  const script = join(import.meta.dirname, "../../../../scripts/bundle-engine.ts");
  if (!existsSync(script)) throw incomplete(`${shipped} has no ${engineName}`);
  const folder = await mkdtemp(join(tmpdir(), "toolcrib-engine-"));
  try {
    const args = ["--conditions=toolcrib-source", script, folder];
    const { code, stderr } = await runCommand({ program: process.execPath, args, env: {} }, bundleLimits);
    if (code !== 0) throw incomplete(`${script} failed: ${stderr.trim().slice(0, 500)}`);
    return await readEngine(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readEngine(folder: string): Promise<ToolpackEngine> {
  const [bytes, packages] = await Promise.all([
    readFile(join(folder, engineName)),
    readFile(join(folder, packagesName), "utf8"),
  ]);
  return { bytes, version, packages: JSON.parse(packages) as readonly EnginePackage[] };
}

function incomplete(reason: string): CliError {
  return new CliError("CLI_INSTALLATION_INCOMPLETE", `Cannot find the engine: ${reason}`, {
    hint: "install Toolcrib again; in a checkout, run npm ci",
  });
}

/**
 * Records the session at the beginning of the README: serves the quickstart, and runs each
 * command on a real terminal (a pseudo terminal of `script`). Leaves nothing behind.
 */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeTemporaryDirectory, runProcess, startServerProcess, waitUntil } from "@toolcrib/testing";
import { columns, type RecordedCommand } from "./session.ts";

const root = join(import.meta.dirname, "../..");
const launcher = join(root, "packages/cli/bin/toolcrib.js");
const script = "/usr/bin/script";

/** The commands, in order. */
const commands = [
  "toolcrib search read a file --limit 3",
  `toolcrib call filesystem__read_text_file '{"path": "welcome.txt"}'`,
  'toolcrib pause server memory --reason "being repaired"',
  "toolcrib call memory__read_graph",
  "toolcrib audit list --limit 4",
];

/** Whether this machine can record a session. */
export const canRecord = process.platform === "linux" && existsSync(script);

/** Runs the commands and returns what a terminal showed. */
export async function recordSession(): Promise<RecordedCommand[]> {
  await using directory = await makeTemporaryDirectory();
  const bin = directory.join("bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "toolcrib"), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`, {
    mode: 0o755,
  });
  const env = {
    HOME: directory.path,
    PATH: `${bin}:${dirname(process.execPath)}:${process.env["PATH"]}`,
    TERM: "xterm",
    TOOLCRIB_HOME: undefined,
    TOOLCRIB_TOKEN: undefined,
    NO_COLOR: undefined,
    FORCE_COLOR: undefined,
    npm_command: undefined,
    npm_execpath: undefined,
    npm_lifecycle_event: undefined,
  };
  const config = join(root, "examples/quickstart/toolcrib.yaml");
  const args = [launcher, "serve", "--config", config, "--listen", "127.0.0.1:0"];
  await using server = await startServerProcess(process.execPath, args, {
    urlPattern: /http:\/\/127\.0\.0\.1:\d+\/mcp/,
    cwd: directory.path,
    env,
  });
  await waitUntil(async () => (await fetch(server.url.replace(/\/mcp$/, "/readyz"))).ok);
  const recording: RecordedCommand[] = [];
  for (const command of commands) {
    const line = `stty cols ${columns} rows 40; ${command}`;
    const { stdout } = await runProcess(script, ["-qec", line, "/dev/null"], { cwd: directory.path, env });
    recording.push({ command, output: withoutErasedLines(stdout) });
  }
  return recording;
}

/** A line that a command wrote and erased again, such as its progress, is not there at the end. */
function withoutErasedLines(output: string): string {
  return output.replace(/[^\n]*\r\u001b\[K/g, "");
}

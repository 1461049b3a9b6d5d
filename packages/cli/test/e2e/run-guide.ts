/**
 * Runs the guides: writes the files that they show, and runs the commands of their
 * transcripts in order, in a shell and with the servers of the quickstart. The output must match.
 */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { makeTemporaryDirectory, runProcess, startServerProcess } from "@toolcrib/testing";
import { cleanEnvironment, commandLine, launcherPath } from "../transcript.ts";
import { quickstartConfig } from "./gateway-process.ts";

/** The folder of the guides. */
export const guides = join(import.meta.dirname, "../../../../docs/guides");
const bin = join(import.meta.dirname, "../../../../node_modules/.bin");

/** The guides with transcripts, in groups that fit into the time of one test file. */
export const guideGroups = {
  tools: ["first-composite-tool.md", "rest-apis-as-tools.md", "packages.md"],
  registries: ["registry.md"],
  installation: ["installing-packages.md"],
  policies: ["policies.md"],
  labels: ["labels.md"],
  guards: ["guards.md"],
  audit: ["audit.md"],
  chains: ["chains.md"],
  clients: ["importing.md"],
} as const;

/**
 * Guides without transcripts. The example of hooks.md is tested in the package gateway; telemetry.md needs a
 * collector; that of tools-for-agents.md is tested in the package gateway, too; adopted-servers.md and
 * toolpack-images.md download, and connecting-clients.md asks at a terminal.
 */
export const guidesWithoutTranscript: readonly string[] = [
  "adopted-servers.md",
  "connecting-clients.md",
  "hooks.md",
  "oauth.md",
  "search.md",
  "tasks-and-apps.md",
  "telemetry.md",
  "tools-for-agents.md",
  "toolpack-images.md",
];

/** A step of a guide: a file to write, or a command with its expected output. */
type Step =
  | { readonly kind: "file"; readonly name: string; readonly text: string }
  | { readonly kind: "command"; readonly command: string; readonly output: string };

/** Matches transcripts, and code blocks with a file name after their language. */
function stepsOf(guide: string): readonly Step[] {
  const text = readFileSync(join(guides, guide), "utf8");
  return [...text.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].flatMap((match): readonly Step[] => {
    const [, language, name, body = ""] = match;
    if (name !== undefined) return [{ kind: "file", name, text: body }];
    return language === "console" ? commandsIn(body) : [];
  });
}

function commandsIn(transcript: string): readonly Step[] {
  return transcript
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = "", ...lines] = part.split("\n");
      return { kind: "command", command, output: lines.join("\n") };
    });
}

/**
 * Returns whether `printed` is what a transcript shows. A line with `...` stands for any lines,
 * and `…` for any text in a line. Blank lines and the widths of columns are not compared.
 */
function matches(printed: string, expected: string): boolean {
  const plain = (text: string) =>
    text
      .replace(/^\s*\n/gm, "")
      .replace(/ {2,}/g, "  ")
      .trim();
  const lines = plain(expected).split("\n");
  const pattern = lines.map((line) =>
    line === "..."
      ? String.raw`(?:.*\n)*?`
      : `${line
          .trimEnd()
          .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
          .replaceAll("…", ".*")}\\n`,
  );
  return new RegExp(`^${pattern.join("")}$`).test(`${plain(printed).replace(/ +$/gm, "")}\n`);
}

/** Runs a command of a guide, and returns everything that a terminal would show. */
async function run(command: string, directory: string, env: NodeJS.ProcessEnv): Promise<string> {
  const quoted = [process.execPath, ...commandLine].map((word) => `'${word}'`).join(" ");
  const script = `npx() { shift; ${quoted} "$@"; }\n${command}`;
  const { stdout } = await runProcess("sh", ["-c", `{ ${script}\n} 2>&1`], { cwd: directory, env });
  return stdout;
}

/** Whether a command is a gateway, which serves in another terminal while the next commands run. */
function isServe(command: string): boolean {
  return command === "npx toolcrib serve";
}

/** Tests each guide of `group`. */
export function testGuides(group: keyof typeof guideGroups): void {
  describe(`the guides about ${group}`, () => {
    for (const guide of guideGroups[group]) {
      it(`${guide} matches the behavior`, () => runGuide(guide));
    }
  });
}

async function runGuide(guide: string): Promise<void> {
  const steps = stepsOf(guide);
  assert.ok(steps.length >= 8);
  await using directory = await makeTemporaryDirectory();
  await using serving = new AsyncDisposableStack();
  const config = readFileSync(quickstartConfig, "utf8");
  const own = config.replaceAll("/tmp/toolcrib-quickstart", directory.join("memory"));
  writeFileSync(directory.join("toolcrib.yaml"), own);
  cpSync(join(dirname(quickstartConfig), "files"), directory.join("files"), { recursive: true });
  // As in a project with the package, so that hints name the command as the guides do.
  mkdirSync(directory.join("node_modules/.bin"), { recursive: true });
  symlinkSync(launcherPath, directory.join("node_modules/.bin/toolcrib"));
  const env = {
    ...cleanEnvironment(directory.path),
    PATH: `${bin}:${process.env["PATH"]}`,
    NO_COLOR: "1",
    npm_command: "exec",
  };
  for (const step of steps) {
    if (step.kind === "file") {
      mkdirSync(dirname(directory.join(step.name)), { recursive: true });
      writeFileSync(directory.join(step.name), step.text);
      continue;
    }
    const { command, output } = step;
    if (isServe(command)) {
      const args = [...commandLine, "serve", "--listen", "127.0.0.1:0"];
      serving.use(await startServerProcess(process.execPath, args, { cwd: directory.path, env }));
      continue;
    }
    const printed = await run(command, directory.path, env);
    assert.ok(matches(printed, output), `${command}\n--- expected\n${output}\n--- got\n${printed}`);
  }
}

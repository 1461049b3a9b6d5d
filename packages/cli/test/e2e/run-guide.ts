/**
 * Runs the pages: writes the files that they show, and runs the commands of their
 * transcripts in order, in a shell and with the servers of the quickstart. The output must match.
 */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { clientPrograms } from "@toolcrib/clients";
import {
  makeTemporaryDirectory,
  runProcess,
  sampled,
  startServerProcess,
  waitUntil,
} from "@toolcrib/testing";
import { cleanEnvironment, commandLine, launcherPath } from "../transcript.ts";
import { quickstartConfig } from "./gateway-process.ts";

/** The folder of the pages. */
export const docs = join(import.meta.dirname, "../../../../docs");
const bin = join(import.meta.dirname, "../../../../node_modules/.bin");

/** The pages with transcripts, in groups that fit into the time of one test file. */
export const guideGroups = {
  tools: ["guides/first-composite-tool.md", "guides/rest-apis-as-tools.md", "guides/packages.md"],
  registries: ["guides/registry.md"],
  installation: ["guides/installing-packages.md"],
  policies: ["guides/policies.md"],
  labels: ["guides/labels.md"],
  guards: ["guides/guards.md"],
  audit: ["guides/audit.md"],
  seeing: ["guides/seeing.md"],
  chains: ["guides/chains.md"],
  adding: ["guides/adding-servers.md"],
  clients: ["guides/importing.md"],
  start: ["getting-started.md"],
  tasks: ["guides/secrets.md", "guides/approvals.md", "guides/teams.md", "guides/containment.md"],
  operations: ["operations/backup.md", "operations/deployment.md"],
  migration: [
    "migrate/mcp-proxy.md",
    "migrate/supergateway.md",
    "migrate/mcp-hub.md",
    "migrate/metamcp.md",
    "migrate/mcpproxy.md",
  ],
} as const;

/** Pages without transcripts, and why. `npm run check` compares their command lines with the definitions. */
export const pagesWithoutTranscript: { readonly [page: string]: string } = {
  "index.md": "it shows where to read on",
  "faq.md": "it shows where to read on",
  "troubleshooting.md": "its commands show what is wrong",
  "library.md": "its examples are run as all TypeScript examples of pages",
  "guides/adopted-servers.md": "its commands download servers",
  "guides/changing-the-configuration.md": "its commands are tested with the command (reload.process.test.ts)",
  "guides/connecting-clients.md": "its commands ask at a terminal",
  "guides/first-day.md": "its commands download servers; npm run verify -- first-day runs them",
  "guides/hooks.md": "its example is tested in the package gateway",
  "guides/oauth.md": "a login needs an authorization server and a browser",
  "guides/search.md": "its commands show what was learned from use",
  "guides/tasks-and-apps.md": "it shows no commands",
  "guides/telemetry.md": "it needs a collector",
  "guides/tools-for-agents.md": "its example is tested in the package gateway",
  "guides/toolpack-images.md": "its commands download libraries",
  "operations/index.md": "it shows where to read on",
  "operations/container.md": "it needs a container runtime",
  "operations/incidents.md": "its commands are for calls that happened",
  "operations/kubernetes.md": "it needs a cluster; its manifests are tested with the pages",
  "operations/logs.md": "its commands are for calls that happened",
  "operations/metrics.md": "it needs a server of metrics; its names are tested with the pages",
  "operations/sizing.md": "it is a measurement",
  "operations/systemd.md": "it needs systemd",
  "operations/upgrade.md": "it needs two published versions",
  "security/hardening.md": "its commands show the state of a machine",
  "clients/index.md": "its commands write files of clients, which the tests of `connect` do",
  ...Object.fromEntries(
    clientPrograms.map(({ id }) => [
      `clients/${id}.md`,
      "it needs the client; the tests of `connect` write its file",
    ]),
  ),
};

/** A step of a guide: a file to write, or a command with its expected output. */
type Step =
  | { readonly kind: "file"; readonly name: string; readonly text: string }
  | { readonly kind: "command"; readonly command: string; readonly output: string };

/** Matches transcripts, and code blocks with a file name after their language. */
function stepsOf(guide: string): readonly Step[] {
  const text = readFileSync(join(docs, guide), "utf8");
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
  const script = `npx() { shift; ${quoted} "$@"; }\ntoolcrib() { ${quoted} "$@"; }\n${command}`;
  const { stdout } = await runProcess("sh", ["-c", `{ ${script}\n} 2>&1`], { cwd: directory, env });
  return stdout;
}

/** Whether a command is a gateway, which serves in another terminal while the next commands run. */
function isServe(command: string): boolean {
  return /^(?:npx )?toolcrib serve$/.test(command);
}

/**
 * Tests the pages of `group`.
 *
 * @param options.step a quick run tests one of this many; all by default
 * @param options.env more variables of the commands
 */
export function testGuides(
  group: keyof typeof guideGroups,
  { step = 1, env = {} }: { readonly step?: number; readonly env?: NodeJS.ProcessEnv } = {},
): void {
  describe(`the pages about ${group}`, () => {
    for (const page of sampled(guideGroups[group], step)) {
      it(`${page} matches the behavior`, () => runGuide(page, env));
    }
  });
}

async function runGuide(guide: string, more: NodeJS.ProcessEnv): Promise<void> {
  const steps = stepsOf(guide);
  const usesNpx = steps.some((step) => step.kind === "command" && step.command.startsWith("npx "));
  assert.ok(steps.some(({ kind }) => kind === "command"));
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
    npm_command: usesNpx ? "exec" : undefined,
    npm_lifecycle_event: undefined,
    ...more,
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
      const urlPattern = /http:\/\/127\.0\.0\.1:\d+\/mcp/;
      const options = { cwd: directory.path, env, urlPattern };
      const gateway = serving.use(await startServerProcess(process.execPath, args, options));
      await waitUntil(async () => (await fetch(new URL("/readyz", gateway.url))).ok);
      continue;
    }
    const printed = await run(command, directory.path, env);
    assert.ok(matches(printed, output), `${command}\n--- expected\n${output}\n--- got\n${printed}`);
  }
}

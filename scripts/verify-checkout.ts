/**
 * `npm run verify -- checkout`: what a newcomer does with a clone, by the commands of docs/getting-started.md and of the
 * README as they are written: a clone of this checkout, `npm ci`, the command on the PATH, the archive that is packed
 * there and installed, and `npm start` with the first call of the README, ended by Ctrl-C.
 *
 * A clone has what is committed: other changes are not tried. `REPOSITORY` is the folder of this checkout. Of the user it
 * uses the configuration and the cache of npm alone: TOOLCRIB_HOME is a new home, TOOLCRIB_LISTEN a free port, and
 * packages are installed below a prefix of their own.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ranElsewhere } from "../packages/cli/test/pages/not-run.ts";
import { commandsOf, matches, stepsOf } from "../packages/cli/test/pages/page-steps.ts";
import { check, counts } from "./verify-cases.ts";

const self = "scripts/verify-checkout.ts";
const root = realpathSync(join(import.meta.dirname, ".."));
const work = realpathSync(mkdtempSync(join(tmpdir(), "toolcrib-checkout-")));
const clone = join(work, "toolcrib");
const env = newcomerEnvironment();
/** Milliseconds: for a command that installs, and for the gateway to be ready, or to end. */
const limits = { commandMs: 900_000, gatewayMs: 180_000 } as const;

/** A shell that keeps its folder and its variables from one command to the next, as a terminal does. */
class Terminal implements AsyncDisposable {
  readonly #shell: ChildProcess;
  #output = "";

  constructor(directory: string) {
    // A group of its own, to which Ctrl-C is sent.
    this.#shell = spawn("sh", [], { cwd: directory, env, stdio: "pipe", detached: true });
    for (const stream of [this.#shell.stdout, this.#shell.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
  }

  /** Types a command. */
  type(line: string): void {
    this.#output = "";
    this.#shell.stdin?.write(`{ ${line}\n} </dev/null 2>&1; printf '\\n[ended %s]\\n' $?\n`);
  }

  /** Types a command, and waits until it ends. @returns what it printed @throws where it fails */
  async run(line: string): Promise<string> {
    this.type(line);
    const [, printed = "", code] = await this.shows(/^([\s\S]*)\n\[ended (\d+)\]\n$/, limits.commandMs);
    assert.equal(code, "0", `${line}\n${printed}`);
    return printed;
  }

  /** Waits until the output of the last command has `pattern`. */
  async shows(pattern: RegExp, limitMs: number): Promise<RegExpExecArray> {
    const until = performance.now() + limitMs;
    for (;;) {
      const found = pattern.exec(this.#output);
      if (found !== null) return found;
      assert.ok(performance.now() < until, `not shown: ${pattern}\n${this.#output}`);
      assert.ok(this.#isRunning(), `the shell ended\n${this.#output}`);
      await delay(50);
    }
  }

  /** Presses Ctrl-C, and waits until everything has ended. @returns what was printed */
  async interrupt(): Promise<string> {
    const ended = once(this.#shell, "close", { signal: AbortSignal.timeout(limits.gatewayMs) });
    process.kill(-this.#pid(), "SIGINT");
    await ended;
    return this.#output;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isRunning()) return;
    const ended = once(this.#shell, "exit");
    process.kill(-this.#pid(), "SIGTERM");
    await ended;
  }

  #isRunning(): boolean {
    return this.#shell.exitCode === null && this.#shell.signalCode === null;
  }

  #pid(): number {
    const { pid } = this.#shell;
    assert.ok(pid !== undefined, "there is no sh");
    return pid;
  }
}

try {
  const reason = whyNotClonable();
  if (reason === undefined) await verifyCheckout();
  else console.log(`skipped: ${reason}\n0 passed, 0 failed, 1 skipped`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function verifyCheckout(): Promise<void> {
  await using terminal = new Terminal(work);
  const typed = new Set<string>();
  for (const line of commandsOfPage("getting-started.md"))
    await check(`getting-started.md: ${line}`, async () => {
      const printed = await terminal.run(line.replace("REPOSITORY", `'${root}'`));
      if (line.endsWith("--version")) assert.match(printed, /^\d+\.\d+\.\d+$/m);
      typed.add(line);
    });
  await check("index.md: the same commands", () => {
    for (const line of commandsOfPage("index.md")) assert.ok(typed.has(line), line);
  });
  await check("the command on the PATH is that of the clone, with a bundle", async () => {
    assert.match(await terminal.run("command -v toolcrib"), new RegExp(`^${clone}/`));
    assert.ok(existsSync(join(clone, "node_modules/.cache/toolcrib-command/current.json")));
  });
  await check("the installed archive has the command, and needs nothing of the clone", async () => {
    assert.match(await terminal.run(`cd / && '${work}/global/bin/toolcrib' --version`), /^\d+\.\d+\.\d+$/m);
  });
  for (const line of commandsOfPage("../README.md"))
    await check(`README.md: ${line}`, () => startCallAndStop(line));
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
}

/** Serves in one terminal, makes the calls of the README's transcript that read a file in another, and presses Ctrl-C. */
async function startCallAndStop(line: string): Promise<void> {
  await using serving = new Terminal(clone);
  serving.type(line);
  const [, url = ""] = await serving.shows(/ serves (http:\/\/127\.0\.0\.1:\d+)\/mcp$/m, limits.commandMs);
  await serving.shows(/Ctrl-C/, limits.gatewayMs);
  await using other = new Terminal(clone);
  const calls = stepsOf("../README.md").flatMap((step) =>
    step.kind === "command" &&
    step.command.startsWith("npx toolcrib call ") &&
    step.output?.includes("Welcome")
      ? [{ command: step.command, output: step.output }]
      : [],
  );
  assert.ok(calls.length > 0, "the README shows no call that reads welcome.txt");
  for (const { command, output } of calls) {
    const printed = await other.run(command);
    assert.ok(matches(printed, output), `${command}\n--- expected\n${output}\n--- got\n${printed}`);
  }
  const printed = await serving.interrupt();
  assert.doesNotMatch(printed, /\bERR!|npm error/, printed);
  await assert.rejects(fetch(url), "the gateway still listens");
  assert.deepEqual(processesOf(work), []);
}

/** The command lines of processes that name a folder, where the system lists them. */
function processesOf(folder: string): readonly string[] {
  const ids = existsSync("/proc/self/cmdline")
    ? readdirSync("/proc").filter((name) => /^\d+$/.test(name))
    : [];
  return ids.flatMap((id) => {
    try {
      const args = readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return args.includes(folder) ? [args] : [];
    } catch {
      // It ended in the meantime.
      return [];
    }
  });
}

/** The commands of a page that the table leaves to this file, in their order. */
function commandsOfPage(page: "getting-started.md" | "index.md" | "../README.md"): readonly string[] {
  const commands = commandsOf(page).filter((line) => ranElsewhere[page]?.[line] === self);
  assert.ok(commands.length > 0, `${page} has no command for ${self}`);
  return commands;
}

function whyNotClonable(): string | undefined {
  const git = (...args: readonly string[]) =>
    spawnSync("git", ["-C", root, ...args], { env, encoding: "utf8" });
  if (git("--version").status !== 0) return "git is not installed";
  if (git("rev-parse", "--show-toplevel").stdout.trim() !== root) return "this is no checkout of Git";
  const changed = git("status", "--porcelain").stdout.split("\n").length - 1;
  if (changed > 0) console.log(`${changed} changed files are not committed, so they are not in the clone`);
  return undefined;
}

/** The environment of a user, without what npm sets for the scripts of this repository. */
function newcomerEnvironment(): NodeJS.ProcessEnv {
  const ofScripts =
    /^(?:npm_(?:package|lifecycle|command|node|execpath|config_(?:local_)?prefix)|TOOLCRIB_|NODE_OPTIONS$|INIT_CWD$|GIT_)/i;
  const path = (process.env["PATH"] ?? "").split(delimiter);
  const gitConfig = join(work, "gitconfig");
  // A checkout of CI can belong to another user.
  writeFileSync(gitConfig, "[safe]\n\tdirectory = *\n");
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofScripts.test(name))),
    PATH: path.filter((folder) => !folder.includes("node_modules")).join(delimiter),
    GIT_CONFIG_GLOBAL: gitConfig,
    NO_COLOR: "1",
    XDG_CACHE_HOME: join(work, "cache"),
    TOOLCRIB_HOME: join(work, "home"),
    TOOLCRIB_LISTEN: "127.0.0.1:0",
    npm_config_prefix: join(work, "global"),
    npm_config_update_notifier: "false",
  };
}

/**
 * The policy files of a running gateway. They are checked again when they change: a
 * valid change applies at once and as a whole, and an invalid one leaves the policies
 * in force as they are and is reported.
 */

import { stat } from "node:fs/promises";
import { type Diagnostic, formatDiagnostics, hasErrors, type Logger, messageOf } from "@toolcrib/diagnostics";
import { type ReadFile, readRegularFile } from "@toolcrib/files";
import { type ClientAttributes, defaultAllowedTools } from "@toolcrib/policy";
import type { AuditStore } from "@toolcrib/store";
import type { Identity } from "@toolcrib/tool";
import { CedarError } from "./cedar-error.ts";
import { type EngineFailures, engineFailures, watchEngine } from "./cedar-module.ts";
import { type CedarPolicies, openCedarPolicies } from "./cedar-policies.ts";
import { findLockedOut } from "./locked-out.ts";
import { type ParsedPolicies, parsePolicies } from "./parse-policies.ts";
import { type PolicyFile, readPolicyFile } from "./policy-file.ts";

/** Dependencies of the policy files. */
export interface LivePoliciesDeps {
  /** The policy that decides by them. */
  readonly policy: { replaceFiles(files: CedarPolicies): void };
  readonly attributesOf: (identity: Identity) => ClientAttributes;
  readonly record: AuditStore["record"];
  readonly logger: Logger;
  /** Called when other policies are in force. */
  readonly onReplaced: () => void;
  /** Warns about those of the policies that name a tool or prompt which its server does not have. */
  readonly checkNames: (named: ReturnType<CedarPolicies["namedTargets"]>) => void;
}

/** The policy files for the status. */
export interface PolicyStatus {
  /** The files, as the configuration names them. */
  readonly files: readonly string[];
  /** Number of policies in force. */
  readonly policies: number;
  /** Digest of the policies in force, such as `sha256:…`. */
  readonly digest: string;
  /** Why the present texts of the files are not in force; absent when they are. */
  readonly problem?: string;
  /** The failures of the policy engine since the gateway started; absent where it never failed. */
  readonly engine?: EngineFailures;
}

/** The policies of another configuration. It disposes of those that are not put in force. */
export interface PreparedPolicies extends Disposable {
  readonly policies: CedarPolicies;
  /** Watches and reports these from now on. Never throws. */
  commit(): void;
}

/** Milliseconds between two polls of the files. */
const pollMs = 1000;

/** The policies in force. Dispose of it after the last decision. */
export class LivePolicies implements AsyncDisposable {
  /** The files with the texts that are in force. */
  #files: readonly PolicyFile[];
  #deps: LivePoliciesDeps;
  #timer: NodeJS.Timeout | undefined;
  #engine: Disposable | undefined;
  #current: CedarPolicies;
  #seen: string;
  #problem: string | undefined;
  /** Settles when the poll in flight has ended. */
  #polling: Promise<void> | undefined;
  /** Counts the replacements by another configuration, which end a poll that began before. */
  #configurations = 0;

  /** @param seen what the folders showed before the files were read */
  private constructor(
    files: readonly PolicyFile[],
    current: CedarPolicies,
    seen: string,
    deps: LivePoliciesDeps,
  ) {
    this.#files = files;
    this.#deps = deps;
    this.#current = current;
    this.#seen = seen;
  }

  /** Puts the policies in force, and watches their files from now on. Call it once. */
  start(): void {
    this.#deps.policy.replaceFiles(this.#current);
    this.#timer = setInterval(() => {
      this.#polling ??= this.#poll().finally(() => {
        this.#polling = undefined;
      });
    }, pollMs).unref();
    this.#engine = watchEngine({
      failed: (problem) => this.#engineFailed(problem),
      usable: () => this.#engineUsable(),
    });
  }

  /**
   * Puts the policies of `files` in force.
   *
   * @throws {CedarError} `POLICY_INVALID` when they were not read, or are invalid.
   */
  static async open(files: readonly PolicyFile[], deps: LivePoliciesDeps): Promise<LivePolicies> {
    const live = await LivePolicies.load(files, deps);
    live.start();
    return live;
  }

  /**
   * Loads the policies of `files`, which `start` puts in force. A file that changes before is read again afterwards.
   *
   * @throws {CedarError} `POLICY_INVALID` when they were not read, or are invalid.
   */
  static async load(files: readonly PolicyFile[], deps: LivePoliciesDeps): Promise<LivePolicies> {
    const unread = files.find(({ text }) => text === undefined);
    if (unread !== undefined) throw new CedarError("POLICY_INVALID", `"${unread.name}" was not read`);
    const seen = await signatureOf(files);
    const { value, diagnostics } = await parsePolicyFiles(files);
    if (value === undefined) throw new CedarError("POLICY_INVALID", formatDiagnostics(diagnostics));
    return new LivePolicies(files, await openCedarPolicies(value, deps), seen, deps);
  }

  /**
   * Prepares the policies of another configuration.
   *
   * @returns the policies, and what puts them in force: `commit` follows at once after the gateway decides by them
   * @throws {CedarError} `POLICY_INVALID`
   */
  async prepare(
    files: readonly PolicyFile[],
    attributesOf: LivePoliciesDeps["attributesOf"],
  ): Promise<PreparedPolicies> {
    const { value, diagnostics } = await parsePolicyFiles(files);
    if (value === undefined) throw new CedarError("POLICY_INVALID", formatDiagnostics(diagnostics));
    const deps = { ...this.#deps, attributesOf };
    const policies = await openCedarPolicies(value, deps);
    return {
      policies,
      commit: () => {
        const previous = this.#current;
        this.#configurations += 1;
        this.#deps = deps;
        this.#current = policies;
        this.#files = files;
        this.#problem = undefined;
        // The next poll compares the texts.
        this.#seen = "";
        // They are in force and watched: whatever fails from here on does not change that.
        void this.#replaced(previous, value, diagnostics);
      },
      [Symbol.dispose]: () => policies[Symbol.dispose](),
    };
  }

  /** The files with the texts that are in force. */
  get files(): readonly PolicyFile[] {
    return this.#files;
  }

  /** The policies in force, for explanations. */
  get current(): CedarPolicies {
    return this.#current;
  }

  /** Ids of the tools and prompts that the policies of the files name. */
  namedTargets(): ReturnType<CedarPolicies["namedTargets"]> {
    return this.#current.namedTargets().filter(({ rule }) => !isBuiltIn(rule));
  }

  status(): PolicyStatus {
    const { digest, policies } = this.#current;
    const engine = engineFailures();
    return {
      files: this.#files.map(({ name }) => name),
      policies: policies.filter(({ rule }) => !isBuiltIn(rule)).length,
      digest,
      ...(this.#problem === undefined ? undefined : { problem: this.#problem }),
      ...(engine === undefined ? undefined : { engine }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#engine?.[Symbol.dispose]();
    this.#configurations += 1;
    await this.#polling;
    this.#current[Symbol.dispose]();
  }

  /** Never throws. */
  #engineFailed(problem: string): void {
    const { digest } = this.#current;
    this.#record("policy.failed", { digest, problem });
    this.#deps.logger.error({ digest, problem }, "the policy engine failed");
  }

  /** What was denied meanwhile, such as an entry of a list, is decided again. Never throws. */
  #engineUsable(): void {
    try {
      this.#deps.policy.replaceFiles(this.#current);
      this.#deps.onReplaced();
    } catch (error) {
      const fields = { problem: messageOf(error) };
      this.#deps.logger.error(fields, "the policy engine was replaced, and clients were not notified");
    }
  }

  /** Never rejects. */
  async #poll(): Promise<void> {
    const configurations = this.#configurations;
    const seen = await signatureOf(this.#files);
    if (configurations !== this.#configurations || seen === this.#seen) return;
    // An editor may be replacing a file: the next poll reads it again.
    const files = await readAll(this.#files, readRegularFile).catch(messageOf);
    if (configurations !== this.#configurations) return;
    if (typeof files === "string") {
      this.#reject(files);
      return;
    }
    this.#seen = seen;
    if (textsOf(files) === textsOf(this.#files)) {
      this.#problem = undefined;
      return;
    }
    const { value, diagnostics } = await parsePolicyFiles(files);
    if (configurations !== this.#configurations) return;
    if (value === undefined) {
      // Without an engine, nothing was found out about the files: the next poll reads them again.
      if (diagnostics.some(({ code, source }) => code === "CEDAR_UNAVAILABLE" && source === undefined))
        this.#seen = "";
      this.#reject(formatDiagnostics(diagnostics.filter(({ severity }) => severity === "error")));
      return;
    }
    await this.#replace(value, diagnostics, files, configurations);
  }

  async #replace(
    parsed: ParsedPolicies,
    diagnostics: readonly Diagnostic[],
    files: readonly PolicyFile[],
    configurations: number,
  ): Promise<void> {
    const { policy, logger, onReplaced } = this.#deps;
    const previous = this.#current;
    let next: CedarPolicies | undefined;
    try {
      next = await openCedarPolicies(parsed, this.#deps);
      if (configurations !== this.#configurations) {
        next[Symbol.dispose]();
        return;
      }
      policy.replaceFiles(next);
    } catch (error) {
      next?.[Symbol.dispose]();
      if (configurations === this.#configurations) this.#reject(messageOf(error));
      return;
    }
    // The new policies are in force: whatever fails from here on does not change that.
    this.#current = next;
    this.#files = files;
    this.#problem = undefined;
    await this.#replaced(previous, parsed, diagnostics);
    try {
      onReplaced();
    } catch (error) {
      logger.error({ problem: messageOf(error) }, "policies were replaced, and clients were not notified");
    }
  }

  /** Ends and reports what other policies replaced. Never rejects. */
  async #replaced(
    previous: CedarPolicies,
    parsed: ParsedPolicies,
    diagnostics: readonly Diagnostic[],
  ): Promise<void> {
    const { digest } = this.#current;
    try {
      previous[Symbol.dispose]();
      if (previous.digest === digest) return;
      this.#record("policy.changed", { digest, previousDigest: previous.digest });
      await this.#reportReplaced(previous, parsed, diagnostics);
    } catch (error) {
      const fields = { problem: messageOf(error) };
      this.#deps.logger.error(fields, "policies were replaced, and could not be checked further");
    }
  }

  /** Logs what is in force, with warnings about it. */
  async #reportReplaced(
    previous: CedarPolicies,
    parsed: ParsedPolicies,
    diagnostics: readonly Diagnostic[],
  ): Promise<void> {
    const { logger, checkNames } = this.#deps;
    const seen = previous.seenClients().map((client) => ({ ...client, known: "it used this gateway" }));
    const all = [...diagnostics, ...(await lockedOut(parsed, seen))];
    const warnings = all.length === 0 ? {} : { warnings: formatDiagnostics(all) };
    if (all.length > 0) logger.warn(warnings, "changed policies have warnings");
    checkNames(this.namedTargets());
    logger.info({ ...this.status(), ...warnings }, "policies were replaced");
  }

  /** Never throws. */
  #reject(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { digest } = this.#current;
    this.#record("policy.rejected", { digest, problem });
    this.#deps.logger.warn(
      { digest, problem },
      "changed policies are not used; the previous ones stay in force",
    );
  }

  /** Records an event. A failure is logged: the files are polled further whether or not the audit trail is writable. */
  #record(...event: Parameters<AuditStore["record"]>): void {
    try {
      this.#deps.record(...event);
    } catch (error) {
      this.#deps.logger.error({ problem: messageOf(error) }, `${event[0]} was not recorded`);
    }
  }
}

/** Clients that nothing permits anything, besides the policies that every gateway has. */
function lockedOut(
  { policies, sources }: ParsedPolicies,
  clients: Parameters<typeof findLockedOut>[1],
): ReturnType<typeof findLockedOut> {
  const own = policies.filter(({ rule }) => !isBuiltIn(rule));
  return findLockedOut({ policies: own, sources: sources.slice(1) }, clients);
}

/** Name of the policies that every gateway has, in the place of a file. */
const builtIn = "toolcrib";

/** Whether `rule` is a policy that every gateway has. */
export function isBuiltIn(rule: string): boolean {
  return rule.startsWith(`${builtIn}#`);
}

/**
 * Policies that every gateway has. The tools that show and call only what their caller may use need no permit of
 * their own; `forbid` excludes them. Who may call `save_tool`, and who may approve by a form, may do so with any tool.
 */
const builtInPolicies = [
  ...defaultAllowedTools.map((id, at) => {
    const isSpace = id.endsWith(":*");
    const scope = isSpace ? `in ToolServer::"${id.slice(0, -2)}"` : `== Tool::"${id}"`;
    return `@id("default-${at + 1}") permit(principal, action in Action::"use", resource ${scope});`;
  }),
  '@id("save") permit(principal, action == Action::"save", resource);',
  '@id("approve") permit(principal, action == Action::"approve", resource);',
].join("\n");

/** The policies that every gateway has, and those of `files`. */
export async function parsePolicyFiles(files: readonly PolicyFile[]): ReturnType<typeof parsePolicies> {
  const texts = files.map(({ name, text = "" }) => ({ name, text }));
  const result = await parsePolicies([{ name: builtIn, text: builtInPolicies }, ...texts]);
  return hasErrors(result.diagnostics) ? { ...result, value: undefined } : result;
}

/** @throws the failure of the first file that cannot be read */
async function readAll(files: readonly PolicyFile[], readFile: ReadFile): Promise<readonly PolicyFile[]> {
  return Promise.all(
    files.map(async (file) => ({ ...file, text: await readPolicyFile(file.path, readFile) })),
  );
}

function textsOf(files: readonly PolicyFile[]): string {
  return JSON.stringify(files.map(({ text }) => text));
}

/** Returns a text that changes with the files, as far as their folders show. */
async function signatureOf(files: readonly PolicyFile[]): Promise<string> {
  const parts = files.map(async ({ path }) => {
    try {
      const { mtimeMs, ctimeMs, size, ino } = await stat(path);
      return [mtimeMs, ctimeMs, size, ino];
    } catch {
      return null;
    }
  });
  return JSON.stringify(await Promise.all(parts));
}

/**
 * The switches of the operator: servers and tools that are not offered, kept in the home. In contrast to a pause, which
 * refuses calls and cancels those in flight at once, a switch changes what a gateway consists of: a server that is
 * disabled does not run, and a tool that is disabled is in no list. The load of the configuration applies them.
 */

import { didYouMean, type Logger } from "@toolcrib/diagnostics";
import { type AuditStore, recordOrLog, type SwitchStore, toAuditClient } from "@toolcrib/store";
import type { Identity } from "@toolcrib/tool";
import { AdmissionError } from "./admission-error.ts";

/** The servers and tools of a gateway or configuration that can be switched. */
export interface Switchable {
  /** Ids of all servers, toolspecs and packages, with those that are disabled; undefined where they are not known. */
  readonly serverIds: readonly string[] | undefined;
  /** Ids of the servers that their files switch off (`enabled: false`). */
  readonly offInFiles: readonly string[];
  /** Returns the id of the tool that clients call `name`; undefined for any other name or pattern, or where that is not known. */
  readonly toolId: (name: string) => string | undefined;
  /** Returns why `name` matches no tool, as the end of a sentence; undefined where it matches one, or where that is not known. */
  readonly unmatchedTool: (name: string) => string | undefined;
}

/** Dependencies of `Switches`. */
export interface SwitchesDeps {
  readonly store: Pick<SwitchStore, "list" | "change">;
  readonly audit: Pick<AuditStore, "record">;
  readonly logger: Pick<Logger, "error">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly switchable: () => Switchable;
}

/** A request of the operator. */
export interface SwitchRequest {
  readonly kind: string;
  /** Ids of servers, or names or patterns of tools. */
  readonly names: readonly string[];
  readonly isEnabled: boolean;
}

/** Outcome of a request. */
export interface SwitchOutcome {
  readonly kind: "server" | "tool";
  readonly enabled: boolean;
  /** The names that were not in this state before. */
  readonly changed: readonly string[];
  /** The names that already were. */
  readonly unchanged: readonly string[];
}

/** The switches of one home. */
export class Switches {
  readonly #deps: SwitchesDeps;

  constructor(deps: SwitchesDeps) {
    this.#deps = deps;
  }

  /**
   * Switches servers or tools, all or none of them.
   *
   * @throws {AdmissionError} `SWITCH_INVALID` for a name that nothing has.
   * @throws {StoreError} when the change cannot be stored. Nothing is changed then.
   */
  async change({ kind, names, isEnabled }: SwitchRequest, operator: Identity): Promise<SwitchOutcome> {
    const { store, now } = this.#deps;
    if (kind !== "server" && kind !== "tool")
      throw invalid(`"${kind.slice(0, 40)}" is neither server nor tool`, "write server ID, or tool NAME");
    const switchable = this.#deps.switchable();
    const stored = (await store.list()).filter((one) => one.kind === kind);
    const keyOf = (name: string) => (kind === "tool" ? (switchable.toolId(name) ?? name) : name);
    // What is enabled must not stay denied under its other name, also where its server is not known yet.
    const isSame = (one: string, other: string) =>
      keyOf(one) === keyOf(other) || (kind === "tool" && isEnabled && wireForm(one) === wireForm(other));
    const switchesOf = (name: string) => stored.filter((one) => isSame(one.name, name));
    const isOnByDefault = (name: string) => !(kind === "server" && switchable.offInFiles.includes(name));
    const isOn = (name: string) => {
      const own = switchesOf(name);
      return own.length === 0 ? isOnByDefault(name) : own.every((one) => one.isOn);
    };
    const wanted = [...new Set(names.map(keyOf))];
    for (const name of wanted) {
      // A name that is switched can be switched back, also when nothing has it any more.
      if (switchesOf(name).length === 0) requireKnown(kind, name, switchable);
    }
    const changed = wanted.filter((name) => isOn(name) !== isEnabled);
    const isDefault = (name: string) => isEnabled === isOnByDefault(name);
    const { issuer, subject } = operator;
    const own = { changedBy: { issuer, subject }, changedAt: now(), isOn: isEnabled, kind } as const;
    await store.change(
      changed.filter((name) => !isDefault(name)).map((name) => ({ ...own, name })),
      changed.filter(isDefault).flatMap(switchesOf),
    );
    for (const name of changed) {
      const type = isEnabled ? "switch.enabled" : "switch.disabled";
      recordOrLog(this.#deps, type, { kind, name, by: toAuditClient(operator) });
    }
    const unchanged = wanted.filter((name) => !changed.includes(name));
    return { kind, enabled: isEnabled, changed, unchanged };
  }
}

/** Returns a name or pattern with the separator of names on the wire. */
function wireForm(name: string): string {
  return name.replace(":", "__");
}

/** @throws {AdmissionError} `SWITCH_INVALID` */
function requireKnown(kind: "server" | "tool", name: string, { serverIds, unmatchedTool }: Switchable): void {
  if (kind === "tool") {
    const problem = unmatchedTool(name);
    if (problem !== undefined) throw invalid(problem, "toolcrib list shows the names of the tools");
    return;
  }
  if (serverIds === undefined || serverIds.includes(name)) return;
  throw invalid(
    `no server, toolspec or package is called "${name.slice(0, 256)}"`,
    didYouMean(name, serverIds) ??
      (serverIds.length === 0
        ? "the configuration has none"
        : `the ids are ${serverIds.slice(0, 20).join(", ")}`),
  );
}

function invalid(problem: string, hint: string): AdmissionError {
  return new AdmissionError("SWITCH_INVALID", `Nothing was switched: ${problem}`, { hint });
}

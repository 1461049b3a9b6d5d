/**
 * The tools, prompts, resources, templates and instructions that are held back until the operator
 * approves their definitions, and the approval itself. `DefinitionPins` decides which they are; clients
 * see neither them nor this list.
 */

import { hash } from "node:crypto";
import { createInspection, type DefinitionFinding } from "@toolcrib/redaction";
import type { DefinitionPins, HeldReason, ListedDefinition, PinRules } from "@toolcrib/store";
import type { Identity, Tool, ToolId } from "@toolcrib/tool";
import { AdmissionError } from "./admission-error.ts";
import type { HeldFeature } from "./held-features.ts";

/** The numbers of definitions of one server that wait for approval. */
export interface WaitingServer {
  readonly server: string;
  /** Those that were never accepted. */
  readonly new: number;
  /** Those that changed after they were accepted. */
  readonly changed: number;
  /** Their kinds: tools only, or also prompts, resources, templates or instructions. */
  readonly what: "tools" | "definitions";
}

type WaitingDefinition = ReturnType<DefinitionPins["describe"]>;

/** A definition that waits, with what is suspicious in it. */
export interface InspectedDefinition extends WaitingDefinition {
  readonly findings: readonly DefinitionFinding[];
}

/** The definitions of one server that wait for approval. */
export interface WaitingDefinitions {
  readonly server: string;
  /** Identifies the definitions: an approval names it, so that it applies to what the operator saw. */
  readonly digest: string;
  /** Without secrets. */
  readonly definitions: readonly InspectedDefinition[];
}

/** A tool that an index does not offer. Its code says why: here, those that wait for the operator matter. */
export interface HeldTool {
  readonly id: ToolId;
  readonly wireName: string;
  readonly tool: Tool;
  readonly code: string;
}

/** Dependencies of `HeldDefinitions`. */
export interface HeldDefinitionsDeps {
  /** The tools that are offered and those that are not; `reconsider` decides again which are held back. */
  readonly index: {
    readonly tools: readonly { readonly tool: Tool }[];
    readonly quarantined: readonly HeldTool[];
    reconsider(): void;
  };
  /** The prompts, resources, templates and instructions. */
  readonly features: { held(): readonly HeldFeature[]; reconsider(): void };
  readonly pins: DefinitionPins;
  /** Ids of the configured servers and toolspecs, and of the packages. */
  readonly serverIds: () => readonly string[];
}

/** Creates the function by which an index holds tools back. It returns undefined for a tool that is offered. */
export function holdBy(
  pins: Pick<DefinitionPins, "check">,
): (tool: Tool, facts: { readonly pinning: PinRules | undefined }) => HeldReason | undefined {
  return (tool, { pinning }) => (pinning === undefined ? undefined : pins.check(toListed(tool), pinning));
}

/** Whether a definition that is not offered waits for its first approval. It is no finding: nothing is wrong with it. */
export function isNotApproved({ code }: Pick<HeldTool, "code">): boolean {
  return code === "TOOL_NOT_APPROVED";
}

/** The definitions of a gateway that are held back. */
export class HeldDefinitions {
  readonly #deps: HeldDefinitionsDeps;

  constructor(deps: HeldDefinitionsDeps) {
    this.#deps = deps;
  }

  /**
   * The servers with definitions that wait for approval, in the order of their tools.
   *
   * @param isShown which definitions count. @default all
   */
  servers(isShown: (held: HeldTool | HeldFeature) => boolean = () => true): readonly WaitingServer[] {
    const counts = new Map<string, { new: number; changed: number; what: WaitingServer["what"] }>();
    for (const { held, listed, isNew } of this.#held()) {
      if (!isShown(held)) continue;
      const { sourceId, kind } = listed;
      const count = counts.get(sourceId) ?? { new: 0, changed: 0, what: "tools" };
      counts.set(sourceId, count);
      count[isNew ? "new" : "changed"] += 1;
      if (kind !== "tool") count.what = "definitions";
    }
    return [...counts].map(([server, count]) => ({ server, ...count }));
  }

  /** The definitions of a server that wait for approval. @throws {AdmissionError} `SERVER_NOT_FOUND` */
  definitions(server: string): WaitingDefinitions {
    const held = this.#heldOf(server);
    return { server, digest: digestOf(held), definitions: this.#inspected(server, held) };
  }

  /**
   * Approves definitions of a server, which are offered from now on.
   *
   * @param digest that of the definitions that the operator saw.
   * @param names of the definitions to approve. @default all
   * @returns the names of those that were approved.
   * @throws {AdmissionError} `SERVER_NOT_FOUND`; `APPROVAL_OUTDATED` when other definitions wait by now.
   * @throws {StoreError} when the approval cannot be stored; nothing is approved then.
   */
  async approve(
    server: string,
    digest: string,
    operator: Identity,
    names?: readonly string[],
  ): Promise<readonly string[]> {
    const { pins } = this.#deps;
    const held = this.#heldOf(server);
    if (digest !== digestOf(held)) {
      const message = `Nothing was approved: the definitions of "${server}" that wait for approval changed in the meantime`;
      throw new AdmissionError("APPROVAL_OUTDATED", message, {
        hint: "look at them again, then approve them",
      });
    }
    const approved = held.filter(({ shown }) => names === undefined || names.includes(shown.name));
    if (approved.length === 0) return [];
    try {
      await pins.approve(
        server,
        approved.map(({ listed }) => listed),
        operator,
      );
    } finally {
      // Also after a failure: lists that were read in the meantime were decided by what is not stored.
      this.reconsider();
    }
    return approved.map(({ shown }) => shown.name);
  }

  /** Takes over what other processes approved for the waiting servers. Never rejects. */
  async refresh(): Promise<void> {
    const servers = this.servers().map(({ server }) => server);
    if (servers.length > 0 && (await this.#deps.pins.refresh(servers))) this.reconsider();
  }

  /** Decides again which definitions are held back. */
  reconsider(): void {
    this.#deps.index.reconsider();
    this.#deps.features.reconsider();
  }

  #inspected(server: string, held: readonly HeldDefinition[]): readonly InspectedDefinition[] {
    const { index } = this.#deps;
    const listed = [...index.tools, ...index.quarantined].map(({ tool }) => tool);
    const namesOf = (tools: readonly Tool[]) =>
      tools.map(({ sourceId, definition }) => ({ server: sourceId, name: definition.name }));
    const others = namesOf(listed.filter(({ sourceId }) => sourceId !== server));
    const own = namesOf(listed.filter(({ sourceId }) => sourceId === server));
    const inspect = createInspection(others, new Set(own.map(({ name }) => name)));
    let left = inspectedMaxLength;
    return held.map(({ shown }) => {
      left -= JSON.stringify(shown.definition).length;
      const findings = left < 0 ? [notInspected] : inspect(shown.definition, shown.previous);
      return { ...shown, findings };
    });
  }

  #heldOf(server: string): readonly HeldDefinition[] {
    const { pins, serverIds } = this.#deps;
    if (!serverIds().includes(server)) {
      throw new AdmissionError("SERVER_NOT_FOUND", `No tool server or package has the id "${server}"`, {
        hint: `the ids are ${serverIds().join(", ")}`,
      });
    }
    return this.#held().flatMap(({ listed }) =>
      listed.sourceId === server ? [{ listed, shown: pins.describe(listed) }] : [],
    );
  }

  #held(): readonly {
    readonly held: HeldTool | HeldFeature;
    readonly listed: ListedDefinition;
    readonly isNew: boolean;
  }[] {
    const { index, features } = this.#deps;
    const tools = index.quarantined.filter(
      (held) => isNotApproved(held) || held.code === "TOOL_DEFINITION_CHANGED",
    );
    return [
      ...tools.map((held) => ({ held, listed: toListed(held.tool), isNew: isNotApproved(held) })),
      ...features.held().map((held) => ({ held, listed: held, isNew: isNotApproved(held) })),
    ];
  }
}

/** Characters of the definitions, as JSON, that are inspected for one listing: all of a server with 12,000 usual ones, in about a second. */
const inspectedMaxLength = 64 * 1024 * 1024;

const notInspected: DefinitionFinding = {
  rule: "not_read",
  path: "",
  message: `only the first ${inspectedMaxLength / 1024 / 1024} Mi characters of the definitions of a server are inspected: approve them in parts`,
  evidence: "",
};

interface HeldDefinition {
  readonly listed: ListedDefinition;
  readonly shown: WaitingDefinition;
}

function digestOf(held: readonly HeldDefinition[]): string {
  const parts = held.map(({ shown: { kind, name, digest } }) => JSON.stringify([kind, name, digest])).sort();
  return `sha256:${hash("sha256", parts.join("\n"), "hex")}`;
}

function toListed({ sourceId, definition }: Tool): ListedDefinition {
  return { sourceId, kind: "tool", name: definition.name, definition };
}

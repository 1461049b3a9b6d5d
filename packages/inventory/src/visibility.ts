/**
 * Decides which servers and toolspecs a client can see at all: in status,
 * metrics, logs, instructions, notifications and error texts. A client does not
 * learn that a source exists of which it may use nothing, also while its definitions
 * wait for approval. The operator sees all.
 *
 * It never decides about a single call: that is the policy.
 */

import type { HeldFeature } from "@toolcrib/admission";
import { type Identity, isListedFor, isOperator } from "@toolcrib/tool";
import { type FeatureKind, featureSubject, type GatewayPolicy, policyServerOf } from "./access-subject.ts";
import type { QuarantinedTool } from "./build-index.ts";
import { defaultFacts } from "./source-facts.ts";
import type { RosterEntry, SourceRoster } from "./source-roster.ts";
import type { ToolIndex } from "./tool-index.ts";

/** Dependencies of the decision. */
export interface VisibilityDeps {
  readonly index: Pick<ToolIndex, "toolsOf" | "quarantined">;
  readonly policy: GatewayPolicy;
  readonly roster: Pick<SourceRoster, "entries">;
}

type FeatureName = Pick<HeldFeature, "sourceId" | "kind" | "name">;

/** The sources that each client can see. */
export class Visibility {
  readonly #deps: VisibilityDeps;

  constructor(deps: VisibilityDeps) {
    this.#deps = deps;
  }

  /** Whether `identity` can see the source. One that lists nothing is visible where the policy could allow something. */
  isVisible(identity: Identity, sourceId: string): boolean {
    if (isOperator(identity)) return true;
    if (!this.mayReach(identity, sourceId)) return false;
    if (this.isUsable(identity, sourceId)) return true;
    const held = this.#heldOf(sourceId);
    return held.some((one) => this.mayList(identity, one)) || !this.#listsAnything(sourceId, held);
  }

  /** Whether the policy can allow `identity` anything of the source, whatever it lists. */
  mayReach(identity: Identity, sourceId: string): boolean {
    const entry = this.#entryOf(sourceId);
    const namespace = entry === undefined ? sourceId : entry.facts.namespace;
    const server = () => policyServerOf(sourceId, entry?.facts ?? defaultFacts, namespace);
    return this.#deps.policy.mayReach(identity, namespace, server);
  }

  /** Whether `identity` may list a definition that is held back, as soon as it is offered. */
  mayList(
    identity: Identity,
    held: Pick<QuarantinedTool, "id" | "wireName" | "tool"> | FeatureName,
  ): boolean {
    if (isOperator(identity)) return true;
    const { policy } = this.#deps;
    if ("tool" in held) {
      const source = this.#entryOf(held.tool.sourceId);
      if (source === undefined || !isListedFor(held.tool, identity)) return false;
      const { id, wireName, tool } = held;
      return policy.allowsListing(identity, { id, wireName, tool, source, facts: source.facts });
    }
    const source = this.#entryOf(held.sourceId);
    if (source === undefined) return false;
    // The text is about all that the server offers.
    if (held.kind === "instructions") return this.isVisible(identity, held.sourceId);
    const allows = (kind: FeatureKind, name: unknown) =>
      policy.allowsListing(identity, featureSubject(source, kind, String(name)));
    if (held.kind !== "resources") return allows(held.kind === "prompt" ? "prompts" : "resources", held.name);
    return source.source.features?.resources().some(({ uri }) => allows("resources", uri)) === true;
  }

  /** Whether `identity` may use a tool, resource or prompt that the source lists. */
  isUsable(identity: Identity, sourceId: string): boolean {
    const { index, policy } = this.#deps;
    for (const entry of index.toolsOf(sourceId)) {
      if (isListedFor(entry.tool, identity) && policy.allowsListing(identity, entry)) return true;
    }
    const source = this.#entryOf(sourceId);
    if (source?.features === undefined) return false;
    const isFeatureAllowed = (kind: FeatureKind, name: unknown) =>
      policy.allowsListing(identity, featureSubject(source, kind, String(name)));
    const { features } = source;
    return (
      features.resources().some(({ uri }) => isFeatureAllowed("resources", uri)) ||
      features.resourceTemplates().some(({ uriTemplate }) => isFeatureAllowed("resources", uriTemplate)) ||
      features.prompts().some(({ name }) => isFeatureAllowed("prompts", name))
    );
  }

  /** The definitions of a source that are not offered, without its instructions. */
  #heldOf(sourceId: string): readonly (QuarantinedTool | HeldFeature)[] {
    const tools = this.#deps.index.quarantined.filter(({ tool }) => tool.sourceId === sourceId);
    const features = this.#entryOf(sourceId)?.features?.held() ?? [];
    return [...tools, ...features.filter(({ kind }) => kind !== "instructions")];
  }

  #listsAnything(sourceId: string, held: readonly unknown[]): boolean {
    const features = this.#entryOf(sourceId)?.features;
    const lists = [held, features?.resources(), features?.resourceTemplates(), features?.prompts()];
    const [tool] = this.#deps.index.toolsOf(sourceId);
    return tool !== undefined || lists.some((list) => list !== undefined && list.length > 0);
  }

  #entryOf(sourceId: string): RosterEntry | undefined {
    return this.#deps.roster.entries.find(({ id }) => id === sourceId);
  }
}

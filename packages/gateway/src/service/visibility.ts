/**
 * Decides which servers and toolspecs a client can see at all: in status,
 * metrics, logs, instructions, notifications and error texts. A client does not
 * learn that a source exists of which it may use nothing. The operator sees all.
 *
 * It never decides about a single call: that is the policy.
 */

import { type Identity, isListedFor, isOperator } from "@toolcrib/tool";
import type { ToolIndex } from "../index/tool-index.ts";
import {
  type FeatureKind,
  featureSubject,
  type GatewayPolicy,
  policyServerOf,
} from "../policy/access-subject.ts";
import { defaultFacts } from "../sources/source-facts.ts";
import type { SourceRoster } from "../sources/source-roster.ts";

/** Dependencies of the decision. */
export interface VisibilityDeps {
  readonly index: Pick<ToolIndex, "toolsOf">;
  readonly policy: GatewayPolicy;
  readonly roster: Pick<SourceRoster, "entries">;
}

/** The sources that each client can see. */
export class Visibility {
  readonly #deps: VisibilityDeps;

  constructor(deps: VisibilityDeps) {
    this.#deps = deps;
  }

  /** Whether `identity` can see the source. One that lists nothing is visible where the policy could allow something. */
  isVisible(identity: Identity, sourceId: string): boolean {
    if (isOperator(identity)) return true;
    const entry = this.#deps.roster.entries.find(({ id }) => id === sourceId);
    const namespace = entry === undefined ? sourceId : entry.facts.namespace;
    const server = () => policyServerOf(sourceId, entry?.facts ?? defaultFacts, namespace);
    if (!this.#deps.policy.mayReach(identity, namespace, server)) return false;
    return this.isUsable(identity, sourceId) || !this.#listsAnything(sourceId);
  }

  /** Whether `identity` may use a tool, resource or prompt that the source lists. */
  isUsable(identity: Identity, sourceId: string): boolean {
    const { index, policy } = this.#deps;
    for (const entry of index.toolsOf(sourceId)) {
      if (isListedFor(entry.tool, identity) && policy.allowsListing(identity, entry)) return true;
    }
    const source = this.#deps.roster.entries.find(({ id }) => id === sourceId);
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

  #listsAnything(sourceId: string): boolean {
    const features = this.#featuresOf(sourceId);
    const lists = [features?.resources(), features?.resourceTemplates(), features?.prompts()];
    const [tool] = this.#deps.index.toolsOf(sourceId);
    return tool !== undefined || lists.some((list) => list !== undefined && list.length > 0);
  }

  #featuresOf(sourceId: string) {
    return this.#deps.roster.entries.find(({ id }) => id === sourceId)?.features;
  }
}

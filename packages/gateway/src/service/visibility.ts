/**
 * Decides which servers and toolspecs a client can see at all: in status,
 * metrics, logs, instructions, notifications and error texts. A client does not
 * learn that a source exists of which it may use nothing. The operator sees all.
 *
 * It never decides about a single call: that is the policy.
 */

import type { ToolPolicy } from "@toolcrib/policy";
import { type Identity, isListedFor, isOperator, type ToolId } from "@toolcrib/tool";
import { type FeatureKind, featureNames } from "../call/call-targets.ts";
import type { ToolIndex } from "../index/tool-index.ts";
import type { SourceRoster } from "../sources/source-roster.ts";

/** Dependencies of the decision. */
export interface VisibilityDeps {
  readonly index: Pick<ToolIndex, "toolsOf">;
  readonly policy: ToolPolicy;
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
    if (namespace !== undefined && !this.#deps.policy.mayReach(identity, namespace)) return false;
    return this.isUsable(identity, sourceId) || !this.#listsAnything(sourceId);
  }

  /** Whether `identity` may use a tool, resource or prompt that the source lists. */
  isUsable(identity: Identity, sourceId: string): boolean {
    const { index, policy } = this.#deps;
    const isAllowed = (id: ToolId, wireName: string) =>
      policy.decide(identity, id, wireName).kind === "allow";
    for (const { id, wireName, tool } of index.toolsOf(sourceId)) {
      if (isListedFor(tool, identity) && isAllowed(id, wireName)) return true;
    }
    const isFeatureAllowed = (kind: FeatureKind, name: unknown) => {
      const names = featureNames(sourceId, kind, String(name));
      return isAllowed(names.id, names.wireName);
    };
    const features = this.#featuresOf(sourceId);
    if (features === undefined) return false;
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

/**
 * Tools, resources and prompts as the policy sees them: their names, the facts about
 * their source, and what the gateway believes about them. Every fact is the
 * operator's declaration or follows from it; what a server claims is believed as far as the
 * trust in it goes. A tool whose definition is not known is believed to do anything.
 */

import {
  AccessPolicy,
  believe,
  defaultAllowedTools,
  type PolicyServer,
  type PolicySettings,
  type PolicySubject,
  type PolicyTarget,
  ToolPolicy,
} from "@toolcrib/policy";
import { ownNamespace, savedNamespace, type Tool, type ToolId, toToolId } from "@toolcrib/tool";
import { defaultFacts, type SourceFacts } from "./source-facts.ts";
import type { RosterEntry } from "./source-roster.ts";
import { toWireName } from "./wire-name.ts";

/** Resources or prompts: the two kinds of features that a client uses by name. */
export type FeatureKind = "resources" | "prompts";

/** The subject of a decision. An entry of the index is one. */
export interface AccessSubject extends PolicySubject {
  readonly source: { readonly id: string };
  readonly facts: SourceFacts;
  /** The tool; undefined for a resource, a prompt, and a tool that is not known. */
  readonly tool?: Tool | undefined;
  /** The kind of a resource or prompt, and its name there. */
  readonly feature?: { readonly kind: FeatureKind; readonly name: string } | undefined;
}

/** The policy of a gateway. */
export type GatewayPolicy = AccessPolicy<AccessSubject>;

/** Creates the policy of the lists in `settings`. */
export function createGatewayPolicy(settings: PolicySettings): GatewayPolicy {
  const targets = new WeakMap<AccessSubject, PolicyTarget>();
  return new AccessPolicy(new ToolPolicy(settings, defaultAllowedTools), {
    targetOf(subject) {
      let target = targets.get(subject);
      if (target === undefined) {
        target = toTarget(subject);
        targets.set(subject, target);
      }
      return target;
    },
  });
}

/** The resource or prompt `name` of a source. */
export function featureSubject(
  { id, facts }: Pick<RosterEntry, "id" | "facts">,
  kind: FeatureKind,
  name: string,
): AccessSubject {
  return {
    id: toToolId(id, `${kind}/${name}`),
    wireName: `${toWireName(id, kind)}/${name}`,
    source: { id },
    facts,
    feature: { kind, name },
  };
}

/** A tool of a source that is not listed. @param own its name at the source */
export function unknownSubject({ id, facts }: Pick<RosterEntry, "id" | "facts">, own: string): AccessSubject {
  const { namespace = id, isSingleTool } = facts;
  const wireName = isSingleTool ? toWireName("", namespace) : toWireName(namespace, own);
  return { id: toToolId(namespace, own), wireName, source: { id }, facts };
}

/** A tool by its id, which is not in the index: of the source whose namespace it has, as far as that is known. */
export function subjectOfId(
  id: ToolId,
  wireName: string,
  entries: readonly Pick<RosterEntry, "id" | "facts">[],
): AccessSubject {
  const namespace = id.slice(0, Math.max(0, id.indexOf(":")));
  const entry = entries.find((one) => (one.facts.namespace ?? one.id) === namespace);
  const { id: sourceId, facts } = entry ?? { id: namespace, facts: defaultFacts };
  return { id, wireName, source: { id: sourceId }, facts };
}

/** The source of a subject, as policies see it. @param namespace of its tool; undefined where there is none */
export function policyServerOf(sourceId: string, facts: SourceFacts, namespace?: string): PolicyServer {
  const { configured, isOwn, isComposite, trust, labels } = facts;
  const own = isOwn ? ownNamespace : isComposite ? savedNamespace : undefined;
  return {
    id: configured !== undefined ? sourceId : (own ?? (namespace || sourceId)),
    transport:
      configured === undefined ? "none" : configured.group === "toolspecs" ? "https" : configured.transport,
    trustState: trust?.trustState ?? "none",
    mutabilityClass: trust?.mutabilityClass ?? "unknown",
    labels,
  };
}

/** A subject as policies see it. */
export function toTarget({ id, wireName, source, facts, tool, feature }: AccessSubject): PolicyTarget {
  const server = policyServerOf(source.id, facts, tool?.namespace);
  if (feature !== undefined) {
    const kind = feature.kind === "resources" ? "resource" : "prompt";
    return {
      kind,
      id,
      name: feature.name,
      wireName,
      server,
      origin: "server",
      version: "",
      tags: [],
      ...readsOnly,
    };
  }
  const name = tool?.definition.name ?? id.slice(id.indexOf(":") + 1);
  const { origin = "server", version = "", tags = [] } = tool ?? {};
  return {
    kind: "tool",
    id,
    name,
    wireName,
    server,
    origin,
    version,
    tags,
    ...beliefsOf(facts, tool),
  };
}

type Beliefs = Pick<PolicyTarget, "isReadOnly" | "isDestructive" | "isIdempotent" | "isOpenWorld">;

/** To read a resource or to fetch a prompt changes nothing. */
const readsOnly: Beliefs = { isReadOnly: true, isDestructive: false, isIdempotent: true, isOpenWorld: true };

/** Without a tool server around it, a tool is the operator's: its annotations are believed. */
const operatorTrust = { trustState: "certified", mutabilityClass: "unknown" } as const;

/** @param tool undefined where the definition is not known: nothing safe is believed then */
function beliefsOf({ trust }: SourceFacts, tool: Pick<Tool, "definition"> | undefined): Beliefs {
  if (tool === undefined) {
    return { isReadOnly: false, isDestructive: true, isIdempotent: false, isOpenWorld: true };
  }
  const { isClosedWorld, ...believed } = believe(trust ?? operatorTrust, tool.definition.annotations ?? {});
  return { ...believed, isOpenWorld: !isClosedWorld };
}

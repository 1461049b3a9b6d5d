/**
 * Decides which client may use which tool, resource and prompt, by lists of
 * patterns for all clients and for single clients. The same decision filters
 * lists, search and calls. Deny overrides allow. Without an allow list,
 * everything is allowed unless it is denied. The URI of a resource has several
 * spellings: a deny pattern applies if it matches any of them, an allow pattern
 * only if it matches all. Where a deny list names resources of a server, every URI
 * of that server must be in its normal form: servers read other spellings in ways
 * that no list can foresee.
 *
 * The rules of a client apply to an issuer and a subject. The name of an identity decides nothing.
 *
 * Some tools need no entry in an allow list (`defaultAllowed`), because they show
 * and call only what their caller may use. A deny list can exclude them.
 *
 * A profile is a named subset of everything. It only narrows: a client that is bound to one, or came through its
 * endpoint, may use what the other rules allow and the profile contains.
 *
 * It never parses a configuration and records nothing.
 */

import {
  type Identity,
  identityKey,
  isSameIdentity,
  localIdentityKeys,
  metaToolNames,
  ownNamespace,
  type ToolId,
  toToolId,
} from "@toolcrib/tool";
import { isNormalizedUri } from "./resource-spellings.ts";
import { ToolPatterns, toResourceNames } from "./tool-patterns.ts";

/** A decision with its reason. */
export type Decision =
  | {
      readonly kind: "allow";
      readonly rule: string;
      /** Whether the rule waives the approval of each call of an unverified server. */
      readonly waivesApproval?: boolean;
    }
  | {
      readonly kind: "deny";
      /** `POLICY_UNAVAILABLE`: the policy files cannot be evaluated for now. */
      readonly code: "POLICY_DENIED" | "POLICY_UNAVAILABLE";
      readonly reason: string;
      readonly rule: string;
      /** Absent where only the record of the call explains the decision. */
      readonly hint?: string;
      /** A text of the rule's author for the client that is denied. */
      readonly message?: string;
    };

/** Lists of patterns. */
export interface PatternRules {
  /** `undefined`: everything that is not denied. */
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[];
}

/** Lists of patterns of one client. */
interface ClientRules extends PatternRules {
  /** The client. @default the local identities of that name (`localIdentityKeys`) */
  readonly identity?: Pick<Identity, "issuer" | "subject"> | undefined;
  /** The profile that the client is bound to. @default none */
  readonly profile?: string | undefined;
}

/** The contents of a profile: what all of its lists match, without `exclude`. */
interface ProfileRules {
  /** Patterns of tools, resources and prompts. @default all */
  readonly tools?: readonly string[] | undefined;
  /** Ids of sources, in which `*` and `?` stand for any characters. @default all */
  readonly servers?: readonly string[] | undefined;
  readonly exclude: readonly string[];
}

/** Lists of patterns for all clients, and additional ones for single clients. */
export interface PolicySettings extends PatternRules {
  /** Additional rules for single clients, by name. */
  readonly clients: { readonly [name: string]: ClientRules };
  /** Names or patterns of tools that the operator switched off, for every client. @default none */
  readonly disabled?: readonly string[] | undefined;
  /** Named subsets. @default none */
  readonly profiles?: { readonly [name: string]: ProfileRules } | undefined;
}

interface Rules {
  /** Paths of the lists in the configuration, such as `policy.clients.ci.allow`. */
  readonly allowPath: string;
  readonly denyPath: string;
  readonly allow: ToolPatterns | undefined;
  readonly deny: ToolPatterns;
  /** Whether it is a part of a profile, for which saved tools are as any other tools. */
  readonly isProfile: boolean;
}

const allowedByDefault: Decision = { kind: "allow", rule: "default" };
const allowedAsDefault: Decision = { kind: "allow", rule: "default set" };
/** Maximum length of a name in a reason; longer names, such as URIs, are truncated. */
const shownMaxLength = 200;

/** The policy of one configuration. */
export class ToolPolicy {
  readonly #everyone: readonly Rules[];
  /** All rules of a client, those for all clients included, by `identityKey`. */
  readonly #clients = new Map<string, readonly Rules[]>();
  readonly #defaultAllowed: ToolPatterns;
  /** The tools that the operator switched off, for every client; undefined for nothing. */
  readonly #disabled: ToolPatterns | undefined;
  /** The rules of each profile. */
  readonly #profiles = new Map<string, readonly Rules[]>();
  /** The profile that a client is bound to, by `identityKey`. */
  readonly #bound = new Map<string, string>();
  /** The client of the last decision: a list or a search decides many times for one client. */
  #last: { readonly identity: Identity; readonly layers: readonly Rules[] } | undefined;

  /** @param defaultAllowed patterns of tools that need no entry in an allow list */
  constructor(settings: PolicySettings, defaultAllowed: readonly string[]) {
    const { disabled = [] } = settings;
    this.#disabled = disabled.length === 0 ? undefined : new ToolPatterns(disabled);
    this.#everyone = [toRules(settings, "policy")];
    for (const [name, rules] of Object.entries(settings.profiles ?? {})) {
      this.#profiles.set(name, toProfileRules(rules, `profiles.${name}`));
    }
    for (const [name, rules] of Object.entries(settings.clients)) {
      const { identity, profile } = rules;
      const own = toRules(rules, `policy.clients.${name}`);
      const keys = identity === undefined ? localIdentityKeys(name) : [identityKey(identity)];
      for (const key of keys) {
        const layers = [...(this.#clients.get(key) ?? this.#everyone), own];
        this.#clients.set(
          key,
          profile === undefined ? layers : [...this.#layersOfProfile(profile), ...layers],
        );
        if (profile !== undefined) this.#bound.set(key, profile);
      }
    }
    this.#defaultAllowed = new ToolPatterns(defaultAllowed);
  }

  /**
   * Decides whether a client may use a tool, resource or prompt.
   *
   * @param id of a tool, or of a resource (`server:resources/URI`) or prompt (`server:prompts/NAME`)
   * @param wireName its name on the wire; a pattern matches either name
   */
  decide(identity: Identity, id: ToolId, wireName: string): Decision {
    const layers = this.#layersFor(identity);
    const resource = toResourceNames(id, wireName);
    for (const { denyPath, deny } of layers) {
      const found = resource === undefined ? deny.find(id, wireName) : deny.findInAnySpelling(resource);
      if (found !== undefined) {
        return denied(identity, id, `${denyPath}[${found.at}]`, `the pattern "${found.text}" denies it`);
      }
    }
    const strict = resource === undefined ? undefined : strictRules(layers, id);
    if (strict !== undefined) return unnormalized(identity, id, strict.denyPath);
    let rule = allowedByDefault;
    for (const { allowPath, allow, isProfile } of layers) {
      if (allow === undefined) continue;
      const found = resource === undefined ? allow.find(id, wireName) : allow.findInAllSpellings(resource);
      if (found === undefined) {
        const always = isProfile ? metaTools : this.#defaultAllowed;
        if (always.find(id, wireName) !== undefined) return allowedAsDefault;
        return denied(
          identity,
          id,
          allowPath,
          isProfile ? "the profile does not contain it" : "no pattern allows it",
        );
      }
      rule = { kind: "allow", rule: `${allowPath}[${found.at}]` };
    }
    return rule;
  }

  /** Returns the refusal of what the operator switched off, which no rule has to deny; undefined for everything else. */
  switchedOff(id: ToolId, wireName: string): Decision | undefined {
    const found = this.#disabled?.findInAny(id, wireName);
    return found === undefined ? undefined : switchedOff(id, found.text);
  }

  /** The profile that narrows the rights of `identity`: that of its endpoint, or the one that it is bound to. */
  profileOf(identity: Identity): string | undefined {
    return identity.profile ?? this.boundProfileOf(identity);
  }

  /** The profile that the client is bound to. */
  boundProfileOf(identity: Identity): string | undefined {
    return this.#bound.size === 0 ? undefined : this.#bound.get(identityKey(identity));
  }

  /** Whether the rules can allow `identity` anything in `namespace`. */
  mayReach(identity: Identity, namespace: string): boolean {
    return this.#layersFor(identity).every(
      ({ allow, deny }) => deny.coverageOf(namespace) !== "all" && allow?.coverageOf(namespace) !== "none",
    );
  }

  /** The rules that apply to `identity`. */
  #layersFor(identity: Identity): readonly Rules[] {
    const last = this.#last;
    const { profile } = identity;
    if (last !== undefined && isSameIdentity(identity, last.identity) && profile === last.identity.profile) {
      return last.layers;
    }
    const own = this.#clients.get(identityKey(identity)) ?? this.#everyone;
    const layers = profile === undefined ? own : [...this.#layersOfProfile(profile), ...own];
    // A copy: a program may reuse its object for another client.
    this.#last = { identity: { ...identity }, layers };
    return layers;
  }

  /** Its rules. They come before all others: what every allow list allows may not pass a profile. */
  #layersOfProfile(name: string): readonly Rules[] {
    return this.#profiles.get(name) ?? [toRules({ allow: [], deny: [] }, `profiles.${name}`)];
  }
}

/** Toolcrib's tools that show and call only what is in a profile, and belong to each. */
const metaTools = new ToolPatterns(Object.values(metaToolNames).map((name) => toToolId(ownNamespace, name)));

function toProfileRules({ tools, servers, exclude }: ProfileRules, path: string): readonly Rules[] {
  const rules = {
    allowPath: `${path}.tools`,
    denyPath: `${path}.exclude`,
    allow: tools && new ToolPatterns(tools),
    deny: new ToolPatterns(exclude),
    isProfile: true,
  };
  if (servers === undefined) return [rules];
  const ofServers = new ToolPatterns(servers.map((id) => `${id}:*`));
  return [{ ...rules, allowPath: `${path}.servers`, allow: ofServers, deny: new ToolPatterns([]) }, rules];
}

/** Returns the rules that refuse the resource `id` because its URI is not normalized. */
function strictRules(layers: readonly Rules[], id: ToolId): Rules | undefined {
  const kindAt = id.indexOf(":");
  const strict = layers.find(({ deny }) => deny.namesResourcesOf(id.slice(0, kindAt)));
  return strict === undefined || isNormalizedUri(id.slice(id.indexOf("/", kindAt) + 1)) ? undefined : strict;
}

function denied(
  identity: Identity,
  id: ToolId,
  rule: string,
  why: string,
  hint = `the operator can change ${rule.replace(/\[\d+\]$/, "")} in toolcrib.yaml`,
): Decision {
  const shown = id.length <= shownMaxLength ? id : `${id.slice(0, shownMaxLength)}…`;
  const reason = `"${identity.name}" may not use "${shown}": ${why} (${rule})`;
  return { kind: "deny", code: "POLICY_DENIED", reason, rule, hint };
}

/** The refusal of a tool that is switched off, for every client alike. */
function switchedOff(id: ToolId, pattern: string): Decision {
  const word = /^[\w.:@/-]+$/.test(pattern) ? pattern : `'${pattern.replaceAll("'", "'\\''")}'`;
  const shown = id.length <= shownMaxLength ? id : `${id.slice(0, shownMaxLength)}…`;
  return {
    kind: "deny",
    code: "POLICY_DENIED",
    reason: `"${shown}" is disabled: the operator switched it off (toolcrib disable tool)`,
    rule: `switch.tool ${pattern}`,
    hint: `the operator can enable it: toolcrib enable tool ${word}`,
  };
}

function unnormalized(identity: Identity, id: ToolId, rule: string): Decision {
  const why = "its URI is not normalized, and a deny list names resources of this server";
  return denied(identity, id, rule, why, normalizedHint);
}

const normalizedHint =
  "write the URI in its normal form (RFC 3986): scheme and host in lower case, no needless percent-encoding, no dot segments";

function toRules(rules: PatternRules, path: string): Rules {
  return {
    allowPath: `${path}.allow`,
    denyPath: `${path}.deny`,
    isProfile: false,
    allow: rules.allow === undefined ? undefined : new ToolPatterns(rules.allow),
    deny: new ToolPatterns(rules.deny),
  };
}

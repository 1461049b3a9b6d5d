/**
 * The request that a policy decides about: who uses what, and the facts about a call.
 * Data only. The facts about a server and a tool are what the operator declared and
 * what the gateway believes; nothing here comes from a server unchecked.
 */

import type { JsonObject } from "@toolcrib/json";
import { type Identity, identityKey, localIdentityKeys, type Origin, type ToolId } from "@toolcrib/tool";
import type { MutabilityClass, TrustState } from "./server-trust.ts";

/** The action of a client: `list` shows and finds something, `call` uses it, `save` writes a composite tool, `approve` approves its own call in a form. */
export type PolicyAction = "list" | "call" | "save" | "approve";

/** The source of a tool, resource or prompt: a tool server, a toolspec, or Toolcrib itself. */
export interface PolicyServer {
  readonly id: string;
  /** `stdio`, `sse`, `streamable_http`, `https` for a toolspec, or `none`. */
  readonly transport: string;
  /** `none` for a source that is not a tool server. */
  readonly trustState: TrustState | "none";
  readonly mutabilityClass: MutabilityClass;
  readonly labels: { readonly [key: string]: string };
}

/** The resource of a decision: a tool, with its annotations as the gateway believes them, a resource or a prompt. */
export interface PolicyTarget {
  readonly kind: "tool" | "resource" | "prompt";
  readonly id: ToolId;
  /** The name at its server; the URI of a resource. */
  readonly name: string;
  readonly wireName: string;
  readonly server: PolicyServer;
  readonly origin: Origin;
  /** Empty for one without a version. */
  readonly version: string;
  readonly tags: readonly string[];
  readonly isReadOnly: boolean;
  readonly isDestructive: boolean;
  readonly isIdempotent: boolean;
  readonly isOpenWorld: boolean;
}

/** The facts about one call. */
export interface CallFacts {
  readonly args: JsonObject;
  /** 0 for a call of a client, 1 for a call that such a call makes, and so on. */
  readonly depth: number;
  /** Id of the tool that makes this inner call; empty for a call of a client. */
  readonly parentTool: string;
  /** Protocol era of the client's session. */
  readonly era: "legacy" | "modern";
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Labels of the results that this call tree received so far. */
  readonly labels: readonly string[];
  /** Labels of the results that this client received so far. */
  readonly seenLabels: readonly string[];
}

/** The settings of a client in the configuration besides its rules. */
export interface ClientAttributes {
  readonly roles: readonly string[];
  readonly labels: { readonly [key: string]: string };
}

/** The settings of a client that a policy can refer to, by its name in the configuration. */
export interface ClientSettings extends Partial<ClientAttributes> {
  /** The client. @default the local identities of that name (`localIdentityKeys`) */
  readonly identity?: Pick<Identity, "issuer" | "subject"> | undefined;
}

const noAttributes: ClientAttributes = { roles: [], labels: {} };

/** Returns a function that finds the attributes of a client: those of the configuration, and the roles of its identity. */
export function createClientAttributes(clients: {
  readonly [name: string]: ClientSettings;
}): (identity: Identity) => ClientAttributes {
  const byKey = new Map<string, ClientAttributes>();
  for (const [name, { identity, roles = [], labels = {} }] of Object.entries(clients)) {
    const keys = identity === undefined ? localIdentityKeys(name) : [identityKey(identity)];
    for (const key of keys) {
      const known = byKey.get(key) ?? noAttributes;
      byKey.set(key, { roles: [...known.roles, ...roles], labels: { ...known.labels, ...labels } });
    }
  }
  return (identity) => {
    const { roles, labels } = byKey.get(identityKey(identity)) ?? noAttributes;
    const { attributes } = identity;
    if (attributes === undefined) {
      return identity.roles.length === 0
        ? { roles, labels }
        : { roles: [...identity.roles, ...roles], labels };
    }
    // What the configuration says replaces what the issuer says.
    return {
      roles: [...identity.roles, ...attributes.roles, ...roles],
      labels: { ...attributes.labels, ...labels },
    };
  };
}

/**
 * Identities: the issuer that vouches for a caller, the caller's id at that
 * issuer, and the roles that the operator gave it. An identity is compared by
 * issuer and subject only; the name is for people.
 *
 * Data only. Nothing here authenticates or authorizes anyone.
 */

/** Permission level in the administration of a gateway, lowest first. A client token has no role. */
export type Role = "viewer" | "operator" | "admin";

/** The caller that a call is attributed to. Authority comes from here and never from session state. */
export interface Identity {
  /** Authority that authenticated the caller: one of `localIssuers`, or the URL of an identity provider. */
  readonly issuer: string;
  /** Id of the caller, unique and stable at its issuer. */
  readonly subject: string;
  /** Name that people, policy files and the audit trail use, such as `default` or `ci`. */
  readonly name: string;
  readonly roles: readonly Role[];
  /** The statements of its issuer about it for policies, besides what the configuration says. @default nothing */
  readonly attributes?: {
    readonly roles: readonly string[];
    readonly labels: { readonly [key: string]: string };
  };
  /** The profile through whose endpoint the caller came. It narrows what the caller may use. @default none */
  readonly profile?: string | undefined;
  /**
   * Id of the token that authenticated it, among those with its name. Sessions and tasks belong to it too, so that a later token of the
   * same name does not get those of a revoked one; all else belongs to the name. @default its issuer has no tokens of the gateway
   */
  readonly credential?: string | undefined;
}

/** Issuers that Toolcrib itself vouches for. */
export const localIssuers = {
  /** A bearer token of the gateway; the subject is the token's name. */
  token: "toolcrib:token",
  /** The client that started the process and talks to it over standard input and output. */
  stdio: "toolcrib:stdio",
  /** A program that embeds Toolcrib. */
  library: "toolcrib:library",
  /** The command line. */
  cli: "toolcrib:cli",
  /** A client that nothing authenticated. */
  anonymous: "toolcrib:anonymous",
} as const;

/** Key of `localIssuers`. */
export type LocalIssuer = keyof typeof localIssuers;

/** Roles, lowest first. */
const roleOrder: readonly Role[] = ["viewer", "operator", "admin"];

/** Whether an identity with `roles` has `role` or a higher one. */
export function hasRole(roles: readonly Role[], role: Role): boolean {
  const needed = roleOrder.indexOf(role);
  return roles.some((one) => roleOrder.indexOf(one) >= needed);
}

/** Issuers of the operator at the command line and of an embedding program. */
const operatorIssuers: readonly string[] = [localIssuers.cli, localIssuers.library];

/**
 * Whether `identity` is the operator or the embedding program, who see all servers and the reasons of denials. For
 * all other clients, what they may not use does not exist.
 */
export function isOperator({ roles, issuer }: Pick<Identity, "roles" | "issuer">): boolean {
  return hasRole(roles, "operator") || operatorIssuers.includes(issuer);
}

const noRoles: readonly Role[] = Object.freeze([]);

/** Local issuers of a single identity, whose name is that of the issuer. */
const singleIssuers = ["stdio", "library", "cli", "anonymous"] as const satisfies readonly LocalIssuer[];

/** Creates an identity of a local issuer. Its subject is its name, and it has no role. */
export function localIdentity(issuer: LocalIssuer, name: string): Identity {
  return { issuer: localIssuers[issuer], subject: name, name, roles: noRoles };
}

/**
 * Returns the keys (`identityKey`) of the local identities that a configuration calls `name`: the token of that
 * name and, for `stdio`, `library`, `cli` and `anonymous`, the client to which Toolcrib itself gives this name.
 */
export function localIdentityKeys(name: string): readonly string[] {
  const single = singleIssuers.filter((issuer) => issuer === name);
  return ["token" as const, ...single].map((issuer) => identityKey(localIdentity(issuer, name)));
}

/** Whether two identities are the same caller: same issuer, same subject. */
export function isSameIdentity(a: Identity, b: Identity): boolean {
  return a.subject === b.subject && a.issuer === b.issuer;
}

/** The key of an identity, and the texts that it was made from: a program may reuse the object for another caller. */
interface KnownKey {
  readonly issuer: string;
  readonly subject: string;
  readonly key: string;
}

/** The keys of identities that are in use. A call needs its key several times, and maps find the same string fastest. */
const knownKeys = new WeakMap<object, KnownKey>();

/** Returns a map key. Two identities have the same key exactly when they are the same caller. */
export function identityKey(identity: Pick<Identity, "issuer" | "subject">): string {
  const { issuer, subject } = identity;
  const known = knownKeys.get(identity);
  if (known?.subject === subject && known.issuer === issuer) return known.key;
  // The length makes the boundary unambiguous for any characters in the two texts.
  const key = `${issuer.length}:${issuer}${subject}`;
  knownKeys.set(identity, { issuer, subject, key });
  return key;
}

/**
 * Returns a map key of everything about an identity that a decision can depend on: a caller whose issuer
 * gives it other roles or labels than before, or another token, has another key.
 */
export function rightsKey(identity: Identity): string {
  const { name, roles, attributes, profile, credential } = identity;
  const own = identityKey(identity);
  const key = credential === undefined ? own : `${credential} ${own}`;
  if (roles.length === 0 && attributes === undefined && profile === undefined) return key;
  return JSON.stringify([key, name, roles, attributes, profile]);
}

const localPrefix = "toolcrib:";

/** Whether Toolcrib itself vouches for the identities of `issuer`. */
export function isLocalIssuer(issuer: string): boolean {
  return issuer.startsWith(localPrefix);
}

/** Returns the name of a client in commands (`--client`, `--identity`); `NAME` where it has none that needs no quotes. */
export function clientArgument({
  issuer,
  subject,
  name,
}: Pick<Identity, "issuer" | "subject" | "name">): string {
  if (isLocalIssuer(issuer)) return name;
  return /^[\w.@|:-]{1,128}$/.test(subject) ? `${subject}@${issuer}` : "NAME";
}

/** Returns the short name of the issuer for display: `token`, `stdio`, …, or the URL of an identity provider. */
export function issuerName({ issuer }: Pick<Identity, "issuer">): string {
  return isLocalIssuer(issuer) ? issuer.slice(localPrefix.length) : issuer;
}

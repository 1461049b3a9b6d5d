/**
 * Keeps the credentials of an API out of the arguments of its tools. Many documents
 * describe a credential twice: as a security scheme, and as a parameter or a member
 * of each request body. Others have the parameter only. A tool has no such argument:
 *
 * - A parameter or member that repeats a credential of the manifest is hidden.
 * - A query parameter or header with the name of a credential becomes a credential
 *   of the manifest when the call needs it.
 * - A body cannot carry a secret. A member that has the name of a credential is
 *   hidden when the document declares no other credential; if it is required, the
 *   operation is unfit.
 *
 * Names alone decide only where they have one meaning, such as `api_key`. A `secret`
 * or `token` of a body can be data, so these need more evidence.
 */

import { quote } from "@toolcrib/document";
import type { Findings, Place } from "../document/findings.ts";
import type { Operation } from "../operations.ts";
import { type DraftParam, UnfitOperation } from "../tool/draft-param.ts";
import { toSnakeCase } from "../write/names.ts";
import type { Credential, DeclaredCredential } from "./read-credentials.ts";

/** Names, without separators, that only the credential of an API has. */
const plainNames: ReadonlySet<string> = new Set(
  "apikey xapikey apitoken xapitoken apisecret clientsecret appsecret subscriptionkey authtoken xauthtoken".split(
    " ",
  ),
);
/** Names of a bearer token outside bodies (RFC 6750, 2.3); in a body it is often the token of a user. */
const tokenNames: ReadonlySet<string> = new Set(["accesstoken", "xaccesstoken"]);
const secretWord = /secret|token|key|password/;
/** Names of the other half of a credential. A scheme can also carry what is none, such as the version of the API. */
const identityWord = /id$|user|account|login/;

/** A parameter or body member that is not an argument, because it is a credential. */
export interface HiddenArgument {
  readonly name: string;
  readonly in: "query" | "header" | "body";
  /** Number of tools that would have it. */
  readonly tools: number;
  /** Id of the credential that is sent instead. @default none is sent for it */
  readonly credential?: string;
}

/** Names that override the decision, in any case and with any separators. */
export interface ArgumentOverrides {
  readonly keep: readonly string[];
  readonly hide: readonly string[];
}

interface Decision {
  readonly credential: Credential | undefined;
  /** Whether the document does not say that it is a credential. */
  readonly isInferred: boolean;
}

interface Hidden extends Decision {
  readonly name: string;
  readonly where: HiddenArgument["in"];
  readonly place: Place;
  readonly operations: Set<Operation>;
}

/** The credentials of one import, and the arguments that they replace. */
export class CredentialArguments {
  readonly #declared: readonly DeclaredCredential[];
  readonly #keep: ReadonlySet<string>;
  readonly #hide: ReadonlySet<string>;
  /** Credentials that no security scheme declares, by their place. */
  readonly #found = new Map<
    string,
    { readonly credential: Credential; readonly operations: Set<Operation> }
  >();
  readonly #hidden = new Map<string, Hidden>();

  /** @param declared the credentials of all security schemes */
  constructor(declared: readonly DeclaredCredential[], { keep, hide }: ArgumentOverrides) {
    this.#declared = declared;
    this.#keep = new Set(keep.map(fold));
    this.#hide = new Set(hide.map(fold));
  }

  /** Returns `drafts` without credentials. @throws {UnfitOperation} when a body requires one */
  remove(drafts: readonly DraftParam[], operation: Operation): readonly DraftParam[] {
    const pair = this.#pairOf(drafts);
    return drafts.filter((draft) => {
      const { param, place } = draft;
      if (param.in === "path") return true;
      const decision = param.in === "body" ? this.#ofBody(draft, pair) : this.#ofHead(draft, operation);
      if (decision === undefined) return true;
      const key = `${param.in} ${param.name}`;
      const hidden = this.#hidden.get(key) ?? {
        ...decision,
        name: param.name,
        where: param.in,
        place,
        operations: new Set<Operation>(),
      };
      hidden.operations.add(operation);
      this.#hidden.set(key, hidden);
      return false;
    });
  }

  /** The credentials of a manifest with the tools of `operations`. */
  credentialsFor(operations: readonly Operation[]): readonly Credential[] {
    const found = [...this.#found.values()].filter((one) =>
      operations.some((each) => one.operations.has(each)),
    );
    return [
      ...this.#chosen().map(({ credential }) => credential),
      ...found.map(({ credential }) => credential),
    ];
  }

  /** Lists what the tools of `operations` hide, and reports what the document does not call a credential. */
  report(operations: readonly Operation[], findings: Findings): readonly HiddenArgument[] {
    const list: HiddenArgument[] = [];
    for (const { name, where, place, credential, isInferred, operations: all } of this.#hidden.values()) {
      const count = operations.filter((one) => all.has(one)).length;
      if (count === 0) continue;
      const { id } = credential ?? {};
      list.push({ name, in: where, tools: count, ...(id === undefined ? {} : { credential: id }) });
      if (!isInferred) continue;
      const instead =
        credential === undefined
          ? "it is a credential, and none is sent for it"
          : `it is the credential ${quote(credential.id)}, which is sent in ${placeOf(credential)}`;
      findings.report({
        code: "OPENAPI_CREDENTIAL_HIDDEN",
        message: `${titleOf(where)} ${quote(name)} of ${count} ${count === 1 ? "tool" : "tools"} is hidden: ${instead}`,
        hint: `if it is an argument, import with --keep-argument ${name}`,
        place,
      });
    }
    return list;
  }

  #chosen(): readonly DeclaredCredential[] {
    return this.#declared.filter(({ isChosen }) => isChosen);
  }

  /** Decides about a query parameter or header. */
  #ofHead({ param }: DraftParam, operation: Operation): Decision | undefined {
    const { name, in: where } = param;
    const isHeader = where === "header";
    const key = placeKey(isHeader, name);
    const declared = this.#declared.filter(({ credential }) => placeKeyOf(credential) === key);
    const chosen = declared.find(({ isChosen }) => isChosen);
    if (chosen !== undefined) return { credential: chosen.credential, isInferred: false };
    const known = this.#found.get(key);
    const folded = fold(name);
    if (this.#keep.has(folded) || param.value !== undefined) return undefined;
    const isNamed = plainNames.has(folded) || tokenNames.has(folded) || this.#hide.has(folded);
    const [alternative] = declared;
    if (param.type !== "string" || (alternative === undefined && !isNamed)) return undefined;
    const isNeeded = param.required === true || (this.#chosen().length === 0 && this.#found.size === 0);
    if (known === undefined && !isNeeded) return { credential: undefined, isInferred: true };
    const entry = known ?? {
      credential: alternative?.credential ?? this.#create(isHeader, name),
      operations: new Set<Operation>(),
    };
    entry.operations.add(operation);
    this.#found.set(key, entry);
    return { credential: entry.credential, isInferred: true };
  }

  #create(isHeader: boolean, name: string): Credential {
    const taken = new Set(
      [...this.#declared, ...this.#found.values()].map(({ credential }) => credential.id),
    );
    const base = toSnakeCase(name).slice(0, 60) || "token";
    let id = base;
    for (let count = 2; taken.has(id); count += 1) id = `${base}_${count}`;
    const format = "{token}";
    return { id, type: "api_key", inject: isHeader ? { header: name, format } : { query: name, format } };
  }

  /** Decides about a member of a body. */
  #ofBody(draft: DraftParam, pair: ReadonlySet<string>): Decision | undefined {
    const { param, place } = draft;
    const { name } = param;
    const folded = fold(name);
    if (this.#keep.has(folded) || param.type !== "string") return undefined;
    const said = this.#chosen().find((one) => isDescribed(one, param));
    if (said !== undefined) return { credential: said.credential, isInferred: true };
    const same = this.#chosen().find((one) => isSameName(one, folded));
    const isPlain = plainNames.has(folded) || pair.has(name) || this.#hide.has(folded);
    if (same !== undefined && isPlain) return { credential: same.credential, isInferred: true };
    if (this.#hide.has(folded)) return { credential: undefined, isInferred: true };
    if (!plainNames.has(folded) || this.#chosen().length > 0) return undefined;
    if (param.required !== true) return { credential: undefined, isInferred: true };
    throw new UnfitOperation(
      `its body needs the credential ${quote(name)}, and secrets are inserted in headers and queries only`,
      place,
      `if it is an argument, import with --keep-argument ${name}`,
    );
  }

  /** Returns members of a body that together repeat several credentials, one of them a secret: `client_id` and `secret`. */
  #pairOf(drafts: readonly DraftParam[]): ReadonlySet<string> {
    const members = drafts.filter(({ param }) => param.in === "body" && param.type === "string");
    const same = members.flatMap(({ param: { name } }) => {
      if (!secretWord.test(fold(name)) && !identityWord.test(fold(name))) return [];
      const credential = this.#chosen().find((one) => isSameName(one, fold(name)));
      return credential === undefined ? [] : [{ name, credential }];
    });
    const isPair = new Set(same.map(({ credential }) => credential)).size > 1;
    return new Set(
      isPair && same.some(({ name }) => secretWord.test(fold(name))) ? same.map(({ name }) => name) : [],
    );
  }
}

/** Returns a name without case and separators: `API-Key` and `api_key` are the same. */
function fold(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** Whether a member has the name of a scheme or of its key, or the rest of it after a prefix: `secret` and `PLAID-SECRET`. */
function isSameName({ scheme, isKey, credential }: DeclaredCredential, folded: string): boolean {
  if (!isKey || folded === "") return false;
  const words = nameOf(credential).split(/[^A-Za-z0-9]+/);
  return [scheme, words.join(""), words.slice(1).join("")].some((name) => fold(name) === folded);
}

/** Whether the description of a member refers to the place of the credential: "may be provided in the PLAID-SECRET header". */
function isDescribed(declared: DeclaredCredential, { name, description = "" }: DraftParam["param"]): boolean {
  const folded = fold(name);
  const place = nameOf(declared.credential);
  if (!declared.isKey || !description.toLowerCase().includes(place.toLowerCase())) return false;
  // A place such as "key" is a word of many descriptions.
  const isDistinct = /[^A-Za-z0-9]/.test(place);
  return isSameName(declared, folded) || (isDistinct && secretWord.test(folded));
}

function nameOf({ inject }: Credential): string {
  return "header" in inject ? inject.header : inject.query;
}

function placeKey(isHeader: boolean, name: string): string {
  return isHeader ? name.toLowerCase() : `?${name}`;
}

function placeKeyOf({ inject }: Credential): string {
  return placeKey("header" in inject, "header" in inject ? inject.header : inject.query);
}

function placeOf({ inject }: Credential): string {
  return "header" in inject ? `the header ${inject.header}` : `the query, as ${inject.query}`;
}

function titleOf(where: HiddenArgument["in"]): string {
  if (where === "body") return "Body member";
  return where === "header" ? "Header" : "Query parameter";
}

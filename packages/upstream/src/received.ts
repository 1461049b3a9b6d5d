/**
 * The first step with everything that a server sends on behalf of a call: afterwards no
 * name is another one to a later reader, and no member speaks for the gateway. Checks of
 * form, schemas and labels come after it.
 *
 * From an untrusted server, hidden characters are removed from texts and names, and from
 * texts that are sent as bytes. A result in which two names become equal by that is
 * refused: whichever of them a check would see, a reader could see the other.
 *
 * From every server, the members by which Toolcrib marks its own answers are removed, and
 * those that belong to the connection and not to the request that was passed on.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { stripHidden, stripHiddenValue } from "@toolcrib/redaction";
import { withoutOwnErrorData, withoutOwnMeta } from "./own-meta.ts";
import { mapParts } from "./result-parts.ts";
import { type Origin, withOrigin, withOriginOfElicitations } from "./shown-origin.ts";
import { UpstreamError } from "./upstream-error.ts";
import type { UpstreamSettings } from "./upstream-options.ts";

/** The server that a message comes from. */
export interface Sender extends Origin {
  readonly server: string;
  /** Whether hidden characters are removed. */
  readonly isUntrusted: boolean;
}

/** Returns the sender that the settings of a server describe, as they are when a message arrives. */
export function senderOf(
  settings: Pick<UpstreamSettings, "id" | "isUntrusted" | "shownAs" | "scrub">,
): Sender {
  return {
    server: settings.id,
    scrub: settings.scrub ?? ((text) => text),
    get isUntrusted() {
      return settings.isUntrusted ?? false;
    },
    get shownAs() {
      return settings.shownAs;
    },
  };
}

/**
 * Returns the result of a request.
 *
 * @throws {UpstreamError} `UPSTREAM_RESULT_INVALID`, which names the server, the request and the member.
 */
export function receivedResult(
  result: JsonObject,
  { server, isUntrusted }: Pick<Sender, "server" | "isUntrusted">,
  method: string,
): JsonObject {
  const visible = isUntrusted ? mapParts(withDistinctNames(result, server, method), withVisibleBlob) : result;
  return withoutOwnMeta(withoutConnectionMembers(visible));
}

/** Returns the parameters of a notification or of a request of the server. */
export function receivedParams(
  method: string,
  params: JsonObject,
  sender: Omit<Sender, "server">,
): JsonObject {
  const { isUntrusted } = sender;
  return withOrigin(method, withoutOwnMeta(isUntrusted ? stripHiddenValue(params) : params), sender);
}

/** Members by which errors of the gateway state their code and how to fix them. */
const errorMembers = ["code", "hint"];

/** Returns the data of an error response; that of an untrusted server never looks like an error of the gateway. */
export function receivedErrorData(data: unknown, sender: Omit<Sender, "server">): unknown {
  const { isUntrusted } = sender;
  const stripped = isUntrusted ? stripHiddenValue(data as JsonValue) : (data as JsonValue);
  const visible = withOriginOfElicitations(stripped, sender);
  return isJsonObject(visible) ? withoutOwnErrorData(visible, isUntrusted ? errorMembers : []) : visible;
}

function withDistinctNames(result: JsonObject, server: string, method: string): JsonObject {
  const equal: string[] = [];
  const visible = stripHiddenValue(result, (name) => equal.push(name));
  if (equal.length === 0) return visible;
  const [first = ""] = equal;
  const name = first.length > 100 ? `of ${first.length} characters` : JSON.stringify(first);
  throw new UpstreamError(
    "UPSTREAM_RESULT_INVALID",
    `The server "${server}" answered "${method}" with a result that has the member ${name} twice: the names differ only in hidden characters. The request may have had an effect`,
    { hint: "report it to the maintainers of the server; the result was not passed on", data: { server } },
  );
}

/**
 * Members of the modern era that are about the request between the gateway and the server: whether it is complete, what
 * the server wants to know first, how long its result can be kept (2026-07-28, `Result`, `InputRequiredResult`,
 * `CacheableResult`). To another client they would be about its own request. Servers of the legacy era have no reason
 * to send them.
 */
const connectionMembers = ["resultType", "inputRequests", "requestState", "ttlMs", "cacheScope"];

function withoutConnectionMembers(result: JsonObject): JsonObject {
  if (!connectionMembers.some((name) => result[name] !== undefined)) return result;
  return Object.fromEntries(Object.entries(result).filter(([name]) => !connectionMembers.includes(name)));
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Media types whose content is text. */
const textTypes =
  /^(?:text\/|image\/svg\+xml|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|toml|javascript|sql|markdown)\b)/i;

/** Returns a resource whose text is sent as bytes without hidden characters. Bytes that are not UTF-8 stay as they are. */
function withVisibleBlob(part: JsonObject): JsonObject {
  const { blob, mimeType } = part;
  if (typeof blob !== "string" || typeof mimeType !== "string" || !textTypes.test(mimeType.trim()))
    return part;
  let text: string;
  try {
    text = decoder.decode(Buffer.from(blob, "base64"));
  } catch {
    return part;
  }
  const visible = stripHidden(text);
  return visible === text ? part : { ...part, blob: Buffer.from(visible).toString("base64") };
}

import type { JsonObject } from "@toolcrib/json";
import { metaOf } from "./json-rpc.ts";
import { metaKeys } from "./protocol.ts";

/** Returns the protocol version in the `_meta` of a request; undefined for legacy requests. */
export function modernVersionOf(params: JsonObject): string | undefined {
  const version = metaOf(params)?.[metaKeys.protocolVersion];
  return typeof version === "string" ? version : undefined;
}

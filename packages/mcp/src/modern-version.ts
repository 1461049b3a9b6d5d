import type { JsonObject } from "@toolcrib/json";
import { metaOf } from "./json-rpc.ts";
import { metaKeys } from "./protocol.ts";

/** The protocol version that a request carries in `_meta`; undefined for legacy requests. */
export function modernVersionOf(params: JsonObject): string | undefined {
  const version = metaOf(params)?.[metaKeys.protocolVersion];
  return typeof version === "string" ? version : undefined;
}

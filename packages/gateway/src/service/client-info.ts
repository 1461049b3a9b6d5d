/** Name and version of a client's software, as the record keeps them. Pure. */

import { isJsonObject } from "@toolcrib/json";
import type { CallOrigin } from "../call/call-target.ts";

/** Longest name and version of a client's software. @limit client */
const clientInfoMaxLength = 100;

/** Reads `info`, which a client sends about itself. */
export function toClientInfo(info: unknown): CallOrigin["clientInfo"] {
  if (!isJsonObject(info)) return undefined;
  return {
    name: String(info["name"]).slice(0, clientInfoMaxLength),
    version: String(info["version"]).slice(0, clientInfoMaxLength),
  };
}

/**
 * Checks a URL that the gateway itself sends requests to: https with a host name, through the egress, or http to this
 * machine. Never quotes a URL, because its path and query may contain a secret.
 */

import type { Problem } from "@toolcrib/document";
import { canonicalHost } from "@toolcrib/hosts";
import { quote } from "./display-source.ts";
import { isLoopbackHost } from "./server-url.ts";

/** A kind of URL, as messages name it. */
interface EgressUrl {
  /** At the beginning of a sentence, such as `The URL of a hook`. */
  readonly noun: string;
  /** The way to send a credential instead. */
  readonly credentialHint: string;
  readonly exampleHost: string;
}

/** Returns the problem of `value`; `undefined` when it is valid. */
export function lintEgressUrl(
  value: string,
  { noun, credentialHint, exampleHost }: EgressUrl,
): Problem | undefined {
  const isClean = /^[\x21-\x7e]+$/.test(value);
  const parsed = isClean && URL.canParse(value) ? new URL(value) : undefined;
  const problem = (message: string, hint: string) => ({ code: "CONFIG_URL_INVALID", message, hint });
  if (parsed === undefined || !/^https?:\/\//.test(value)) {
    return problem(
      `Cannot read ${noun.charAt(0).toLowerCase()}${noun.slice(1)}: it is not a complete http or https URL`,
      "write https://HOST/PATH, or http://127.0.0.1:PORT/PATH",
    );
  }
  if (parsed.username !== "" || parsed.password !== "" || value.includes("#")) {
    return problem(`${noun} cannot contain a user name, a password or a fragment`, credentialHint);
  }
  if (parsed.protocol === "http:") {
    if (isLoopbackHost(parsed.hostname)) return undefined;
    return {
      code: "CONFIG_URL_INSECURE",
      message: `${noun} cannot be http to ${quote(parsed.hostname)}: http is allowed to this machine only`,
      hint: "write https",
    };
  }
  const authority = /^https:\/\/([^/?]*)/.exec(value)?.[1] ?? "";
  if (canonicalHost(authority.replace(/:[0-9]*$/, "")) !== undefined) return undefined;
  return problem(
    `${noun} cannot have the host ${quote(parsed.hostname)}: https needs a host name of letters, digits, - and dots, without an address`,
    `write a name such as ${exampleHost}; egress.connect_to gives a name an address, and egress.internal_ranges allows it`,
  );
}

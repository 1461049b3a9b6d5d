/**
 * Checks the URL of a server: http or https, plain http to this machine only
 * (unless the operator allows it), and no user name or password. Never quotes a
 * URL, because its path and query may contain a secret.
 */

import type { Problem } from "@toolcrib/document";
import { quote } from "./display-source.ts";

/** Returns the problem of `url`; `undefined` when it is valid. @param field its place in the configuration */
export function lintServerUrl(url: string, allowHttp: boolean, field = "transport.url"): Problem | undefined {
  const isClean = /^[\x21-\x7e\u00a1-\uffff]+$/.test(url);
  const parsed = isClean && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || parsed.hostname === "") {
    return {
      code: "CONFIG_URL_INVALID",
      message: `Cannot read ${field}: it is not a complete URL`,
      hint: loopbackHint(url) ?? "write a scheme and a host: https://host/path",
    };
  }
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") {
    return {
      code: "CONFIG_URL_INVALID",
      message: `${field} cannot have the scheme ${quote(parsed.protocol.slice(0, -1))}: https and http are allowed`,
      hint: "write https://host/path",
    };
  }
  if (parsed.username !== "" || parsed.password !== "") {
    return {
      code: "CONFIG_URL_CREDENTIALS",
      message: `${field} cannot contain a user name or password`,
      hint: "remove the text before the @ and write headers: { Authorization: { secret_key_ref: NAME } }",
    };
  }
  if (parsed.protocol === "http:" && !allowHttp && !isLoopbackHost(parsed.hostname)) {
    return {
      code: "CONFIG_URL_INSECURE",
      message: `${field} cannot be http to ${quote(parsed.hostname)}: http is allowed to this machine only`,
      hint: "write https, or allow_http: true if you trust the network",
    };
  }
  return undefined;
}

/** The hint for an address of this machine without a scheme. It quotes the host and the port alone. */
function loopbackHint(url: string): string | undefined {
  const { host = "", port = "" } =
    /^(?<host>\[[^\]]*\]|[^:/?#]+)(?<port>:\d{1,5})?(?:\/|$)/.exec(url)?.groups ?? {};
  return isLoopbackHost(host) ? `write the scheme, too: http://${host}${port}` : undefined;
}

/** Whether `host` (a name or address; IPv6 with or without brackets) is this machine. */
export function isLoopbackHost(host: string): boolean {
  const name = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    /^127(?:\.[0-9]{1,3}){3}$/.test(name) ||
    name === "::1"
  );
}

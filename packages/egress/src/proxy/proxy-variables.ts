/** The variables by which programs find a proxy and trust its certificates. Pure. */

import type { EgressProxy } from "../egress-types.ts";

/** Returns the variables that make clients use and trust `proxy`, by their names. */
export function proxyVariables({
  url,
  caFile,
  caBundleFile,
}: Pick<EgressProxy, "url" | "caFile" | "caBundleFile">): { readonly [name: string]: string } {
  return {
    ...bothCases("HTTPS_PROXY", url),
    // The proxy refuses plain HTTP, so that no request bypasses it.
    ...bothCases("HTTP_PROXY", url),
    ...bothCases("ALL_PROXY", url),
    // Node uses a proxy only with this variable.
    NODE_USE_ENV_PROXY: "1",
    NODE_EXTRA_CA_CERTS: caFile,
    SSL_CERT_FILE: caBundleFile,
    REQUESTS_CA_BUNDLE: caBundleFile,
    CURL_CA_BUNDLE: caBundleFile,
    GIT_SSL_CAINFO: caBundleFile,
  };
}

/** Clients differ in the case that they read. */
function bothCases(name: string, value: string): { readonly [name: string]: string } {
  return { [name]: value, [name.toLowerCase()]: value };
}

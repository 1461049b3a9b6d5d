/**
 * The environment of a program behind the proxy: that of this process, without
 * every secret that is known here, and with what leads clients to the proxy and
 * makes them trust it. Pure.
 */

import type { EgressProxy } from "@toolcrib/egress";

/** What an environment is made of. */
export interface ProgramEnvOptions {
  /** Variables that were read for a secret. */
  readonly secretVariables: readonly string[];
  /** Values that may stand in no variable. */
  readonly secretValues: readonly string[];
  /** Variables for the program, such as its placeholders. They win. */
  readonly variables: { readonly [name: string]: string };
}

/** Variables by name. */
export type Environment = { readonly [name: string]: string | undefined };

/** Secrets of Toolcrib, whichever manifest is used. */
const ownSecretPattern = /^TOOLCRIB_(?:SECRET_.*|SECRETS_KEY|TOKEN)$/i;
/** What would lead a client past the proxy. */
const detours: ReadonlySet<string> = new Set(["no_proxy", "all_proxy"]);

/** What leads clients to `proxy`, and lets them trust it. */
export function proxyVariables({ url, caFile, caBundleFile }: EgressProxy): {
  readonly [name: string]: string;
} {
  return {
    HTTPS_PROXY: url,
    https_proxy: url,
    // Node asks for its proxy only when it is told to.
    NODE_USE_ENV_PROXY: "1",
    NODE_EXTRA_CA_CERTS: caFile,
    SSL_CERT_FILE: caBundleFile,
    REQUESTS_CA_BUNDLE: caBundleFile,
    CURL_CA_BUNDLE: caBundleFile,
    GIT_SSL_CAINFO: caBundleFile,
  };
}

/** The environment of a program. */
export function programEnv(
  env: Environment,
  { secretVariables, secretValues, variables }: ProgramEnvOptions,
): Environment {
  const kept = Object.entries(env).filter(
    ([name, value = ""]) =>
      !ownSecretPattern.test(name) &&
      !secretVariables.includes(name) &&
      !detours.has(name.toLowerCase()) &&
      !secretValues.some((secret) => value.includes(secret)),
  );
  return { ...Object.fromEntries(kept), ...variables };
}

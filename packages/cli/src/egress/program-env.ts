/**
 * Builds the environment of a program behind the proxy: the environment of this
 * process, without all known secrets, and with the variables that make clients use
 * and trust the proxy. Pure.
 */

/** Options of `programEnv`. */
export interface ProgramEnvOptions {
  /** Variables that secrets were read from. */
  readonly secretVariables: readonly string[];
  /** Values that no variable may contain. */
  readonly secretValues: readonly string[];
  /** Variables for the program, such as its placeholders. They win. */
  readonly variables: { readonly [name: string]: string };
}

/** Variables by name. */
export type Environment = { readonly [name: string]: string | undefined };

/** Variables with secrets of Toolcrib, for every manifest. */
const ownSecretPattern = /^TOOLCRIB_(?:SECRET_.*|SECRETS_KEY|TOKEN)$/i;
/**
 * Variables of other proxies, and of hosts that need none. `NO_PROXY` is never set: with it, a URL
 * that the program took from elsewhere would reach the services of this machine.
 */
const proxyVariableNames: ReadonlySet<string> = new Set([
  "http_proxy",
  "https_proxy",
  "all_proxy",
  "no_proxy",
]);

/** Returns the environment of a program. */
export function programEnv(
  env: Environment,
  { secretVariables, secretValues, variables }: ProgramEnvOptions,
): Environment {
  const kept = Object.entries(env).filter(
    ([name, value = ""]) =>
      !ownSecretPattern.test(name) &&
      !secretVariables.includes(name) &&
      !proxyVariableNames.has(name.toLowerCase()) &&
      !secretValues.some((secret) => value.includes(secret)),
  );
  return { ...Object.fromEntries(kept), ...variables };
}

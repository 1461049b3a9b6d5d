/** Values of variables of base URLs that a build fixes. Pure. */

import type { Toolpack } from "@toolcrib/toolpack-image";
import { CliError } from "../cli-error.ts";
import { readPairs } from "../name-value-pairs.ts";

/** Values by the name of the service, then by that of the variable. */
export type ServiceVariables = ReadonlyMap<string, { readonly [name: string]: string }>;

/** Reads `NAME=VALUE` of the only service, or `SERVICE/NAME=VALUE`. @throws {CliError} `CLI_USAGE` */
export function toServiceVariables(
  toolpacks: readonly Toolpack[],
  given: readonly string[],
): ServiceVariables {
  const isOne = toolpacks.length === 1;
  const pairs = readPairs(
    given,
    (text) =>
      new CliError("CLI_USAGE", `--variable ${JSON.stringify(text)} has no value`, {
        hint: isOne ? "write --variable NAME=VALUE" : "write --variable SERVICE/NAME=VALUE",
      }),
  );
  const values = new Map(toolpacks.map(({ manifest }) => [manifest.name, {} as { [name: string]: string }]));
  for (const [key, value] of Object.entries(pairs)) {
    const at = isOne ? -1 : key.indexOf("/");
    const service = isOne ? (toolpacks[0]?.manifest.name ?? "") : key.slice(0, Math.max(at, 0));
    const name = key.slice(at + 1);
    const declared = toolpacks.find(({ manifest }) => manifest.name === service)?.toolspec.variables ?? {};
    const own = values.get(service);
    if (own === undefined || !Object.hasOwn(declared, name)) {
      const known = toolpacks.flatMap(({ manifest, toolspec }) =>
        Object.keys(toolspec.variables ?? {}).map((one) => (isOne ? one : `${manifest.name}/${one}`)),
      );
      throw new CliError("CLI_USAGE", `There is no variable ${JSON.stringify(key)}`, {
        hint: known.length === 0 ? "omit --variable: there is none" : `the variables are ${known.join(", ")}`,
      });
    }
    own[name] = value;
  }
  return values;
}

/** Returns the values as arguments of the engine. */
export function toArguments(toolpacks: readonly Toolpack[], variables: ServiceVariables): readonly string[] {
  return [...variables].flatMap(([service, values]) =>
    Object.entries(values).flatMap(([name, value]) => [
      "--variable",
      `${toolpacks.length === 1 ? "" : `${service}/`}${name}=${value}`,
    ]),
  );
}

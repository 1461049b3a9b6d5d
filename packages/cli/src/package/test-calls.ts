/**
 * The calls of other tools that the tests of a chain or a program make. Calls of the operator wait for no
 * approval, so a package that nobody installed must not make them unasked, and a program must not write unasked.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import { SchemaValidator } from "@toolcrib/json";
import { type Manifest, reachOf, toolIdOfName } from "@toolcrib/mcpkg";
import { openInstalledPackage } from "@toolcrib/mcpkg-install";
import type { Tool } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { safeLine } from "../output/output.ts";
import { readInstalled } from "./installed-packages.ts";

/**
 * Refuses the tests of a chain or a Starlark program that is not installed.
 *
 * @throws {CliError} `CLI_TEST_CALLS_OTHERS` with the tools that it calls; no error for a package that calls none
 */
export async function refuseCalls(context: CliContext, manifest: Manifest): Promise<void> {
  refuseProgram(manifest);
  if (manifest.chain === undefined) return;
  const tools = await calledTools(context, manifest.chain);
  const list = tools.map(safeLine).join(", ");
  throw new CliError(
    "CLI_TEST_CALLS_OTHERS",
    `The chain ${manifest.toolId} is not installed, and its tests would call ${list} as you, without an approval`,
    {
      hint: "read its steps and tests, then add --allow-calls; or install it, and test it by its toolId",
      data: { tools },
    },
  );
}

function refuseProgram(manifest: Manifest): void {
  const tools = reachOf(manifest);
  if (tools.length === 0) return;
  const list = tools.map(safeLine).join(", ");
  throw new CliError(
    "CLI_TEST_CALLS_OTHERS",
    `The program ${manifest.toolId} is not installed, and its tests could call ${list} as you, without an approval`,
    {
      hint: "read its program and tests, then add --allow-calls; or install it, and test it by its toolId",
      data: { tools },
    },
  );
}

/**
 * Refuses the tests of a program that can call tools which are not known to only read.
 *
 * @param describe returns a tool of the gateway; one that does not exist cannot be called
 * @throws {CliError} `CLI_TEST_CALLS_OTHERS` with these tools
 */
export function refuseWriters(manifest: Manifest, describe: (id: string) => Tool | undefined): void {
  const tools = reachOf(manifest).filter((id) => {
    const tool = describe(id);
    return tool !== undefined && tool.definition.annotations?.readOnlyHint !== true;
  });
  if (tools.length === 0) return;
  throw new CliError(
    "CLI_TEST_CALLS_OTHERS",
    `The tests of ${manifest.toolId} make real calls, and its program can call tools that may write: ${tools.map(safeLine).join(", ")}`,
    { hint: "read its tests, then add --allow-calls", data: { tools } },
  );
}

/** Returns the tools that a chain calls, and those that the installed chains among them call, in the order of the calls. */
async function calledTools(
  context: CliContext,
  chain: NonNullable<Manifest["chain"]>,
): Promise<readonly string[]> {
  const { packages } = await readInstalled(context);
  const validator = new SchemaValidator();
  const called = new Set(chain.map(({ tool }) => tool));
  // A set can grow while it is iterated: steps that are chains have steps too.
  for (const name of called) {
    const id = toolIdOfName(
      name,
      packages.map(({ toolId }) => toolId),
    );
    const installed = packages.find(({ toolId }) => toolId === id);
    if (installed === undefined) continue;
    try {
      const { manifest } = openInstalledPackage(installed, validator);
      for (const { tool } of manifest.chain ?? []) called.add(tool);
    } catch (error) {
      // A package that changed on the disk cannot be called.
      if (!isCodedError(error)) throw error;
    }
  }
  return [...called];
}

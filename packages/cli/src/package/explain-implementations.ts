/** `toolcrib info TOOLID --why`: which implementation of an installed package runs here, and the reasons of each. */

import { randomBytes } from "node:crypto";
import { SchemaValidator } from "@toolcrib/json";
import { type Manifest, toolIdOfName } from "@toolcrib/mcpkg";
import { type InstalledPackage, openInstalledPackage } from "@toolcrib/mcpkg-install";
import { explainPackage, packageConfigOf, programSecretsOf } from "@toolcrib/mcpkg-runtime";
import type { CliContext } from "../cli-context.ts";
import { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { createSandboxes } from "../sandbox/create-sandboxes.ts";
import { installedPackage, readInstalled } from "./installed-packages.ts";

/** Runs the command. Fails where no implementation can run. */
export async function explainImplementations(context: CliContext, toolId: string): Promise<ExitCode> {
  const { output } = context;
  const hint = "--why explains installed packages; toolcrib info lists them";
  const installed = await installedPackage(context, toolId, hint);
  const { manifest } = openInstalledPackage(installed, new SchemaValidator());
  if (manifest.chain !== undefined) {
    const { packages } = await readInstalled(context);
    const toolIds = packages.map(({ toolId: id }) => id);
    const steps = manifest.chain.map(({ step, tool }) => {
      const called = toolIdOfName(tool, toolIds);
      const found = packages.find(({ toolId: id }) => id === called);
      return { step, tool, installed: found?.version ?? null };
    });
    output.json({ toolId, version: manifest.version, chain: steps });
    output.print(
      `${toolId} ${manifest.version} is a chain: its steps are calls of other tools, each with a choice of its own`,
      ...steps.map(({ step, tool, installed: found }) => {
        const state = found === null ? "no installed package" : `installed ${found}`;
        return `  ${safeLine(`${step}: ${tool}`)} (${state})`;
      }),
      `See the choice of a package: toolcrib${context.options.homeFlag} info TOOLID --why`,
    );
    return exitCodes.done;
  }
  const verdicts = await judgeInstalled(context, installed, manifest);
  const chosen = verdicts.find(({ isUsable }) => isUsable)?.candidate.id;
  const { config } = await loadConfigOrDefaults(context);
  const secrets = programSecretsOf(manifest, packageConfigOf(config, toolId));
  output.json({
    toolId,
    version: manifest.version,
    chosen: chosen ?? null,
    implementations: verdicts.map(({ candidate, isUsable, reasons, measured }) => ({
      id: candidate.id,
      isUsable,
      reasons,
      ...(measured === undefined ? {} : { measured }),
    })),
    ...(secrets === undefined ? {} : { secrets: secrets.message }),
  });
  output.print(
    chosen === undefined
      ? `${toolId} ${manifest.version}: no implementation runs here`
      : `${toolId} ${manifest.version} runs as ${output.style("bold", safeLine(chosen))}`,
    ...verdicts.flatMap(({ candidate, isUsable, reasons }) => [
      "",
      `${output.style(isUsable ? "green" : "red", isUsable ? "usable" : "not usable")} ${safeLine(candidate.id)}`,
      ...reasons.map((reason) => `  ${safeLine(reason)}`),
    ]),
    ...(secrets === undefined ? [] : ["", safeLine(secrets.message), `hint: ${safeLine(secrets.hint)}`]),
  );
  return chosen === undefined ? exitCodes.failed : exitCodes.done;
}

/** Judges the implementations of an installed package on this machine; none for a chain. */
export async function judgeInstalled(
  context: CliContext,
  installed: Pick<InstalledPackage, "folder" | "digest" | "approvedTools">,
  manifest: Manifest,
): Promise<Awaited<ReturnType<typeof explainPackage>>> {
  const { options, env, directory, wrap, now, signal } = context;
  const { config, files } = await loadConfigOrDefaults(context);
  const { platform, arch, execPath, versions } = process;
  return await explainPackage(
    { ...installed, manifest },
    {
      config,
      home: options.home,
      env,
      directory,
      wrap,
      now,
      logger: createCommandLogger(context, "silent"),
      randomBytes,
      sandboxes: createSandboxes(context),
      configFiles: files,
      policyFiles: () => config.policy.files.map(({ path }) => path),
      machine: { system: { platform, arch }, node: { command: execPath, version: versions.node } },
    },
    signal,
  );
}

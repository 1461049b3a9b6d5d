/** `toolcrib validate`, `toolcrib info` and `toolcrib verify`: say what a package is. They change nothing. */

import { formatDiagnostics } from "@toolcrib/diagnostics";
import {
  type Endpoint,
  type Manifest,
  packageReach,
  programsOf,
  reachOf,
  type SignatureState,
} from "@toolcrib/mcpkg";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { accessText } from "./access-text.ts";
import { type FoundPackage, readPackage, readValidPackage } from "./read-package.ts";

/** Runs `validate`. */
export async function validatePackage(context: CliContext, path: string): Promise<ExitCode> {
  const { output } = context;
  const read = await readPackage(context, path);
  const { diagnostics } = read;
  const isValid = "found" in read;
  const count = diagnostics.filter(({ severity }) => severity === "error").length;
  output.json({
    ok: isValid,
    ...(isValid ? { reach: reachOf(read.found.manifest) } : {}),
    diagnostics: diagnostics.map(toJsonDiagnostic),
  });
  if (!output.isJson && diagnostics.length > 0) {
    output.note(
      formatDiagnostics(diagnostics),
      "",
      `${count} error(s), ${diagnostics.length - count} warning(s)`,
    );
  }
  if (isValid) {
    const { manifest, tests, files } = read.found;
    output.print(
      `${manifest.toolId} ${manifest.version} is valid: ${counted(files.size, "file")}, ${counted(tests.size, "test")}, ${signatureLine(read.found.signature)}`,
      ...reachLines(manifest),
    );
  }
  return isValid ? exitCodes.done : exitCodes.failed;
}

/** Returns the line about the tools that the Starlark programs of a package can call; none without a program. */
function reachLines(manifest: Manifest): readonly string[] {
  if (programsOf(manifest).length === 0) return [];
  const reach = reachOf(manifest).map(safeLine);
  return [`Its program can call ${reach.length === 0 ? "no tool" : reach.join(", ")}`];
}

/** Runs `info` for a folder or an archive. */
export async function showPackage(context: CliContext, path: string): Promise<ExitCode> {
  const { found } = await readValidPackage(context, path);
  return printPackage(context, found);
}

/** Facts about an installed package beyond its files. */
export interface InstallFacts {
  /** Members of the JSON document. */
  readonly json: object;
  /** Titles and values. */
  readonly rows: readonly (readonly [title: string, value: string])[];
}

/** Prints a package. @param facts where it is installed */
export function printPackage(
  { output }: CliContext,
  found: FoundPackage["found"],
  facts: InstallFacts = { json: {}, rows: [] },
): ExitCode {
  const { manifest, files, tests, signature, digest } = found;
  output.json({
    manifest,
    reach: packageReach(manifest),
    digest,
    signature: toJson(signature),
    ...facts.json,
    files: [...files].map(([name, { bytes, isExecutable }]) => ({
      path: name,
      bytes: bytes.length,
      isExecutable,
    })),
    tests: [...tests].map(([name, test]) => ({ path: name, name: test.name })),
  });
  const { toolId, version, name, description, capabilities, meta = {}, auth } = manifest;
  const row = (title: string, value: string | undefined) =>
    value === undefined || value === ""
      ? []
      : [`${output.style("dim", title.padEnd(12))} ${safeLine(value)}`];
  output.print(
    output.style("bold", `${toolId} ${version}`),
    safeLine(name),
    safeLine(description),
    "",
    ...row("Capabilities", capabilities.join(", ")),
    ...row("Publisher", meta.publisher?.name ?? meta.publisher?.id),
    ...row("License", meta.license),
    ...row("Homepage", meta.homepage),
    ...row("Tags", meta.tags?.join(", ")),
    ...row("Auth", auth === undefined || auth.type === "none" ? undefined : auth.type),
    ...runsBy(manifest).flatMap(([title, value]) => row(title, value)),
    ...row("Reaches", accessText(packageReach(manifest))),
    ...row("Tests", String(tests.size)),
    ...row("Files", `${files.size}`),
    ...row("Signature", signatureLine(signature)),
    ...row("Digest", digest),
    ...facts.rows.flatMap(([title, value]) => row(title, value)),
  );
  return exitCodes.done;
}

function runsBy({ endpoint, implementations = [], chain = [] }: Manifest): [string, string][] {
  return [
    ...(endpoint === undefined ? [] : [["Endpoint", describeEndpoint(endpoint)] as [string, string]]),
    ...implementations.map(({ id, language, runtime, platforms, endpoint: own }): [string, string] => [
      "Runs as",
      `${id}: ${describeEndpoint(own)} (${[language, runtime, platforms?.join(" ") ?? "any platform"].filter(Boolean).join(", ")})`,
    ]),
    ...reachOf({ endpoint, implementations }).map((id): [string, string] => ["Can call", id]),
    ...chain.map(({ step, tool }): [string, string] => ["Step", `${step}: ${tool}`]),
  ];
}

function describeEndpoint(endpoint: Endpoint): string {
  switch (endpoint.type) {
    case "http":
      return `${endpoint.method} ${endpoint.url}`;
    case "local":
      return endpoint.command;
    case "starlark":
      return `Starlark program ${endpoint.source}`;
  }
}

/** Options of `verify`. */
export interface VerifyFlags {
  readonly keyId?: string;
}

/** Runs `verify`. */
export async function verifyPackage(
  context: CliContext,
  path: string,
  { keyId }: VerifyFlags,
): Promise<ExitCode> {
  const { output } = context;
  const { found } = await readValidPackage(context, path);
  const { signature, digest, manifest } = found;
  const isOther = keyId !== undefined && signature.kind === "signed" && signature.keyId !== keyId;
  const ok = signature.kind === "signed" && !isOther;
  output.json({
    ok,
    toolId: manifest.toolId,
    version: manifest.version,
    digest,
    signature: toJson(signature),
  });
  if (isOther) {
    output.print(`${safeLine(path)} is ${signatureLine(signature)}, and not by ${safeLine(keyId)}`);
  } else {
    output.print(`${safeLine(path)} is ${signatureLine(signature)}`);
    if (ok && keyId === undefined) {
      output.print("Compare the key with the one that the publisher states, or pass it with --key-id");
    }
  }
  return ok ? exitCodes.done : exitCodes.failed;
}

function signatureLine(signature: SignatureState): string {
  switch (signature.kind) {
    case "unsigned":
      return "not signed";
    case "unknown-scheme":
      return "not signed: its signature is of a scheme that is not known";
    case "signed":
      return `signed by ${signature.keyId}`;
  }
}

function toJson(signature: SignatureState) {
  return signature.kind === "signed" ? { kind: "signed", keyId: signature.keyId } : signature;
}

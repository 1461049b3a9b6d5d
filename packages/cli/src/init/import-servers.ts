/**
 * Converts the servers of another program's file to entries of `tool_servers`. It
 * never copies a credential: each becomes a `secret_key_ref` with instructions for
 * storing it. A server with a credential where no reference is possible (an
 * argument, a URL) is not imported.
 *
 * Variables of the file (`${NAME}`, `${workspaceFolder}`) become references if they
 * contain secrets, otherwise their current values.
 */

import { basename, dirname, resolve } from "node:path";
import {
  type ConfigText,
  parseConfigLayer,
  type ServerDeclaration,
  type TemplatePart,
} from "@toolcrib/config";
import { type Diagnostic, hasErrors } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import { CliError } from "../cli-error.ts";
import { shortPath } from "../config/find-config-files.ts";
import { safeLine } from "../output/output.ts";
import { yamlComment, yamlList, yamlText } from "./yaml-text.ts";

/** A secret that the user must store. */
export interface WantedSecret {
  /** Name in `secret_key_ref`, or of the environment variable. */
  readonly name: string;
  readonly kind: "named" | "env";
  /** Its purpose, such as `variable GITHUB_TOKEN of github`. */
  readonly purpose: string;
}

/** The result of an import. */
export interface ImportedServers {
  /** Ids of the imported servers. */
  readonly ids: readonly string[];
  /** Lines of YAML below `tool_servers:`. */
  readonly lines: readonly string[];
  readonly secrets: readonly WantedSecret[];
  /** Servers that were not imported, and the reasons. */
  readonly leftOut: readonly { readonly id: string; readonly reason: string }[];
  /** Warnings of the parser. */
  readonly warnings: readonly Diagnostic[];
}

/** Largest file, in bytes. */
const fileMaxBytes = 1024 * 1024;

/**
 * Imports the servers of the file at `path`.
 *
 * @param folder folder of the new configuration.
 * @throws {CliError} `CLI_IMPORT_FAILED`, with the findings when the file has errors.
 */
export async function importServers(
  path: string,
  folder: string,
  env: { readonly [name: string]: string | undefined },
): Promise<ImportedServers> {
  const layer = parseConfigLayer({ name: path, text: await readText(path) });
  if (hasErrors(layer.diagnostics)) {
    throw new CliError("CLI_IMPORT_FAILED", `Cannot import ${path}: it has errors`, {
      data: { diagnostics: layer.diagnostics },
    });
  }
  if (Object.keys(layer.sections).length > 0) {
    throw new CliError("CLI_IMPORT_FAILED", `Cannot import ${path}: it already is a Toolcrib configuration`, {
      hint: `use it directly: --config ${path}`,
    });
  }
  if (layer.servers.length === 0) {
    throw new CliError("CLI_IMPORT_FAILED", `Cannot import ${path}: it contains no servers`, {
      hint: "choose a file with mcpServers, such as .mcp.json, or with the servers of VS Code",
    });
  }
  const lines: string[] = [];
  const ids: string[] = [];
  const secrets: WantedSecret[] = [];
  const leftOut: { id: string; reason: string }[] = [];
  for (const server of layer.servers) {
    const writer = new ServerWriter(server, { path, folder }, env);
    const written = writer.write();
    if ("reason" in written) leftOut.push({ id: server.id, reason: written.reason });
    else {
      ids.push(server.id);
      lines.push(...written.lines);
      secrets.push(...written.secrets);
    }
  }
  if (ids.length === 0) {
    const reasons = leftOut.map(({ id, reason }) => `${id}: ${reason}`).join("; ");
    throw new CliError(
      "CLI_IMPORT_FAILED",
      `Cannot import ${path}: none of its servers can be imported (${reasons})`,
    );
  }
  const problems = new Set(layer.servers.flatMap((server) => server.problems.map(({ message }) => message)));
  return {
    ids,
    lines,
    secrets,
    leftOut,
    warnings: layer.diagnostics.filter(({ code, message }) => !isFixed.has(code) && !problems.has(message)),
  };
}

/** Warnings about problems that an import fixes. */
const isFixed: ReadonlySet<string> = new Set(["CONFIG_INLINE_SECRET", "CONFIG_ID_NORMALIZED"]);

async function readText(path: string): Promise<string> {
  try {
    const { bytes } = await readRegularFile(path, fileMaxBytes);
    if (bytes.length <= fileMaxBytes) return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    const reason =
      (cause as NodeJS.ErrnoException).code === "ENOENT" ? "the file does not exist" : "it cannot be read";
    throw new CliError("CLI_IMPORT_FAILED", `Cannot import ${path}: ${reason}`, { cause });
  }
  throw new CliError("CLI_IMPORT_FAILED", `Cannot import ${path}: it is longer than ${fileMaxBytes} bytes`);
}

type Written =
  | { readonly lines: readonly string[]; readonly secrets: readonly WantedSecret[] }
  | { readonly reason: string };

/** Writes one server as an entry of `tool_servers`. */
class ServerWriter {
  readonly #server: ServerDeclaration;
  readonly #place: { readonly path: string; readonly folder: string };
  readonly #env: { readonly [name: string]: string | undefined };
  readonly #lines: string[] = [];
  readonly #secrets: WantedSecret[] = [];
  /** Why the server is not imported. */
  #reason: string | undefined;

  /** @param place the imported file, and the folder of the new configuration */
  constructor(
    server: ServerDeclaration,
    place: { readonly path: string; readonly folder: string },
    env: { readonly [name: string]: string | undefined },
  ) {
    this.#server = server;
    this.#place = place;
    this.#env = env;
    this.#reason = server.problems[0]?.message;
  }

  write(): Written {
    const { id, name, description, transport } = this.#server;
    const lines = this.#lines;
    lines.push(`  - id: ${yamlText(id)}`);
    if (name !== undefined && name !== id) lines.push(`    name: ${yamlText(name)}`);
    if (description !== undefined) lines.push(`    description: ${yamlText(description)}`);
    lines.push("    transport:", `      kind: ${transport.kind}`);
    if (transport.kind === "stdio") {
      lines.push(`      command: ${yamlText(this.#plain(transport.command, "the command"))}`);
      const args = transport.args.map((text, at) => this.#plain(text, `argument ${at + 1}`));
      if (args.length > 0) lines.push(`      args: ${yamlList(args)}`);
      if (transport.cwd !== undefined) {
        const { path, folder } = this.#place;
        const cwd = resolve(workspaceOf(path), this.#plain(transport.cwd, "the working folder"));
        lines.push(`      cwd: ${yamlText(cwd === folder ? "." : shortPath(cwd, folder))}`);
      }
      this.#writeEntries("env", transport.env);
    } else {
      lines.push(`      url: ${yamlText(this.#plain(transport.url, "the URL"))}`);
      this.#writeEntries("headers", transport.headers);
    }
    if (this.#reason !== undefined) return { reason: safeLine(this.#reason) };
    return { lines, secrets: this.#secrets };
  }

  #leaveOut(why: string): string {
    this.#reason ??= why;
    return "";
  }

  /** Returns a text where a reference to a secret is not possible. */
  #plain(text: ConfigText, what: string): string {
    if (text.kind === "secret" || text.isSecret) {
      return this.#leaveOut(`${what} contains a credential that other users of the machine could read`);
    }
    if (text.kind === "literal") return text.text;
    return text.parts.map((part) => this.#fillPart(part, what)).join("");
  }

  #fillPart(part: TemplatePart, what: string): string {
    if (typeof part === "string") return part;
    if ("folder" in part) return workspaceOf(this.#place.path);
    const value = this.#env[part.variable];
    const filled = value === undefined || value === "" ? part.fallback : value;
    return (
      filled ?? this.#leaveOut(`${what} needs the environment variable ${part.variable}, which is not set`)
    );
  }

  /** Returns the value of a variable or header: a literal, or a reference to a secret. */
  #entry(name: string, text: ConfigText, role: "variable" | "header"): string {
    const purpose = `${role} ${name} of ${this.#server.id}`;
    if (text.kind === "template") {
      const reference = referenceOf(text.parts);
      if (reference !== undefined && (text.isSecret || role === "header")) {
        this.#secrets.push({ kind: "env", name: reference.variable, purpose });
        return secretMap(`{ env: ${reference.variable} }`, reference.prefix);
      }
      if (text.isSecret) {
        this.#leaveOut(`${role} ${name} combines a credential from several parts`);
        return "";
      }
    } else if (text.kind === "literal" && text.isSecret) {
      const secret = `${this.#server.id}-${name}`
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-+|-+$/g, "");
      this.#secrets.push({ kind: "named", name: secret, purpose });
      const prefix =
        role === "header" ? (/^(?:Bearer|Basic|Token|ApiKey)\s+(?=\S)/i.exec(text.text)?.[0] ?? "") : "";
      return secretMap(secret, prefix);
    }
    return yamlText(this.#plain(text, `${role} ${name}`));
  }

  #writeEntries(field: "env" | "headers", texts: { readonly [name: string]: ConfigText }): void {
    const names = Object.entries(texts);
    if (names.length === 0) return;
    this.#lines.push(`      ${field}:`);
    for (const [name, text] of names) {
      const value = this.#entry(name, text, field === "env" ? "variable" : "header");
      this.#lines.push(`        ${yamlText(name)}: ${value}`);
    }
  }
}

/** Returns the parts of a template that consists of a prefix and one environment variable. */
function referenceOf(
  parts: readonly TemplatePart[],
): { readonly prefix: string; readonly variable: string } | undefined {
  const [first, second] = parts.length === 2 ? parts : ["", parts[0]];
  const isReference =
    parts.length <= 2 && typeof first === "string" && typeof second === "object" && "variable" in second;
  return isReference ? { prefix: first, variable: second.variable } : undefined;
}

function secretMap(reference: string, prefix: string): string {
  return prefix === ""
    ? `{ secret_key_ref: ${reference} }`
    : `{ prefix: ${JSON.stringify(prefix)}, secret_key_ref: ${reference} }`;
}

/** Returns the project folder of a file: its own folder, or the parent of an editor's settings folder. */
function workspaceOf(path: string): string {
  const folder = dirname(resolve(path));
  return [".vscode", ".cursor"].includes(basename(folder)) ? dirname(folder) : folder;
}

/** Returns comments about servers that were not imported, for the new file. */
export function leftOutComments({ leftOut }: ImportedServers): string[] {
  return leftOut.flatMap(({ id, reason }) => yamlComment(`Not imported: ${id}. ${reason}`, "  "));
}

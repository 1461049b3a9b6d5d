/**
 * Recognizes what `toolcrib add` is to add, from the word alone. A word that could be several things is none of them:
 * the caller names the unambiguous forms. Pure but for the question whether a path exists.
 */

import type { WantedPackage } from "@toolcrib/runners";
import { CliError } from "../cli-error.ts";
import { shownUrl } from "../server-import/shown-entry.ts";

/** A thing that can be added, as a word names it. */
export type Addable =
  /** A name or words of the catalog, and nothing else. */
  | { readonly kind: "catalog"; readonly text: string }
  /** A word that the catalog may have; otherwise it could be in any registry. */
  | { readonly kind: "word"; readonly text: string }
  /** The manifest of a server that is adopted. */
  | { readonly kind: "manifest"; readonly path: string }
  /** A tool package: a file, folder, URL, or TOOLID of a registry of packages. */
  | { readonly kind: "toolPackage"; readonly source: string }
  /** A `server.json` of the MCP registry. */
  | { readonly kind: "serverJson"; readonly place: string }
  /** A bundle of a server (`.mcpb`). */
  | { readonly kind: "bundle"; readonly place: string }
  | { readonly kind: "package"; readonly wanted: WantedPackage }
  | { readonly kind: "url"; readonly url: URL };

/** Characters of a word. */
const wordMaxLength = 4096;

/**
 * Recognizes `word`.
 *
 * @param kindOfPath whether a path exists, and what it is
 * @throws {CliError} `CLI_USAGE` for a form that is none of those
 */
export function recognise(
  word: string,
  kindOfPath: (path: string) => "file" | "folder" | undefined,
): Addable {
  const text = word.trim();
  if (text.length > wordMaxLength) throw usage(`What to add has more than ${wordMaxLength} characters`);
  const [, prefix, rest = ""] = /^(npm|pypi|go|catalog|mcpkg):(.*)$/s.exec(text) ?? [];
  if (prefix === "catalog") return { kind: "catalog", text: rest };
  if (prefix === "mcpkg") return { kind: "toolPackage", source: rest };
  if (prefix !== undefined) return { kind: "package", wanted: readPackage(prefix as Registry, rest) };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return recogniseUrl(text);
  const file = recogniseFile(text, kindOfPath(text));
  if (file !== undefined) return file;
  if (/^@[\w.~-]+\/[\w.~-]+(@.*)?$/.test(text)) return { kind: "package", wanted: readPackage("npm", text) };
  if (/^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:\/[\w.~-]+)+(@.*)?$/i.test(text))
    return { kind: "package", wanted: readPackage("go", text) };
  return { kind: "word", text };
}

/** The forms that name `word` in a registry, for hints. */
export function unambiguousForms(word: string): readonly string[] {
  const text = word.trim();
  if (!/^[A-Za-z0-9][\w.-]*(?:@[\w.+-]+)?$/.test(text)) return [];
  return [`npm:${text}`, `pypi:${text}`, ...(/^[a-z][\w-]*\.[\w.-]+/.test(text) ? [`mcpkg:${text}`] : [])];
}

function recogniseUrl(text: string): Addable {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw usage(`"${shownUrl(text).slice(0, 200)}" is not an http or https URL`);
  if (url.username !== "" || url.password !== "") {
    throw usage(
      "The URL contains a user or a password, which other programs and logs could read",
      "leave it out, and send a stored secret in a header: --secret Authorization=NAME",
    );
  }
  const name = url.pathname.toLowerCase();
  if (name.endsWith(".mcpkg")) return { kind: "toolPackage", source: text };
  if (name.endsWith(".mcpb")) return { kind: "bundle", place: text };
  if (name.endsWith(".json")) return { kind: "serverJson", place: text };
  return { kind: "url", url };
}

function recogniseFile(text: string, found: "file" | "folder" | undefined): Addable | undefined {
  const [, extension = ""] = /\.(mcpkg|mcpb|json|ya?ml)$/i.exec(text) ?? [];
  const isPath = /^(?:\.{0,2}|~)[\\/]/.test(text) || /^[A-Za-z]:\\/.test(text);
  if (found === "folder" && isPath) return { kind: "toolPackage", source: text };
  if (found === undefined && !isPath) return undefined;
  const isNamed = isPath || found === "file";
  if (!isNamed) return undefined;
  switch (extension.toLowerCase()) {
    case "mcpkg":
      return { kind: "toolPackage", source: text };
    case "mcpb":
      return { kind: "bundle", place: text };
    case "json":
      return { kind: "serverJson", place: text };
    case "yaml":
    case "yml":
      return { kind: "manifest", path: isPath ? text : `./${text}` };
    default:
      if (!isPath) return undefined;
      if (found === undefined) throw usage(`"${text}" does not exist`);
      throw usage(
        `"${text}" is a file of another kind than those that can be added`,
        `a program is added by its command line: toolcrib add -- ${text}; files are .mcpkg, .mcpb, server.json and manifests (.yaml)`,
      );
  }
}

type Registry = "npm" | "pypi" | "go";

const forms: { readonly [registry in Registry]: { readonly pattern: RegExp; readonly shown: string } } = {
  npm: {
    pattern: /^((?:@[\w.~-]+\/)?[\w~][\w.~-]*)(?:@([\w.^~<>=|*+ -]+))?$/,
    shown: "npm:NAME or npm:NAME@VERSION",
  },
  pypi: {
    pattern: /^([A-Za-z0-9][\w.-]*(?:\[[\w.,-]*\])?)(?:(?:@|==)([\w.+!-]+))?$/,
    shown: "pypi:NAME or pypi:NAME@VERSION",
  },
  go: {
    pattern: /^(\w[\w.~-]*(?:\/[\w.~-]+)+)(?:@([\w.+-]+))?$/,
    shown: "go:example.com/module or go:example.com/module@v1.2.3",
  },
};

function readPackage(registry: Registry, text: string): WantedPackage {
  const { pattern, shown } = forms[registry];
  const [, name, version] = pattern.exec(text) ?? [];
  if (name === undefined)
    throw usage(`"${text.slice(0, 200)}" is not the name of a package`, `write ${shown}`);
  const kind = registry === "pypi" ? "python" : registry;
  return { kind, name, version: version === "latest" ? undefined : version };
}

function usage(message: string, hint = "see toolcrib add --help"): CliError {
  return new CliError("CLI_USAGE", message, { hint });
}

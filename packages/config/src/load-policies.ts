/**
 * Reads the files that `policy.files` names, and checks their policies. A file that
 * cannot be read is reported at its entry, a faulty policy at its place in its file.
 */

import { join } from "node:path";
import {
  clientIdOf,
  findLockedOut,
  findUnmatchedNames,
  type PolicyFile,
  parsePolicies,
  readPolicyFile,
} from "@toolcrib/cedar";
import { type Diagnostic, hasErrors } from "@toolcrib/diagnostics";
import { nodeAt, stringOf, toDiagnostic } from "@toolcrib/document";
import type { ReadFile } from "@toolcrib/files";
import { explainFileFailure } from "@toolcrib/secrets";
import type { ConfigLayer } from "./config-layer.ts";
import { quote } from "./display-source.ts";

/** Dependencies of reading policy files. */
export interface LoadPoliciesDeps {
  readonly readFile: ReadFile;
  /** The folder that replaces `~/`. @default none: such paths are not found */
  readonly userDirectory?: string | undefined;
  /** Returns the names of the existing tokens. @default not known: no warnings about clients */
  readonly tokenNames?: (() => readonly string[]) | undefined;
  /** Name of the token that the gateway creates and gives out when it starts, where it accepts tokens. @default none */
  readonly createdTokenName?: string | undefined;
  /** Returns the ids (in policies) of clients that made calls lately. @default not known */
  readonly recentClients?: (() => Promise<readonly string[]>) | undefined;
  /** Returns the names of the tools that tool servers listed last, by their ids. @default not known */
  readonly listedTools?: (() => Promise<ReadonlyMap<string, readonly string[]>>) | undefined;
}

/** Policy files that were read, by their paths in the sections of layers, and all findings about them. */
export interface LoadedPolicies {
  readonly files: ReadonlyMap<string, PolicyFile>;
  readonly diagnostics: readonly Diagnostic[];
}

/** Servers of Toolcrib's own and of saved tools in policies. */
const ownServers: readonly string[] = ["toolcrib", "saved"];

/** The program that embeds Toolcrib: no client of a gateway that a command starts. */
const embedding = "library";
/** Clients without a token, and those of the token that `serve` creates and of `TOOLCRIB_TOKEN`. */
const ownClients: readonly string[] = ["cli", "stdio", embedding, "anonymous", "default", "env"];

/** Reads and checks the policy files of `layers`. */
export async function loadPolicyFiles(
  layers: readonly ConfigLayer[],
  deps: LoadPoliciesDeps,
): Promise<LoadedPolicies> {
  const files = new Map<string, PolicyFile>();
  const diagnostics: Diagnostic[] = [];
  for (const layer of layers) {
    for (const [index, path] of (layer.sections.policy?.files ?? []).entries()) {
      if (files.has(path)) continue;
      const node = nodeAt(layer.tree, ["policy", "files", index]);
      const written = stringOf(node) ?? path;
      const complete = /^~[\\/]/.test(path) ? join(deps.userDirectory ?? "~", path.slice(2)) : path;
      const name = written === path ? path : join(layer.source.name, "..", written);
      try {
        files.set(path, { path: complete, name, text: await readPolicyFile(complete, deps.readFile) });
      } catch (error) {
        const problem = {
          code: "CONFIG_POLICY_UNREADABLE",
          message: `Cannot read the policy file ${quote(written)}: ${explainFileFailure(error)}`,
          hint: "check the path, and that the user who runs Toolcrib can read the file",
          span: node?.span,
          path: `policy.files[${index}]`,
        };
        diagnostics.push(toDiagnostic(problem, layer.source));
      }
    }
  }
  const sources = files.values().map(({ name, text = "" }) => ({ name, text }));
  const parsed = await parsePolicies([...sources]);
  const ids = layers.flatMap(({ serverIds, toolspecIds }) =>
    [...serverIds, ...toolspecIds].map(({ id }) => id),
  );
  const entries = layers.flatMap(({ sections }) => Object.entries(sections.policy?.clients ?? {}));
  const tokens = deps.tokenNames?.();
  const auth = layers.findLast(({ sections }) => sections.serve?.auth !== undefined)?.sections.serve?.auth;
  const acceptsTokens = auth !== "none" && (typeof auth !== "object" || auth.tokens !== false);
  const createdToken = acceptsTokens ? deps.createdTokenName : undefined;
  const known = {
    servers: [...ids, ...ownServers],
    roles: [...entries.flatMap(([, { roles = [] }]) => roles), "operator", "admin", "viewer"],
    clients: tokens === undefined ? undefined : [...tokens, ...entries.map(([name]) => name), ...ownClients],
    labels: dataLabelsOf(layers),
    toolsOf: await knownToolsOf(layers, deps),
  };
  const unmatched = parsed.value === undefined ? [] : findUnmatchedNames(parsed.value, known);
  const lockedOut =
    parsed.value === undefined || files.size === 0
      ? []
      : await findLockedOut(parsed.value, await existingClients(entries, tokens, createdToken, deps));
  return { files, diagnostics: [...diagnostics, ...parsed.diagnostics, ...unmatched, ...lockedOut] };
}

/** The labels of the data of all sources; undefined where a file has errors, so that not all are known. */
function dataLabelsOf(layers: readonly ConfigLayer[]): readonly string[] | undefined {
  if (layers.some(({ diagnostics }) => hasErrors(diagnostics))) return undefined;
  return layers.flatMap(({ servers, toolspecs }) =>
    [...servers, ...toolspecs].flatMap(({ dataLabels }) => dataLabels),
  );
}

/** The tools of toolspecs, and those that tool servers listed last. */
async function knownToolsOf(
  layers: readonly ConfigLayer[],
  { listedTools }: LoadPoliciesDeps,
): Promise<(server: string) => readonly string[] | undefined> {
  const toolspecs = layers
    .flatMap((layer) => layer.toolspecs)
    .flatMap(({ id, pair }) =>
      pair === undefined ? [] : [[id, pair.toolspec.tools.map(({ name }) => name)] as const],
    );
  const tools = new Map([...((await listedTools?.()) ?? []), ...toolspecs]);
  return (server) => tools.get(server);
}

/** The settings of a client that are needed here. */
interface ClientSettings {
  readonly identity?: { readonly issuer: string; readonly subject: string } | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly labels?: { readonly [name: string]: string } | undefined;
}

/** The clients with a token, the one whose token is created, those of the configuration, and those that made calls lately. */
async function existingClients(
  entries: readonly (readonly [string, ClientSettings])[],
  tokens: readonly string[] | undefined,
  createdToken: string | undefined,
  { recentClients }: LoadPoliciesDeps,
): Promise<Parameters<typeof findLockedOut>[1]> {
  const idOf = (name: string, { identity }: ClientSettings) =>
    identity === undefined ? name : clientIdOf(identity);
  const clients = new Map<string, string>();
  const add = (ids: readonly string[], known: (id: string) => string) => {
    for (const id of ids) if (!clients.has(id)) clients.set(id, known(id));
  };
  add(tokens ?? [], () => "it has a token");
  if (createdToken !== undefined) add([createdToken], () => "toolcrib serve creates and prints its token");
  const others =
    tokens === undefined
      ? entries
      : entries.filter(([name, { identity }]) => name !== embedding || identity !== undefined);
  for (const [name, settings] of others) add([idOf(name, settings)], () => `policy.clients.${name}`);
  add((await recentClients?.()) ?? [], () => "it made calls within the last day");
  return [...clients].map(([id, known]) => {
    const own = entries.filter(([name, settings]) => idOf(name, settings) === id);
    return {
      id,
      known,
      roles: own.flatMap(([, { roles = [] }]) => roles),
      labels: Object.assign({}, ...own.map(([, { labels }]) => labels)),
    };
  });
}

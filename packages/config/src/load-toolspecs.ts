/**
 * Reads the files that the `toolspecs` and `egress` of a layer name, lints them,
 * and checks the entries against them. Findings about a file point into that
 * file, findings about an entry point into the configuration. Reads no other
 * file, and no secret.
 */

import { hash } from "node:crypto";
import { join } from "node:path";
import { type Diagnostic, hasErrors } from "@toolcrib/diagnostics";
import { fieldOf, nodeAt, type Problem, toDiagnostic } from "@toolcrib/document";
import { type ReadFile, readCertificateFile } from "@toolcrib/files";
import { explainFileFailure } from "@toolcrib/secrets";
import { lintCatalog } from "@toolcrib/toolspec";
import type { ConfigLayer, ToolspecDeclaration } from "./config-layer.ts";
import type { ToolspecPair } from "./config-types.ts";
import { quote } from "./display-source.ts";
import { toCompletePath } from "./egress-shape.ts";
import { lintToolspecEntry } from "./lint-toolspec-entry.ts";
import { loadAdopted } from "./load-adopted.ts";
import { openPairCache, type PairCache, pairKeyOf, type ValidPair } from "./pair-cache.ts";
import {
  type PairFiles,
  type PairProblem,
  readCatalogPair,
  readPairAt,
  type ToolspecFilesDeps,
} from "./toolspec-files.ts";

/** Dependencies of reading the files of a layer. */
export interface LoadToolspecsDeps extends ToolspecFilesDeps {
  /** Cache of valid pairs, and the version of this program. @default no cache */
  readonly pairCache?:
    | {
        readonly folder: string;
        readonly version: () => string;
        /** Reads the file of the cache, which decides nothing about the configuration. */
        readonly readFile: ReadFile;
        /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
        readonly randomBytes: (count: number) => Uint8Array;
        /** Receives the function that writes the cache, and calls it later. @default it is written before the load ends */
        readonly writeLater?: ((write: () => Promise<void>) => void) | undefined;
      }
    | undefined;
  /** Called before more than a few pairs are linted, which takes longer than all else; its result is disposed of after. @default nothing */
  readonly lintsMany?: (() => Disposable) | undefined;
  /** Whether an adopted server whose credentials have no secret is an error; without it, it can list its tools. @default true */
  readonly needsSecrets?: boolean | undefined;
  /** The folder that replaces `~/`. @default none: such paths are not found */
  readonly userDirectory?: string | undefined;
}

/** Pairs that are linted before `lintsMany` is called. */
const fewPairs = 10;

/** Reads each pair once, also when several entries name it. */
type PairReader = (declaration: ToolspecDeclaration) => Promise<PairReading>;

/** A pair, or the reason why it is missing, with all findings about its files. */
interface PairReading {
  readonly pair: ToolspecPair | undefined;
  readonly digest: string | undefined;
  /** Findings about the files. */
  readonly diagnostics: readonly Diagnostic[];
  /** The problem to report at the entry. */
  readonly problem: PairProblem | undefined;
}

/** Layers whose files were read. */
export interface LoadedLayers {
  readonly layers: readonly ConfigLayer[];
  /** Contents of the certificate files, by complete path. */
  readonly certificates: ReadonlyMap<string, string>;
}

/** Reads the files that `parsed` name: manifests and toolspecs, which are checked against their entries, and certificates. */
export async function loadFilesOf(
  parsed: readonly ConfigLayer[],
  deps: LoadToolspecsDeps,
): Promise<LoadedLayers> {
  const { pairCache } = deps;
  const cache =
    pairCache === undefined
      ? undefined
      : await openPairCache(pairCache.folder, pairCache.version(), {
          readFile: pairCache.readFile,
          randomBytes: pairCache.randomBytes,
        });
  using linting = new Linting(deps.lintsMany);
  const readPairOf = createPairReader(deps, cache, linting);
  const loaded = await Promise.all(parsed.map((layer) => loadLayerFiles(layer, readPairOf, deps)));
  if (cache !== undefined && pairCache?.writeLater !== undefined) pairCache.writeLater(() => cache.save());
  else await cache?.save();
  const adoptedDeps = {
    ...deps,
    pathFrom: (path: string, fileName: string) => pathFrom(path, fileName, deps),
  };
  return {
    layers: await Promise.all(loaded.map(({ layer }) => loadAdopted(layer, adoptedDeps))),
    certificates: new Map(loaded.flatMap((one) => [...one.certificates])),
  };
}

/** Lints pairs, and reports when they are many. */
class Linting implements Disposable {
  readonly #lintsMany: LoadToolspecsDeps["lintsMany"];
  #count = 0;
  #many: Disposable | undefined;

  constructor(lintsMany: LoadToolspecsDeps["lintsMany"]) {
    this.#lintsMany = lintsMany;
  }

  lint({ manifest, toolspec }: PairFiles): ReturnType<typeof lintCatalog> {
    this.#count += 1;
    if (this.#count > fewPairs) this.#many ??= this.#lintsMany?.();
    return lintCatalog([manifest, toolspec], { subject: "toolspecs" });
  }

  [Symbol.dispose](): void {
    this.#many?.[Symbol.dispose]();
  }
}

/** Creates a reader of pairs for one configuration. */
function createPairReader(
  deps: LoadToolspecsDeps,
  cache: PairCache | undefined,
  linting: Linting,
): PairReader {
  const known = new Map<string, Promise<PairReading>>();
  return ({ reference, source }) => {
    const path = reference.kind === "path" ? pathFrom(reference.path, source.name, deps) : undefined;
    const key = JSON.stringify(
      reference.kind === "path" ? [path] : [reference.name, reference.version ?? ""],
    );
    let reading = known.get(key);
    if (reading === undefined) {
      reading = readPair(
        reference.kind === "path"
          ? readPairAt(path as string, deps)
          : readCatalogPair(reference.name, reference.version, deps),
        cache,
        linting,
      );
      known.set(key, reading);
    }
    return reading;
  };
}

/** Returns `path` relative to the folder from which the configuration was named, so that the operator recognizes it. */
function pathFrom(path: string, fileName: string, { userDirectory }: LoadToolspecsDeps): string {
  if (/^~[\\/]/.test(path) && userDirectory !== undefined) return join(userDirectory, path.slice(2));
  const complete = toCompletePath(path, fileName);
  return complete === path ? path : join(fileName, "..", path);
}

async function readPair(
  finding: Promise<PairFiles | PairProblem>,
  cache: PairCache | undefined,
  linting: Linting,
): Promise<PairReading> {
  let found: PairFiles | PairProblem;
  try {
    found = await finding;
  } catch (error) {
    const message = `Cannot read the toolspec: ${explainFileFailure(error)}`;
    found = { code: "CONFIG_TOOLSPEC_UNREADABLE", message, hint: "check the permissions of its files" };
  }
  if ("code" in found) return { pair: undefined, digest: undefined, diagnostics: [], problem: found };
  const digest = digestOf(found);
  const key = cache === undefined ? "" : pairKeyOf(found, digest);
  const known = cache?.get(key);
  if (known !== undefined) {
    return { pair: toPair(known, found), digest, diagnostics: [], problem: undefined };
  }
  const { toolspec } = found;
  const { diagnostics, pairs } = linting.lint(found);
  const [valid] = pairs;
  if (valid === undefined || hasErrors(diagnostics)) {
    const count = diagnostics.filter(({ severity }) => severity === "error").length;
    const message = `Cannot use ${quote(toolspec.name)}: the toolspec and its manifest have ${count === 1 ? "an error" : `${count} errors`}`;
    const problem = {
      code: "CONFIG_TOOLSPEC_INVALID",
      message,
      hint: "fix the errors listed for these files",
    };
    return { pair: undefined, digest: undefined, diagnostics, problem };
  }
  if (diagnostics.length === 0) cache?.put(key, { manifest: valid.manifest, toolspec: valid.toolspec });
  return { pair: toPair(valid, found), digest, diagnostics, problem: undefined };
}

function digestOf({ manifest, toolspec }: PairFiles): string {
  return `sha256:${hash("sha256", Buffer.concat([manifest.text, Buffer.from([0]), toolspec.text]), "hex")}`;
}

function toPair({ manifest, toolspec }: ValidPair, files: PairFiles): ToolspecPair {
  return { manifest, toolspec, manifestFile: files.manifest.name, toolspecFile: files.toolspec.name };
}

/** A layer whose files were read. */
interface LoadedLayer {
  readonly layer: ConfigLayer;
  /** Contents of the certificate files, by complete path. */
  readonly certificates: ReadonlyMap<string, string>;
}

/** Reads the files that `layer` names. */
async function loadLayerFiles(
  layer: ConfigLayer,
  readPairOf: PairReader,
  deps: LoadToolspecsDeps,
): Promise<LoadedLayer> {
  const diagnostics: Diagnostic[] = [];
  const report = (problem: Problem): void => void diagnostics.push(toDiagnostic(problem, layer.source));
  // Invalid entries are not in the layer, but they count for the index in the file.
  const written = nodeAt(layer.tree, ["toolspecs"]);
  const nodes = written?.kind === "list" ? written.items : [];
  const indexes = new Map(nodes.map((node, index) => [node, index]));
  const toolspecs = await Promise.all(
    layer.toolspecs.map(async (declaration) => {
      const reading = await readPairOf(declaration);
      const at = `toolspecs[${indexes.get(declaration.node)}]`;
      diagnostics.push(...reading.diagnostics);
      if (reading.problem !== undefined) {
        const { node } = declaration;
        const field = fieldOf(node, "path") ?? fieldOf(node, "version") ?? fieldOf(node, "name") ?? node;
        report({ ...reading.problem, span: field.span, path: at });
      }
      const { pair, digest } = reading;
      if (pair === undefined) return declaration;
      const id = declaration.isIdGiven ? declaration.id : pair.manifest.name;
      const completed = { ...declaration, id, pair, pairDigest: digest };
      lintToolspecEntry(completed, pair, (problem) =>
        report({ ...problem, path: `${at}${problem.path ?? ""}` }),
      );
      return completed;
    }),
  );
  const certificates = await readCertificates(layer, deps, report);
  return {
    layer: {
      ...layer,
      toolspecs,
      toolspecIds: [...layer.toolspecIds, ...toolspecs.filter(isNamedByManifest)],
      diagnostics: [...layer.diagnostics, ...diagnostics],
    },
    certificates,
  };
}

/** Whether the id of an entry comes from its manifest. */
function isNamedByManifest({ isIdGiven, reference, pair }: ToolspecDeclaration): boolean {
  return !isIdGiven && reference.kind === "path" && pair !== undefined;
}

async function readCertificates(
  layer: ConfigLayer,
  deps: LoadToolspecsDeps,
  report: (problem: Problem) => void,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const [index, path] of (layer.sections.egress?.ca_files ?? []).entries()) {
    const place = ["egress", "ca_files", index] as const;
    const at = { span: nodeAt(layer.tree, place)?.span, path: `egress.ca_files[${index}]` };
    const hint = "name a file with certificates in PEM (-----BEGIN CERTIFICATE-----)";
    const file = await readCertificateFile(pathFrom(path, layer.source.name, deps), deps.readFile);
    if (file.kind === "read") texts.set(path, file.pem);
    else {
      const message = `Cannot use ${quote(path)}: ${file.reason}`;
      report({ code: "CONFIG_CA_FILE_INVALID", message, hint, ...at });
    }
  }
  return texts;
}

/**
 * Checks a whole catalog: each manifest and toolspec, each pair, and
 * duplicates among them. A pure function of paths and texts.
 */

import { type Diagnostic, hasErrors } from "@toolcrib/diagnostics";
import {
  checkDocument,
  type DocumentNode,
  entryOf,
  fieldOf,
  itemsOf,
  type OpenDocument,
  quote,
  stringOf,
} from "@toolcrib/document";
import { findDenied, type HostDenylist, parseHostPattern } from "@toolcrib/hosts";
import { adoptedSource, type BesideManifest } from "../adopted/adopted-source.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { manifestKind, manifestShape } from "../manifest/manifest-shape.ts";
import { openSource } from "../open-source.ts";
import { lintExamples } from "../plan/lint-examples.ts";
import { isEntryText } from "../spec/entry-name.ts";
import { type JsonPathFault, lintJsonPaths } from "../spec/lint-json-paths.ts";
import type { Toolspec } from "../spec/toolspec.ts";
import { toolspecKind, toolspecShape } from "../spec/toolspec-shape.ts";
import { type FileLayout, layoutOf, pairKeyOf } from "./layout.ts";
import { lintDigest } from "./lint-digest.ts";
import { lintPair } from "./lint-pair.ts";

/** One file of a catalog. */
export interface CatalogFile {
  /** Path with slashes. Its folders and extension determine the kind of file. */
  readonly path: string;
  /** Text, or bytes in UTF-8. */
  readonly text: string | Uint8Array;
  /** Name of the file in findings. @default path */
  readonly name?: string;
  /** Kind of the file. When it is given, the path is not checked. @default derived from the path */
  readonly kind?: "manifest" | "toolspec";
  /** SHA-256 of the lock beside a manifest that adopts a server, in hexadecimal digits. @default locks are not compared */
  readonly lock?: BesideManifest;
}

/** Options of `lintCatalog`. */
export interface LintCatalogOptions {
  /** `manifests` checks manifests only; `toolspecs` checks both and their pairs. */
  readonly subject: "manifests" | "toolspecs";
  /** Host names that no egress list may contain. @default none */
  readonly denylist?: HostDenylist;
  /** Whether a manifest with `builder: toolpack` must have a toolspec. @default true */
  readonly needsToolspecs?: boolean;
  /** Whether a manifest with `builder: toolpack` must have the digest of an image that was built. @default false */
  readonly needsDigests?: boolean;
  /** Whether the requests of examples are planned and compared. @default true */
  readonly checksExamples?: boolean;
  /** Returns the fault of a JSONPath. @default JSONPaths are not checked */
  readonly jsonPathFault?: JsonPathFault;
}

/** A toolspec and its manifest, both without errors. */
export interface CatalogPair {
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
  /** Names of the two files. */
  readonly manifestName: string;
  readonly toolspecName: string;
}

/** Result of `lintCatalog`. */
export interface CatalogReport {
  /** All findings of all files. */
  readonly diagnostics: readonly Diagnostic[];
  readonly manifestCount: number;
  readonly toolspecCount: number;
  /** The pairs without errors. */
  readonly pairs: readonly CatalogPair[];
}

interface Entry extends OpenDocument {
  readonly layout: FileLayout;
  readonly lock: BesideManifest | undefined;
}

/** Checks the manifests and toolspecs among `files`; other files are ignored. */
export function lintCatalog(files: readonly CatalogFile[], options: LintCatalogOptions): CatalogReport {
  const entries = files.flatMap((file) => openFile(file));
  const manifests = entries.filter(({ layout }) => layout.kind === "manifest");
  const specs =
    options.subject === "manifests" ? [] : entries.filter(({ layout }) => layout.kind === "toolspec");
  const manifestValues = new Map(manifests.map((one) => [one, checkDocument(one, manifestShape)]));
  const specValues = new Map(specs.map((one) => [one, checkDocument(one, toolspecShape)]));
  for (const [spec, value] of specValues) {
    if (value !== undefined && options.checksExamples !== false) lintExamples(value, spec);
    if (options.jsonPathFault !== undefined) lintJsonPaths(spec, options.jsonPathFault);
  }
  for (const one of manifests) {
    lintPlace(one, "MANIFEST_FILE_MISPLACED");
    if (options.denylist !== undefined) lintDenied(one, options.denylist);
    if (options.needsDigests === true) lintDigest(one);
    if (options.subject === "manifests") lintSource(one, manifestValues.get(one));
  }
  reportTwins(manifests, "MANIFEST_FILE_DUPLICATE");
  reportTwins(specs, "TOOLSPEC_FILE_DUPLICATE");
  const manifestOf = createPairing(manifests);
  const paired = new Map(specs.map((spec) => [spec, manifestOf(spec)]));
  for (const [spec, manifest] of paired) {
    lintPlace(spec, "TOOLSPEC_FILE_MISPLACED", manifest);
    if (manifest === undefined) reportManifestMissing(spec);
    else lintPair(spec, manifest);
  }
  if (options.subject === "toolspecs" && options.needsToolspecs !== false)
    reportSpecsMissing(manifests, new Set(paired.values()));
  return {
    diagnostics: [...manifests, ...specs].flatMap(({ reporter }) => reporter.diagnostics),
    manifestCount: manifests.length,
    toolspecCount: specs.length,
    pairs: [...paired].flatMap(([spec, manifest]): CatalogPair[] => {
      const toolspecValue = specValues.get(spec);
      const manifestValue = manifest === undefined ? undefined : manifestValues.get(manifest);
      if (manifest === undefined || manifestValue === undefined || toolspecValue === undefined) return [];
      if (hasErrors(spec.reporter.diagnostics) || hasErrors(manifest.reporter.diagnostics)) return [];
      return [
        {
          manifest: manifestValue,
          toolspec: toolspecValue,
          manifestName: manifest.reporter.source.name,
          toolspecName: spec.reporter.source.name,
        },
      ];
    }),
  };
}

function openFile({ path, text, name = path, kind, lock }: CatalogFile): Entry[] {
  const placed = layoutOf(path);
  const layout =
    placed?.kind === kind || kind === undefined
      ? placed
      : { kind, name: undefined, version: undefined, pairKey: pairKeyOf(path) };
  if (layout === undefined) return [];
  const open = openSource({ name, text }, layout.kind === "manifest" ? manifestKind : toolspecKind);
  // A folder that contains only toolspecs can have any name: the content determines the kind.
  const isSpec =
    kind === undefined &&
    layout.kind === "manifest" &&
    !/(?:^|\/)manifests\//.test(path) &&
    isToolspecTree(open.tree);
  if (!isSpec) return [{ ...open, layout, lock }];
  return [{ ...openSource({ name, text }, toolspecKind), layout: { ...layout, kind: "toolspec" }, lock }];
}

function isToolspecTree(tree: DocumentNode | undefined): boolean {
  return fieldOf(tree, "baseUrl") !== undefined && fieldOf(tree, "image") === undefined;
}

/** Name and version that the content of a file states. */
function identityOf({ tree }: OpenDocument): string | undefined {
  const name = stringOf(fieldOf(tree, "name"));
  const version = stringOf(fieldOf(tree, "version"));
  return name === undefined || version === undefined ? undefined : `${name}@${version}`;
}

/** Finds the manifest of a toolspec by its path, or by the name and version in the content. */
function createPairing(manifests: readonly Entry[]): (spec: Entry) => Entry | undefined {
  const byPlace = new Map<string, Entry>();
  const byIdentity = new Map<string, Entry>();
  for (const one of manifests) {
    if (!byPlace.has(one.layout.pairKey)) byPlace.set(one.layout.pairKey, one);
    const identity = identityOf(one);
    if (identity !== undefined && !byIdentity.has(identity)) byIdentity.set(identity, one);
  }
  return (spec) => byPlace.get(spec.layout.pairKey) ?? byIdentity.get(identityOf(spec) ?? "");
}

/** Compares the name and version in a file with its path. Where the manifest agrees with the path, `lintPair` reports the difference. */
function lintPlace({ layout, tree, reporter }: Entry, code: string, manifest?: Entry): void {
  for (const [field, said, where] of [
    ["name", layout.name, "folder"],
    ["version", layout.version, "file name"],
  ] as const) {
    const found = fieldOf(tree, field);
    const written = stringOf(found);
    if (found === undefined || written === undefined || said === undefined || written === said) continue;
    if (!isEntryText(field, written) || stringOf(fieldOf(manifest?.tree, field)) === said) continue;
    reporter.report({
      code,
      message: `"${field}" is ${quote(written)}, but the ${where} is ${quote(said)}`,
      hint: `write ${field}: ${said}, or move the file`,
      span: found.span,
      path: field,
    });
  }
}

/** Reports a manifest that adopts a server which nothing could fetch. Other errors of the file come first. */
function lintSource({ tree, reporter, lock }: Entry, manifest: Manifest | undefined): void {
  if (manifest === undefined || manifest.image.builder === "toolpack" || hasErrors(reporter.diagnostics))
    return;
  const source = adoptedSource(manifest, lock);
  if ("kind" in source) return;
  const { path, message, hint } = source;
  const fields = path.split(".");
  const span = fields.reduce<DocumentNode | undefined>(fieldOf, tree)?.span ?? { start: 0, end: 0 };
  reporter.report({ code: "MANIFEST_SOURCE_UNUSABLE", message, hint, span, path });
}

function lintDenied({ tree, reporter }: Entry, denylist: HostDenylist): void {
  for (const [index, item] of itemsOf(fieldOf(tree, "entitlements"), "egress").entries()) {
    const verdict = parseHostPattern(stringOf(item) ?? "");
    if (verdict.kind !== "valid") continue;
    const denied = findDenied(verdict.value, denylist);
    if (denied === undefined) continue;
    reporter.report({
      code: "MANIFEST_EGRESS_DENIED",
      message: `Cannot allow ${quote(verdict.value.text)}: the denylist has ${quote(denied)}`,
      hint: "remove the entry",
      span: item.span,
      path: `entitlements.egress[${index}]`,
    });
  }
}

function reportTwins(entries: readonly Entry[], code: string): void {
  const first = new Map<string, Entry>();
  for (const one of entries) {
    const identity = identityOf(one);
    if (identity === undefined) continue;
    const earlier = first.get(identity);
    if (earlier === undefined) {
      first.set(identity, one);
      continue;
    }
    one.reporter.report({
      code,
      message: `${quote(identity)} is also in ${earlier.reporter.source.name}`,
      hint: "remove one of the two files",
      span: entryOf(one.tree, "name")?.value.span,
    });
  }
}

function reportManifestMissing({ tree, reporter, layout }: Entry): void {
  reporter.report({
    code: "TOOLSPEC_MANIFEST_MISSING",
    message: "The toolspec has no manifest",
    hint: `add manifests/${layout.name ?? stringOf(fieldOf(tree, "name")) ?? "NAME"}/${layout.version ?? stringOf(fieldOf(tree, "version")) ?? "VERSION"}.yaml`,
    span: fieldOf(tree, "name")?.span ?? { start: 0, end: 0 },
  });
}

function reportSpecsMissing(manifests: readonly Entry[], paired: ReadonlySet<Entry | undefined>): void {
  for (const one of manifests) {
    const builder = fieldOf(fieldOf(one.tree, "image"), "builder");
    if (paired.has(one) || builder === undefined || stringOf(builder) !== "toolpack") continue;
    one.reporter.report({
      code: "MANIFEST_TOOLSPEC_MISSING",
      message: "The manifest has builder: toolpack and no toolspec",
      hint: `add toolspecs/${one.layout.name ?? "NAME"}/${one.layout.version}.yaml, or ${one.layout.version}.toolspec.yaml next to the manifest`,
      span: builder.span,
      path: "image.builder",
    });
  }
}

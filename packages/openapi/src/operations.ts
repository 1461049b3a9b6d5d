/** Lists the operations of a document and selects those to import. */

import { nearestName } from "@toolcrib/diagnostics";
import { quote } from "@toolcrib/document";
import type { Findings, Place } from "./document/findings.ts";
import { fieldOf, isMap, isSet, itemsOf, textOf } from "./document/node.ts";
import type { Documents, Part } from "./document/references.ts";
import { toPlainLine } from "./write/plain-text.ts";

const methods: ReadonlySet<string> = new Set([
  "get",
  "put",
  "post",
  "delete",
  "options",
  "head",
  "patch",
  "trace",
  "query",
]);
const importable: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);

/** An operation of a document. */
export interface Operation extends Part {
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  readonly operationId: string | undefined;
  /** Display name: the operation id, or else `GET /path`. */
  readonly label: string;
  readonly tags: readonly string[];
  /** In one line. */
  readonly summary: string;
  readonly isDeprecated: boolean;
  /** The path item, with the parameters and servers of all its operations. */
  readonly item: Part;
  readonly place: Place;
}

/** Selects the operations to import. @default all that are not deprecated */
export interface OperationFilter {
  /** Operation ids, or names such as `GET /path`. */
  readonly operations?: readonly string[];
  readonly tags?: readonly string[];
  /** Path patterns: `*` matches text without slashes, `**` matches everything. */
  readonly paths?: readonly string[];
  readonly methods?: readonly string[];
}

/** Returns all operations, in the order of the document. */
export function listOperations(documents: Documents, findings: Findings): readonly Operation[] {
  const { root } = documents;
  const paths = fieldOf(root.root, "paths");
  if (!isMap(paths)) return [];
  return [...paths.fields].flatMap(([path, written]) => {
    if (!path.startsWith("/")) return [];
    const item = documents.follow({ node: written, file: root }, findings, {
      file: root,
      owner: paths,
      key: path,
    });
    const fields = isMap(item.node) ? [...item.node.fields] : [];
    return fields.flatMap(([method, own]): Operation[] => {
      if (!methods.has(method) || !isMap(own)) return [];
      const place = { file: item.file, owner: item.node, key: method };
      // No version of OpenAPI allows references here, but large documents contain them.
      const { node, file } = documents.follow({ node: own, file: item.file }, findings, place);
      if (!isMap(node)) return [];
      const operationId = textOf(node, "operationId")?.trim();
      const verb = method.toUpperCase();
      return [
        {
          node,
          file,
          method: verb,
          path,
          operationId,
          label: operationId ?? `${verb} ${path}`,
          tags: itemsOf(node, "tags").filter((tag): tag is string => typeof tag === "string"),
          summary: toPlainLine(textOf(node, "summary") ?? textOf(node, "description") ?? "", 120),
          isDeprecated: isSet(node, "deprecated"),
          item,
          place,
        },
      ];
    });
  });
}

/** Returns the operations that `filter` selects and a toolspec can express, in the order of the document. */
export function chooseOperations(
  all: readonly Operation[],
  filter: OperationFilter,
  findings: Findings,
): readonly Operation[] {
  const named = new Set<Operation>();
  for (const name of filter.operations ?? []) {
    const found = all.filter((one) => isNamed(one, name));
    for (const one of found) named.add(one);
    if (found.length === 0)
      reportMissing(
        "operation",
        name,
        all.map(({ label }) => label),
        findings,
      );
  }
  const tags = new Set(all.flatMap((one) => one.tags));
  for (const tag of filter.tags ?? [])
    if (![...tags].some((one) => isSame(one, tag))) reportMissing("tag", tag, [...tags], findings);
  const passes = createTest(filter);
  const chosen = all.filter((one) => {
    if (named.has(one)) return true;
    if (!passes(one)) return false;
    if (one.isDeprecated) {
      const message = `Operation ${quote(one.label)} is deprecated and left out`;
      const hint = `import it with --operation ${JSON.stringify(one.label)}`;
      findings.report({ code: "OPENAPI_OPERATION_DEPRECATED", message, hint, place: one.place });
    }
    return !one.isDeprecated;
  });
  return chosen.filter((one) => {
    if (importable.has(one.method)) return true;
    const message = `Operation ${quote(one.label)} is left out: tools are sent with GET, POST, PUT, PATCH or DELETE, not ${one.method}`;
    findings.report({ code: "OPENAPI_OPERATION_UNFIT", message, place: one.place });
    return false;
  });
}

function isNamed(one: Operation, name: string): boolean {
  if (one.operationId === name) return true;
  const [, method = "", path = ""] = /^\s*([A-Za-z]+)\s+(\/\S*)\s*$/.exec(name) ?? [];
  return method.toUpperCase() === one.method && path === one.path;
}

function isSame(a: string, b: string): boolean {
  return a.trim().toLowerCase() === b.trim().toLowerCase();
}

function createTest(filter: OperationFilter): (one: Operation) => boolean {
  const { operations = [], tags = [], paths = [], methods: verbs = [] } = filter;
  const hasTest = tags.length + paths.length + verbs.length > 0;
  // Names without other filters select exactly what they name.
  if (!hasTest && operations.length > 0) return () => false;
  const patterns = paths.map(toPathPattern);
  return (one) =>
    (tags.length === 0 || one.tags.some((tag) => tags.some((wanted) => isSame(tag, wanted)))) &&
    (patterns.length === 0 || patterns.some((pattern) => pattern.test(one.path))) &&
    (verbs.length === 0 || verbs.some((verb) => verb.toUpperCase() === one.method));
}

function toPathPattern(text: string): RegExp {
  const source = text
    .slice(0, 1000)
    .split(/(\*+)/)
    .map((piece) =>
      piece.startsWith("**")
        ? ".*"
        : piece === "*"
          ? "[^/]*"
          : piece.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"),
    );
  return new RegExp(`^${source.join("")}$`);
}

function reportMissing(what: string, name: string, known: readonly string[], findings: Findings): void {
  const near = nearestName(name, known);
  findings.report({
    severity: "error",
    code: "OPENAPI_OPERATION_MISSING",
    message: `The document has no ${what} ${quote(name)}`,
    hint: near === undefined ? "use --list to show them" : `did you mean ${near}?`,
  });
}

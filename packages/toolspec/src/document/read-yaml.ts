/**
 * YAML text to a tree. One document, YAML 1.2 core schema: a bare `on` is a
 * text. Anchors and aliases are followed, merge keys and custom tags are
 * refused. Nothing is thrown for any text.
 */

import { positionAt, type Span } from "@toolcrib/diagnostics";
import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument, type YAMLError } from "yaml";
import {
  type DocumentNode,
  documentMaxDepth,
  documentMaxNodes,
  type MapEntry,
  type ScalarNode,
} from "./document-tree.ts";
import { type Problem, quote, type StructureCodes } from "./reporter.ts";
import { wordingOf } from "./yaml-messages.ts";

/** Lines with syntax errors that are shown of one text: those that follow are consequences of the first. */
const maxSyntaxErrors = 3;

type Report = (problem: Problem) => void;

/** The tree of `text`; `undefined` for an empty text and when `report` was told of a syntax error. */
export function readYaml(text: string, codes: StructureCodes, report: Report): DocumentNode | undefined {
  const document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    prettyErrors: false,
    // `readMap` says where a field is given again, in linear time.
    uniqueKeys: false,
    // Anything quieter also hides that there are several documents.
    logLevel: "error",
  });
  const findings = [...document.errors, ...document.warnings];
  if (findings.length > 0) {
    reportSyntax(text, findings, codes, report);
    return undefined;
  }
  if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== "1.2") {
    report({
      code: codes.syntax,
      message: "Cannot read YAML 1.1: this file is read as YAML 1.2",
      hint: "remove the %YAML line",
      span: { start: 0, end: 1 },
    });
    return undefined;
  }
  return document.contents === null ? undefined : readTree(document.contents, codes, report);
}

function reportSyntax(
  text: string,
  findings: readonly YAMLError[],
  codes: StructureCodes,
  report: Report,
): void {
  const textEnd = Math.max(0, text.trimEnd().length - 1);
  const inOrder = [...findings].sort((a, b) => a.pos[0] - b.pos[0]);
  const lines = new Set<number>();
  for (const finding of inOrder) {
    const { lineNumber } = positionAt(text, finding.pos[0]);
    if (lines.has(lineNumber) || lines.size === maxSyntaxErrors) continue;
    lines.add(lineNumber);
    const start = Math.min(finding.pos[0], textEnd);
    const end = Math.max(start + 1, Math.min(finding.pos[1], textEnd + 1));
    const isExhausted = finding.code === "RESOURCE_EXHAUSTION";
    report({
      code: isExhausted ? codes.tooComplex : codes.syntax,
      ...wordingOf(finding.code, finding.pos[0] > textEnd),
      span: { start, end },
    });
    if (isExhausted || finding.code === "MULTIPLE_DOCS") return;
  }
}

/** A node, and how large it would be if each alias were a copy. */
interface Measured {
  readonly node: DocumentNode;
  readonly size: number;
  readonly height: number;
}

/** Read the library's nodes in the order of the text, so that an alias finds the latest anchor of its name. */
function readTree(root: Node, codes: StructureCodes, report: Report): DocumentNode | undefined {
  const anchors = new Map<string, Node>();
  const done = new Map<Node, Measured>();
  let isBroken = false;

  function giveUp(problem: Problem): Measured {
    report(problem);
    isBroken = true;
    return measured(emptyScalar(problem.span ?? { start: 0, end: 1 }));
  }

  function read(node: Node, depth: number): Measured {
    const span = spanOf(node);
    if (isBroken) return measured(emptyScalar(span));
    if (isAlias(node)) return readAlias(node.source, span);
    const tooDeep = { code: codes.tooComplex, message: tooDeepMessage, span };
    if (depth > documentMaxDepth) return giveUp(tooDeep);
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
    const result = isMap<Node, Node | null>(node)
      ? readMap(node.items, span, depth)
      : isSeq<Node>(node)
        ? combined({ kind: "list", span, items: [] }, node.items, (item) => read(item, depth + 1))
        : measured(toScalar(node, span));
    if (isBroken) return result;
    if (result.size > documentMaxNodes)
      return giveUp({ code: codes.tooComplex, message: tooManyMessage, span });
    if (depth + result.height > documentMaxDepth + 1) return giveUp(tooDeep);
    done.set(node, result);
    return result;
  }

  function readAlias(name: string, span: Span): Measured {
    const target = anchors.get(name);
    if (target === undefined) {
      return giveUp({
        code: codes.syntax,
        message: `Cannot follow the alias *${name}: no anchor &${name} stands before it`,
        hint: `write &${name} before the value that is meant, or quote a text that begins with *`,
        span,
      });
    }
    const message = `Cannot follow the alias *${name}: it contains itself`;
    return done.get(target) ?? giveUp({ code: codes.tooComplex, message, span });
  }

  function readMap(
    pairs: readonly { readonly key: Node | null; readonly value: Node | null }[],
    span: Span,
    depth: number,
  ): Measured {
    const entries = new Map<string, MapEntry>();
    let size = 1;
    let height = 0;
    for (const pair of pairs) {
      if (pair.key === null || !isScalar(pair.key)) {
        giveUp({
          code: codes.syntax,
          message: "A field name must be a plain text",
          span: pair.key === null ? span : spanOf(pair.key),
        });
        continue;
      }
      const key = toScalar(pair.key, spanOf(pair.key));
      const part = pair.value === null ? measured(emptyScalar(key.span)) : read(pair.value, depth + 1);
      size += part.size;
      height = Math.max(height, part.height);
      if (entries.has(key.text)) report(duplicateKey(codes, key.text, key.span));
      else entries.set(key.text, { key: key.text, keySpan: key.span, value: part.node });
    }
    return { node: { kind: "map", span, entries: [...entries.values()] }, size, height: height + 1 };
  }

  const { node } = read(root, 1);
  return isBroken ? undefined : node;
}

const tooDeepMessage = `Cannot read the file: it nests deeper than ${documentMaxDepth} levels`;
const tooManyMessage = `Cannot read the file: with its aliases it has more than ${documentMaxNodes.toLocaleString("en")} values`;

/** What is reported for a field that is given again; the first one counts. */
export function duplicateKey(codes: StructureCodes, key: string, span: Span): Problem {
  return {
    code: codes.duplicateKey,
    message: `Duplicate field ${quote(key)}: it is given before in the same map`,
    hint: "remove one of the two",
    span,
  };
}

function measured(node: ScalarNode): Measured {
  return { node, size: 1, height: 1 };
}

function combined<T>(
  list: Extract<DocumentNode, { kind: "list" }>,
  items: readonly T[],
  read: (item: T) => Measured,
): Measured {
  let size = 1;
  let height = 0;
  const nodes = items.map((item) => {
    const part = read(item);
    size += part.size;
    height = Math.max(height, part.height);
    return part.node;
  });
  return { node: { ...list, items: nodes }, size, height: height + 1 };
}

function spanOf(node: Node): Span {
  const [start, end] = node.range ?? [0, 1];
  return { start, end: Math.max(end, start) };
}

function emptyScalar(span: Span): ScalarNode {
  return { kind: "scalar", span: { start: span.end, end: span.end }, value: null, text: "", isPlain: true };
}

function toScalar(node: Node, span: Span): ScalarNode {
  const value: unknown = isScalar(node) ? node.value : null;
  const isPlain = isScalar(node) && node.type === "PLAIN";
  if (typeof value === "string") return { kind: "scalar", span, value, text: value, isPlain };
  const text = isScalar(node) && node.source !== undefined ? node.source : String(value);
  if (typeof value === "number" || typeof value === "boolean")
    return { kind: "scalar", span, value, text, isPlain };
  return { kind: "scalar", span, value: null, text, isPlain };
}

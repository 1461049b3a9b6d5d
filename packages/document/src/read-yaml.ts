/**
 * Reads YAML text into a tree with the library `yaml`, which explains every
 * fault. One document, YAML 1.2 core schema: a bare `on` is a text. Resolves
 * aliases; refuses merge keys and custom tags. Never throws, for any text.
 */

import { positionAt, type Span } from "@toolcrib/diagnostics";
import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument, type YAMLError } from "yaml";
import type { DocumentKind } from "./document-kind.ts";
import {
  type DocumentNode,
  documentMaxDepth,
  documentMaxNodes,
  type MapEntry,
  type ScalarNode,
} from "./document-tree.ts";
import type { Problem } from "./reporter.ts";
import { quote } from "./shown-text.ts";
import { wordingOf } from "./yaml-messages.ts";

/** Maximum number of lines with syntax errors that are reported: later errors usually follow from the first. */
const maxSyntaxErrors = 3;

type Report = (problem: Problem) => void;

/** Returns the tree of `text`; `undefined` for an empty text and after a syntax error was reported. */
export function readYaml(text: string, kind: DocumentKind, report: Report): DocumentNode | undefined {
  const document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    prettyErrors: false,
    // `readMap` reports repeated fields in linear time.
    uniqueKeys: false,
    // A lower level also hides the error for several documents.
    logLevel: "error",
  });
  const findings = [...document.errors, ...document.warnings];
  if (findings.length > 0) {
    reportSyntax(text, findings, kind, report);
    return undefined;
  }
  if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== "1.2") {
    report({
      code: kind.codes.syntax,
      message: "Cannot read YAML 1.1: this file is read as YAML 1.2",
      hint: "remove the %YAML line",
      span: { start: 0, end: 1 },
    });
    return undefined;
  }
  return document.contents === null ? undefined : readTree(document.contents, kind, report);
}

function reportSyntax(
  text: string,
  findings: readonly YAMLError[],
  { codes }: DocumentKind,
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
      ...wordingOf(finding, finding.pos[0] > textEnd),
      span: { start, end },
    });
    if (isExhausted || finding.code === "MULTIPLE_DOCS") return;
  }
}

/** A node, the end of its text, and its size if each alias were a copy. */
interface Measured {
  readonly node: DocumentNode;
  readonly end: number;
  readonly size: number;
  readonly height: number;
}

/** Reads the nodes of the library in the order of the text, so that an alias resolves to the latest anchor of its name. */
function readTree(root: Node, kind: DocumentKind, report: Report): DocumentNode | undefined {
  const { codes } = kind;
  const anchors = new Map<string, Node>();
  const done = new Map<Node, Measured>();
  let isBroken = false;

  function fail(problem: Problem): Measured {
    report(problem);
    isBroken = true;
    return measured(emptyScalar(problem.span ?? { start: 0, end: 1 }));
  }

  function read(node: Node, depth: number): Measured {
    const span = spanOf(node);
    if (isBroken) return measured(emptyScalar(span));
    if (isAlias(node)) return { ...readAlias(node.source, span), end: span.end };
    const tooDeep = {
      code: codes.tooComplex,
      message: `Cannot read the ${kind.noun}: it nests deeper than ${documentMaxDepth} levels`,
      span,
    };
    if (depth > documentMaxDepth) return fail(tooDeep);
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
    const result = readContent(node, span, depth);
    if (isBroken) return result;
    if (result.size > documentMaxNodes) {
      const most = documentMaxNodes.toLocaleString("en");
      const message = `Cannot read the ${kind.noun}: with its aliases it has more than ${most} values`;
      return fail({ code: codes.tooComplex, message, span });
    }
    if (depth + result.height > documentMaxDepth + 1) return fail(tooDeep);
    done.set(node, result);
    return result;
  }

  function readContent(node: Node, span: Span, depth: number): Measured {
    if (isMap<Node, Node | null>(node)) return readMap(node.items, span, node.flow === true, depth);
    if (!isSeq<Node>(node)) return measured(toScalar(node, span));
    const parts = node.items.map((item) => read(item, depth + 1));
    const end = node.flow === true ? span.end : (parts.at(-1)?.end ?? span.end);
    const items = parts.map((part) => part.node);
    return combined({ kind: "list", span: { start: span.start, end }, items }, parts);
  }

  function readAlias(name: string, span: Span): Measured {
    const target = anchors.get(name);
    if (target === undefined) {
      return fail({
        code: codes.syntax,
        message: `Cannot follow the alias *${name}: no anchor &${name} stands before it`,
        hint: `write &${name} before the value that is meant, or quote a text that begins with *`,
        span,
      });
    }
    const message = `Cannot follow the alias *${name}: it contains itself`;
    return done.get(target) ?? fail({ code: codes.tooComplex, message, span });
  }

  function readMap(
    pairs: readonly { readonly key: Node | null; readonly value: Node | null }[],
    span: Span,
    isFlow: boolean,
    depth: number,
  ): Measured {
    const entries = new Map<string, MapEntry>();
    const parts: Measured[] = [];
    for (const pair of pairs) {
      if (pair.key === null || !isScalar(pair.key)) {
        fail({
          code: codes.syntax,
          message: "A field name must be a plain text",
          span: pair.key === null ? span : spanOf(pair.key),
        });
        continue;
      }
      const key = toScalar(pair.key, spanOf(pair.key));
      const part = pair.value === null ? measured(emptyScalar(key.span)) : read(pair.value, depth + 1);
      parts.push(part);
      if (entries.has(key.text)) report(duplicateKey(kind, key.text, key.span));
      else entries.set(key.text, { key: key.text, keySpan: key.span, value: part.node });
    }
    const end = isFlow ? span.end : (parts.at(-1)?.end ?? span.end);
    return combined({ kind: "map", span: { start: span.start, end }, entries: [...entries.values()] }, parts);
  }

  const { node } = read(root, 1);
  return isBroken ? undefined : node;
}

/** Returns the finding for a repeated field; the first one counts. */
export function duplicateKey(kind: DocumentKind, key: string, span: Span): Problem {
  return {
    code: kind.codes.duplicateKey,
    message: `Duplicate field ${(kind.quote ?? quote)(key)}: it is given before in the same map`,
    hint: "remove one of the two",
    span,
  };
}

function measured(node: ScalarNode): Measured {
  return { node, end: node.span.end, size: 1, height: 1 };
}

function combined(node: DocumentNode, parts: readonly Measured[]): Measured {
  let size = 1;
  let height = 0;
  for (const part of parts) {
    size += part.size;
    height = Math.max(height, part.height);
  }
  return { node, end: node.span.end, size, height: height + 1 };
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
  return { kind: "scalar", span, value: null, text: "", isPlain };
}

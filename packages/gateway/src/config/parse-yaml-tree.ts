/**
 * YAML text to a `ConfigNode`. One document, YAML 1.2 core schema; anchors and
 * aliases are followed, merge keys and custom tags are refused. Nothing is
 * thrown for any text; nothing is constructed but strings, numbers, booleans,
 * null, maps and lists.
 */

import type { Span } from "@toolcrib/diagnostics";
import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument, type YAMLError } from "yaml";
import { configDuplicateKey, configSyntax, configTooComplex } from "./codes.ts";
import {
  type ConfigEntry,
  type ConfigNode,
  type ConfigScalar,
  configMaxDepth,
  configMaxNodes,
} from "./config-tree.ts";
import { type Problem, quote } from "./reporter.ts";
import { yamlMessages } from "./yaml-messages.ts";

/** Syntax errors shown of one text: those that follow are consequences of the first. */
const maxSyntaxErrors = 3;

type Report = (problem: Problem) => void;

/** The tree of a text that is in a subset of YAML which is quick to read; `undefined` for any other. */
export type ReadPlainYaml = (text: string) => ConfigNode | undefined;

/**
 * The tree of `text`; `undefined` for an empty text and when `report` was told of a syntax error.
 *
 * @param readPlain tried first. The library takes ten times as long, which is felt with long texts.
 */
export function parseYamlTree(
  text: string,
  report: Report,
  readPlain?: ReadPlainYaml,
): ConfigNode | undefined {
  const plain = readPlain?.(text);
  if (plain !== undefined) return plain;
  const document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    prettyErrors: false,
    // The library compares each key with each; `readMap` does the same in linear time and says where.
    uniqueKeys: false,
    // Anything quieter also hides that there are several documents.
    logLevel: "error",
  });
  const findings = [...document.errors, ...document.warnings];
  if (findings.length > 0) {
    reportSyntax(text, findings, report);
    return undefined;
  }
  if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== "1.2") {
    report({
      code: configSyntax,
      message: "Cannot read YAML 1.1: this file is read as YAML 1.2",
      hint: "remove the %YAML line",
      span: { start: 0, end: 1 },
    });
    return undefined;
  }
  if (document.contents === null) return undefined;
  return readTree(document.contents, report);
}

function reportSyntax(text: string, findings: readonly YAMLError[], report: Report): void {
  const inOrder = [...findings].sort((a, b) => a.pos[0] - b.pos[0]);
  for (const finding of inOrder.slice(0, maxSyntaxErrors)) {
    const textEnd = Math.max(0, text.trimEnd().length - 1);
    const isAtEnd = finding.pos[0] > textEnd;
    const start = Math.min(finding.pos[0], textEnd);
    const end = Math.min(finding.pos[1], textEnd + 1);
    const isExhausted = finding.code === "RESOURCE_EXHAUSTION";
    report({
      code: isExhausted ? configTooComplex : configSyntax,
      // At the end of the text, an indentation that is missing is a bracket that is missing.
      ...(yamlMessages[isAtEnd && finding.code === "BAD_INDENT" ? "MISSING_CHAR" : finding.code] ?? {
        message: `Cannot read the YAML text (${finding.code})`,
      }),
      span: { start, end: Math.max(end, start + 1) },
    });
    if (isExhausted || finding.code === "MULTIPLE_DOCS") return;
  }
}

/** A node and what it would be if each alias were a copy. */
interface Measured {
  readonly node: ConfigNode;
  readonly size: number;
  readonly height: number;
}

/**
 * Read the library's nodes in the order of the text, so that an alias finds the
 * latest anchor of its name. An aliased value is read once and shared.
 */
function readTree(root: Node, report: Report): ConfigNode | undefined {
  const anchors = new Map<string, Node>();
  const done = new Map<Node, Measured>();
  let isBroken = false;

  function giveUp(problem: Problem): Measured {
    report(problem);
    isBroken = true;
    return measuredScalar({
      kind: "scalar",
      span: problem.span ?? { start: 0, end: 1 },
      value: null,
      text: "",
    });
  }

  function read(node: Node, depth: number): Measured {
    const span = spanOf(node);
    if (isBroken) return measuredScalar({ kind: "scalar", span, value: null, text: "" });
    if (isAlias(node)) return readAlias(node.source, span);
    if (depth > configMaxDepth) return giveUp({ ...tooDeep, span });
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
    const result = isMap<Node, Node | null>(node)
      ? readMap(node.items, span, depth)
      : isSeq<Node>(node)
        ? readList(node.items, span, depth)
        : measuredScalar(toScalar(node, span));
    if (isBroken) return result;
    if (result.size > configMaxNodes) return giveUp({ ...tooMany, span });
    if (depth + result.height > configMaxDepth + 1) return giveUp({ ...tooDeep, span });
    done.set(node, result);
    return result;
  }

  function readAlias(name: string, span: Span): Measured {
    const target = anchors.get(name);
    if (target === undefined) {
      return giveUp({
        code: configSyntax,
        message: `Cannot follow the alias *${name}: no anchor &${name} stands before it`,
        hint: `write &${name} before the value that is meant, or quote a text that begins with *`,
        span,
      });
    }
    return (
      done.get(target) ??
      giveUp({
        code: configTooComplex,
        message: `Cannot follow the alias *${name}: it contains itself`,
        span,
      })
    );
  }

  function readList(items: readonly Node[], span: Span, depth: number): Measured {
    const parts = items.map((item) => read(item, depth + 1));
    return combined({ kind: "list", span, items: parts.map((part) => part.node) }, parts);
  }

  function readMap(
    pairs: readonly { readonly key: Node; readonly value: Node | null }[],
    span: Span,
    depth: number,
  ): Measured {
    const entries = new Map<string, ConfigEntry>();
    const parts: Measured[] = [];
    for (const pair of pairs) {
      const key = readKey(pair.key, span);
      if (key === undefined) continue;
      const part =
        pair.value === null
          ? measuredScalar({ kind: "scalar", span: key.span, value: null, text: "" })
          : read(pair.value, depth + 1);
      parts.push(part);
      if (entries.has(key.text)) report(duplicateKey(key.text, key.span));
      else entries.set(key.text, { key: key.text, keySpan: key.span, value: part.node });
    }
    return combined({ kind: "map", span, entries: [...entries.values()] }, parts);
  }

  function readKey(node: Node | null, mapSpan: Span): ConfigScalar | undefined {
    if (node !== null && isScalar(node)) return toScalar(node, spanOf(node));
    giveUp({
      code: configSyntax,
      message: "A field name must be a plain text",
      span: node === null ? mapSpan : spanOf(node),
    });
    return undefined;
  }

  const { node } = read(root, 1);
  return isBroken ? undefined : node;
}

const tooDeep: Problem = {
  code: configTooComplex,
  message: `Cannot read the configuration: it nests deeper than ${configMaxDepth} levels`,
};
const tooMany: Problem = {
  code: configTooComplex,
  message: `Cannot read the configuration: with its aliases it has more than ${configMaxNodes.toLocaleString("en")} values`,
};

/** What is reported for a field that is given again; the first one counts. */
export function duplicateKey(key: string, span: Span): Problem {
  return {
    code: configDuplicateKey,
    message: `Duplicate field ${quote(key)}: it is given before in the same map`,
    hint: "remove one of the two",
    span,
  };
}

function measuredScalar(node: ConfigScalar): Measured {
  return { node, size: 1, height: 1 };
}

function combined(node: ConfigNode, parts: readonly Measured[]): Measured {
  let size = 1;
  let height = 0;
  for (const part of parts) {
    size += part.size;
    height = Math.max(height, part.height);
  }
  return { node, size, height: height + 1 };
}

function spanOf(node: Node): Span {
  const [start, end] = node.range ?? [0, 1];
  return { start, end: Math.max(end, start) };
}

function toScalar(node: Node, span: Span): ConfigScalar {
  const value: unknown = isScalar(node) ? node.value : null;
  if (typeof value === "string") return { kind: "scalar", span, value, text: value };
  const text = isScalar(node) && node.source !== undefined ? node.source : String(value);
  if (typeof value === "number" || typeof value === "boolean") return { kind: "scalar", span, value, text };
  return { kind: "scalar", span, value: null, text: "" };
}

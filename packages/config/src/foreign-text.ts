/**
 * The texts of a server in another program's file: literals, credentials that
 * stand there in clear (read, with a warning), and variables.
 */

import { type DocumentNode, type Problem, type Reporter, typeName } from "@toolcrib/document";
import type { ConfigText, TemplatePart } from "./config-types.ts";
import { isCredentialHeader, isCredentialVariable, looksLikeCredential } from "./credential.ts";
import { quote } from "./display-source.ts";
import { lintServerUrl } from "./server-url.ts";
import { parseTemplate } from "./template.ts";
import { inlineHint, toVariableName } from "./text-shape.ts";
import { ownHeaders, urlHoldsCredential } from "./transport-shape.ts";

export interface ForeignTexts {
  one(node: DocumentNode, field: string): ConfigText;
  optional(node: DocumentNode | undefined, field: string): ConfigText | undefined;
  list(node: DocumentNode | undefined, field: string): readonly ConfigText[];
  map(node: DocumentNode | undefined, field: "env" | "headers"): { readonly [name: string]: ConfigText };
  url(node: DocumentNode): ConfigText;
}

/** Reader of the texts of server `name`. What keeps it from starting goes to `problems`. */
export function createForeignTexts(name: string, reporter: Reporter, problems: Problem[]): ForeignTexts {
  const server = quote(name);

  function wrongType(node: DocumentNode, field: string, wanted: string): void {
    const message = `Field ${quote(field)} of server ${server} must be ${wanted}, but is ${typeName(node)}`;
    reporter.report({ code: "CONFIG_WRONG_TYPE", message, span: node.span });
  }

  function read(node: DocumentNode, field: string, credential?: { what: string; hint: string }): ConfigText {
    if (node.kind !== "scalar" || node.value === null) wrongType(node, field, "a text");
    const text = node.kind === "scalar" ? node.text : "";
    const { parts, unknown } = parseTemplate(text);
    for (const variable of unknown) problems.push(unknownVariable(variable, node));
    const literals = parts.map((part) =>
      typeof part === "string" ? part : "fallback" in part ? (part.fallback ?? "") : "",
    );
    const isBare = unknown.length === 0 && parts.every((part) => typeof part === "string");
    const isSecret =
      literals.some(looksLikeCredential) ||
      (credential !== undefined && (isBare ? text !== "" : parts.some(hasFallback)));
    if (isSecret) {
      reporter.report({
        severity: "warning",
        code: "CONFIG_INLINE_SECRET",
        message: `inline secret in server ${server}: ${credential?.what ?? `field ${quote(field)} holds what looks like a secret`}`,
        hint: credential?.hint ?? `write \${NAME} in its place and set that variable`,
        span: node.span,
      });
    }
    return isBare
      ? { kind: "literal", text: parts.join(""), isSecret, span: node.span }
      : { kind: "template", text, parts, isSecret: isSecret || credential !== undefined, span: node.span };
  }

  function unknownVariable(variable: string, node: DocumentNode): Problem {
    const isInput = variable.startsWith("input:");
    return {
      code: "CONFIG_VARIABLE_NOT_AVAILABLE",
      message: `Server ${server} cannot start: ${quote(`\${${variable}}`)} ${isInput ? "asks a person, and Toolcrib has nobody to ask" : "is a variable that only its own program can fill"}`,
      hint: isInput
        ? `write \${${toVariableName(variable.slice("input:".length))}} and set that environment variable`
        : `write the value, or \${NAME} and set that environment variable`,
      span: node.span,
    };
  }

  function readNamed(entryName: string, node: DocumentNode, field: "env" | "headers"): ConfigText {
    const isHeader = field === "headers";
    const isCredential = isHeader ? isCredentialHeader(entryName) : isCredentialVariable(entryName);
    if (!isCredential) return read(node, `${field}.${entryName}`);
    const what = `${isHeader ? "header" : "environment variable"} ${quote(entryName)} holds a literal`;
    const text = node.kind === "scalar" ? node.text : "";
    const reference = inlineHint(isHeader ? "header" : "variable", entryName, text).replace(/^write /, "");
    const own = `"\${${toVariableName(entryName)}}"`;
    return read(node, `${field}.${entryName}`, {
      what,
      hint: `write ${own} in its place; or declare the server under tool_servers and write ${reference}`,
    });
  }

  return {
    one: (node, field) => read(node, field),
    optional: (node, field) => (node === undefined ? undefined : read(node, field)),
    list(node, field) {
      if (node === undefined) return [];
      if (node.kind === "list") return node.items.map((item, index) => read(item, `${field}[${index}]`));
      wrongType(node, field, "a list");
      return [];
    },
    map(node, field) {
      if (node === undefined) return {};
      if (node.kind !== "map") {
        wrongType(node, field, "a map");
        return {};
      }
      const pairs = node.entries.flatMap(({ key, keySpan, value }): [string, ConfigText][] => {
        if (field === "headers" && ownHeaders.has(key.toLowerCase())) {
          const message = `Header ${quote(key)} of server ${server} has no effect here: Toolcrib sets it itself`;
          reporter.report({ severity: "warning", code: "CONFIG_FOREIGN_FIELD", message, span: keySpan });
          return [];
        }
        return [[key, readNamed(key, value, field)]];
      });
      return Object.fromEntries(pairs);
    },
    url(node) {
      const isSecret = node.kind === "scalar" && urlHoldsCredential(node.text);
      const text = read(
        node,
        "url",
        isSecret
          ? {
              what: "its URL holds what looks like a secret",
              hint: `write \${NAME} in its place and set that variable`,
            }
          : undefined,
      );
      const problem = text.kind === "literal" ? lintServerUrl(text.text.trim(), false) : undefined;
      if (problem !== undefined) {
        const hint =
          problem.code === "CONFIG_URL_INSECURE"
            ? "write https, or declare the server under tool_servers with allow_http: true"
            : problem.hint;
        problems.push({
          ...problem,
          hint,
          message: `Server ${server} cannot start: ${problem.message}`,
          span: node.span,
        });
      }
      return text;
    },
  };
}

function hasFallback(part: TemplatePart): boolean {
  return (
    typeof part !== "string" && "fallback" in part && part.fallback !== undefined && part.fallback !== ""
  );
}

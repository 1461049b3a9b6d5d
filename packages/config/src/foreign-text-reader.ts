/**
 * Reads the texts of a server in another program's file: literals, credentials
 * in clear text (accepted, with a warning), and variables.
 */

import { type DocumentNode, type Problem, type Reporter, typeName } from "@toolcrib/document";
import {
  isCredentialHeader,
  isCredentialVariable,
  looksLikeCredential,
  secretVerdict,
} from "@toolcrib/redaction";
import type { ConfigText, TemplatePart } from "./config-types.ts";
import { credentialArguments } from "./credential-arguments.ts";
import { isSecretEndpoint, quote, textOf } from "./display-source.ts";
import { judgeArguments } from "./judge-arguments.ts";
import { lintServerUrl } from "./server-url.ts";
import { parseTemplate } from "./template.ts";
import { inlineHint, toVariableName } from "./text-shape.ts";
import { isOwnHeader, urlContainsCredential } from "./transport-shape.ts";

/** A field whose literal value is a credential. */
interface CredentialField {
  readonly what: string;
  readonly hint: string;
  /** Whether its value only looks like one. */
  readonly isGuess?: boolean;
}

const variableHint = `write \${NAME} in its place and set that variable`;

/** Reads the texts of one server and reports findings about them. */
export class ForeignTextReader {
  /** The name of the server, quoted. */
  readonly #server: string;
  readonly #reporter: Reporter;
  readonly #problems: Problem[] = [];

  constructor(serverName: string, reporter: Reporter) {
    this.#server = quote(serverName);
    this.#reporter = reporter;
  }

  /** Reasons why the server cannot start. */
  get problems(): readonly Problem[] {
    return this.#problems;
  }

  /** Adds a reason why the server cannot start. */
  addProblem(problem: Problem): void {
    this.#problems.push(problem);
  }

  one(node: DocumentNode, field: string): ConfigText {
    return this.#read(node, field);
  }

  optional(node: DocumentNode | undefined, field: string): ConfigText | undefined {
    return node === undefined ? undefined : this.#read(node, field);
  }

  /** Reads a list of arguments. @param command the program that gets them; empty for other lists */
  list(node: DocumentNode | undefined, field: string, command = ""): readonly ConfigText[] {
    if (node === undefined) return [];
    if (node.kind === "list") {
      const texts = node.items.map(textOf);
      const options = credentialArguments(texts);
      const { secrets: named } = judgeArguments(command, texts);
      return node.items.map((item, index) => {
        const name = `${field}[${index}]`;
        const reason = options.has(index)
          ? "the value of an option for a secret"
          : "what looks like a secret";
        const what = `field ${quote(name)} contains ${reason}`;
        return this.#read(
          item,
          name,
          named.has(index) ? { what, hint: variableHint, isGuess: !options.has(index) } : undefined,
        );
      });
    }
    this.#reportType(node, field, "a list");
    return [];
  }

  map(node: DocumentNode | undefined, field: "env" | "headers"): { readonly [name: string]: ConfigText } {
    if (node === undefined) return {};
    if (node.kind !== "map") {
      this.#reportType(node, field, "a map");
      return {};
    }
    const pairs = node.entries.flatMap(({ key, keySpan, value }): [string, ConfigText][] => {
      if (field === "headers" && isOwnHeader(key)) {
        const message = `Header ${quote(key)} of server ${this.#server} has no effect here: only Toolcrib sets it`;
        this.#reporter.report({ severity: "warning", code: "CONFIG_FOREIGN_FIELD", message, span: keySpan });
        return [];
      }
      return [[key, this.#readNamed(key, value, field)]];
    });
    return Object.fromEntries(pairs);
  }

  url(node: DocumentNode): ConfigText {
    const isSecret =
      node.kind === "scalar" &&
      (urlContainsCredential(node.text) || (isBare(node.text) && isSecretEndpoint(node.text)));
    const isGuess = node.kind !== "scalar" || !urlContainsCredential(node.text);
    const field = { what: "its URL contains a possible secret", hint: variableHint, isGuess };
    const text = this.#read(node, "url", isSecret ? field : undefined);
    const problem = text.kind === "literal" ? lintServerUrl(text.text.trim(), false) : undefined;
    if (problem !== undefined) {
      const hint =
        problem.code === "CONFIG_URL_INSECURE"
          ? "write https, or declare the server under tool_servers with allow_http: true"
          : problem.hint;
      const message = `Server ${this.#server} cannot start: ${problem.message}`;
      this.addProblem({ ...problem, hint, message, span: node.span });
    }
    return text;
  }

  #readNamed(name: string, node: DocumentNode, field: "env" | "headers"): ConfigText {
    const isHeader = field === "headers";
    const text = node.kind === "scalar" ? node.text : "";
    const role = isHeader ? "header" : "variable";
    const isNamed = isHeader ? isCredentialHeader(name) : isCredentialVariable(name);
    const isLiteral = isBare(text);
    const verdict = isLiteral ? secretVerdict(role, name, text) : undefined;
    if (isLiteral ? verdict === undefined || (verdict === "certain" && !isNamed) : !isNamed)
      return this.#read(node, `${field}.${name}`);
    const what = `${isHeader ? "header" : "environment variable"} ${quote(name)} contains a literal`;
    const reference = inlineHint(isHeader ? "header" : "variable", name, text).replace(/^write /, "");
    const own = `"\${${toVariableName(name)}}"`;
    const hint = `write ${own} in its place; or declare the server under tool_servers and write ${reference}`;
    return this.#read(node, `${field}.${name}`, { what, hint, isGuess: verdict === "likely" });
  }

  #read(node: DocumentNode, field: string, credential?: CredentialField): ConfigText {
    if (node.kind !== "scalar" || node.value === null) this.#reportType(node, field, "a text");
    const text = node.kind === "scalar" ? node.text : "";
    const { parts, unknown } = parseTemplate(text);
    for (const variable of unknown) this.addProblem(this.#unknownVariable(variable, node));
    const isBare = unknown.length === 0 && parts.every((part) => typeof part === "string");
    const isLiteralCredential = credential !== undefined && (isBare ? text !== "" : parts.some(hasFallback));
    // A guess only warns: as a secret, an ordinary setting would be removed from the results of its server.
    const isCredential = credential !== undefined && credential.isGuess !== true;
    const hasCredential = literalsOf(parts).some(looksLikeCredential);
    if (hasCredential || isLiteralCredential) this.#reportInline(node, field, credential);
    const isSecret = hasCredential || (isLiteralCredential && isCredential);
    return isBare
      ? { kind: "literal", text: parts.join(""), isSecret, span: node.span }
      : { kind: "template", text, parts, isSecret: isSecret || isCredential, span: node.span };
  }

  #reportType(node: DocumentNode, field: string, wanted: string): void {
    const message = `Field ${quote(field)} of server ${this.#server} must be ${wanted}, but is ${typeName(node)}`;
    this.#reporter.report({ code: "CONFIG_WRONG_TYPE", message, span: node.span });
  }

  #reportInline(node: DocumentNode, field: string, credential: CredentialField | undefined): void {
    const what = credential?.what ?? `field ${quote(field)} contains a possible secret`;
    this.#reporter.report({
      severity: "warning",
      code: "CONFIG_INLINE_SECRET",
      message: `inline secret in server ${this.#server}: ${what}`,
      hint: credential?.hint ?? variableHint,
      span: node.span,
    });
  }

  #unknownVariable(variable: string, node: DocumentNode): Problem {
    const isInput = variable.startsWith("input:");
    const reason = isInput
      ? "needs an answer from a person, and Toolcrib cannot ask one"
      : "is a variable that only its own program can fill in";
    return {
      code: "CONFIG_VARIABLE_NOT_AVAILABLE",
      message: `Server ${this.#server} cannot start: ${quote(`\${${variable}}`)} ${reason}`,
      hint: isInput
        ? `write \${${toVariableName(variable.slice("input:".length))}} and set that environment variable`
        : `write the value, or \${NAME} and set that environment variable`,
      span: node.span,
    };
  }
}

/** Whether a text has no variables. */
function isBare(text: string): boolean {
  return parseTemplate(text).parts.every((part) => typeof part === "string");
}

/** Returns the literal texts and the fallbacks of `parts`. */
function literalsOf(parts: readonly TemplatePart[]): readonly string[] {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    return "fallback" in part ? (part.fallback ?? "") : "";
  });
}

function hasFallback(part: TemplatePart): boolean {
  return (
    typeof part !== "string" && "fallback" in part && part.fallback !== undefined && part.fallback !== ""
  );
}

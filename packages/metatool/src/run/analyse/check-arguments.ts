/**
 * Checks literal arguments of an inner call against the input schema of its tool:
 * unknown fields, missing fields, and wrong types. Other expressions are not checked.
 * Pure.
 */

import type { Span } from "@toolcrib/diagnostics";
import { nearestName } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { Expression } from "@toolcrib/starlark";
import type { CatalogTool } from "../catalog.ts";
import { allowedTypes, coerce, jsonTypeOf } from "../coerce-value.ts";
import { propertySchema, resolveReference } from "../schema-walk.ts";
import { displayName } from "../tool-directory.ts";
import type { ExpressionOf } from "./visit-expressions.ts";

/** Reports a finding. */
export type Report = (finding: {
  readonly severity: "error" | "warning";
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly span: Span;
}) => void;

/** Levels of nested literals that are checked. */
const maxDepth = 16;

/** Checks the arguments of `call`, a call of `tool`. */
export function checkArguments(
  call: ExpressionOf<"CallExpression">,
  tool: CatalogTool,
  report: Report,
): void {
  const positional = call.args.filter(({ kind }) => kind === "positional");
  const isOpen = call.args.some(({ kind }) => kind === "star" || kind === "doubleStar");
  const named = call.args.filter(({ kind }) => kind === "named");
  const name = displayName(tool);
  const check: Check = { tool, root: tool.inputSchema, report, name };
  const [first, second] = positional;
  if (second !== undefined || (first !== undefined && named.length > 0)) {
    const span = second ?? named[0]!;
    const message = `${name} takes one dict or arguments by name`;
    report({ severity: "error", code: "METATOOL_ARGUMENT_FORM", message, hint: `write ${name}({…})`, span });
    return;
  }
  const literal = first === undefined ? undefined : withoutParens(first.value);
  if (literal?.kind === "DictExpression") {
    checkDict(check, literal, tool.inputSchema, 0);
  } else if (literal !== undefined) {
    const type = literalType(literal);
    if (type === undefined || type === "object") return;
    const message = `${name} takes one dict or arguments by name, got ${type}`;
    report({
      severity: "error",
      code: "METATOOL_ARGUMENT_FORM",
      message,
      hint: formHint(check),
      span: literal,
    });
  } else {
    const fields = named.map(({ name: field, value }) => ({ name: field!.name, span: field!, value }));
    checkFields(
      check,
      { fields, isOpen, span: { start: call.start, end: call.parenStart } },
      tool.inputSchema,
      0,
    );
  }
}

interface Check {
  readonly tool: CatalogTool;
  readonly root: JsonObject;
  readonly report: Report;
  readonly name: string;
}

/** The members of a dict, or the arguments by name. */
interface Fields {
  readonly fields: readonly { readonly name: string; readonly span: Span; readonly value: Expression }[];
  /** Whether there can be other members. */
  readonly isOpen: boolean;
  /** Place at which missing members are reported. */
  readonly span: Span;
}

function checkDict(
  check: Check,
  dict: ExpressionOf<"DictExpression">,
  schema: JsonValue | undefined,
  depth: number,
): void {
  const fields = dict.entries.flatMap(({ key, value }) => {
    const literal = withoutParens(key);
    return literal.kind === "StringLiteral" ? [{ name: literal.value, span: literal, value }] : [];
  });
  const isOpen = fields.length < dict.entries.length;
  checkFields(check, { fields, isOpen, span: { start: dict.start, end: dict.start + 1 } }, schema, depth);
}

function checkFields(
  check: Check,
  { fields, isOpen, span }: Fields,
  schema: JsonValue | undefined,
  depth: number,
): void {
  const resolved = resolveReference(schema, check.root);
  if (resolved === undefined || depth > maxDepth) return;
  const { properties } = resolved;
  for (const field of fields) {
    const property = propertySchema(resolved, field.name);
    if (property !== undefined) checkValue(check, field.value, property, field.name, depth + 1);
    else if (isClosed(resolved))
      unknownField(check, field.name, field.span, Object.keys(properties as JsonObject));
  }
  if (isOpen || !Array.isArray(resolved["required"])) return;
  const given = new Set(fields.map(({ name }) => name));
  for (const name of resolved["required"] as readonly JsonValue[]) {
    if (typeof name !== "string" || given.has(name)) continue;
    const description = resolveReference(propertySchema(resolved, name), check.root)?.["description"];
    check.report({
      severity: "warning",
      code: "METATOOL_ARGUMENT_MISSING",
      message: `${check.name} needs "${name}"`,
      hint: typeof description === "string" ? `"${name}": ${description.slice(0, 200)}` : undefined,
      span,
    });
  }
}

/** Returns whether the schema lists its properties and does not mention others. */
function isClosed(schema: JsonObject): boolean {
  const { properties, additionalProperties, patternProperties } = schema;
  if (patternProperties !== undefined || (additionalProperties ?? false) !== false) return false;
  if (["allOf", "anyOf", "oneOf", "if", "$ref"].some((keyword) => schema[keyword] !== undefined))
    return false;
  return isJsonObject(properties) && (Object.keys(properties).length > 0 || additionalProperties === false);
}

function unknownField(check: Check, name: string, span: Span, known: readonly string[]): void {
  const near = nearestName(name, known);
  const suggestion = near === undefined ? "" : ` (did you mean "${near}"?)`;
  const listed = known.slice(0, 20).map((one) => `"${one}"`);
  check.report({
    severity: "warning",
    code: "METATOOL_ARGUMENT_UNKNOWN",
    message: `${check.name} has no "${name}"${suggestion}`,
    hint: known.length === 0 ? "it takes no arguments" : `it takes ${listed.join(", ")}`,
    span,
  });
}

function checkValue(
  check: Check,
  expression: Expression,
  schema: JsonValue,
  field: string,
  depth: number,
): void {
  const resolved = resolveReference(schema, check.root);
  if (resolved === undefined || depth > maxDepth) return;
  const literal = withoutParens(expression);
  const types = allowedTypes(resolved, check.root);
  const type = literalType(literal);
  const plain = plainValue(literal);
  if (type !== undefined && types.length > 0 && !fits(type, types) && !isCoerced(check, plain, resolved)) {
    const message = `"${field}" of ${check.name} is ${types.join(" or ")}, got ${type}`;
    check.report({ severity: "warning", code: "METATOOL_ARGUMENT_TYPE", message, span: literal });
    return;
  }
  const { enum: listed } = resolved;
  if (
    plain !== undefined &&
    Array.isArray(listed) &&
    !listed.includes(plain) &&
    !isCoerced(check, plain, resolved)
  ) {
    const shown = (listed as readonly JsonValue[]).slice(0, 20).map((one) => JSON.stringify(one));
    const message = `"${field}" of ${check.name} is one of ${shown.join(", ")}`;
    check.report({ severity: "warning", code: "METATOOL_ARGUMENT_TYPE", message, span: literal });
  }
  if (literal.kind === "DictExpression") checkDict(check, literal, resolved, depth);
  if (literal.kind === "ListExpression" && resolved["items"] !== undefined) {
    for (const element of literal.elements) checkValue(check, element, resolved["items"], field, depth + 1);
  }
}

/** Saved tools coerce their arguments; other tools receive them unchanged. */
function isCoerced({ tool, root }: Check, plain: JsonValue | undefined, schema: JsonObject): boolean {
  return tool.isComposite && plain !== undefined && coerce(plain, schema, root) !== plain;
}

function fits(type: string, types: readonly string[]): boolean {
  return types.includes(type) || (type === "integer" && types.includes("number"));
}

/** Returns the JSON Schema type of an expression, if it is evident. */
function literalType(expression: Expression): string | undefined {
  const plain = plainValue(expression);
  if (plain !== undefined) return jsonTypeOf(plain);
  switch (expression.kind) {
    case "FString":
      return "string";
    case "IntLiteral":
      return "integer";
    case "ListExpression":
    case "TupleExpression":
      return "array";
    case "DictExpression":
      return "object";
    case "Comprehension":
      return expression.body.kind === "DictEntry" ? "object" : "array";
    default:
      return undefined;
  }
}

/** Returns the value of a scalar literal. */
function plainValue(expression: Expression): JsonValue | undefined {
  switch (expression.kind) {
    case "StringLiteral":
    case "FloatLiteral":
      return expression.value;
    case "IntLiteral":
      return typeof expression.value === "number" ? expression.value : undefined;
    case "UnaryExpression": {
      const operand = expression.operator === "-" ? plainValue(expression.operand) : undefined;
      return typeof operand === "number" ? -operand : undefined;
    }
    case "Identifier":
      if (expression.binding?.kind !== "universal") return undefined;
      return expression.name === "None"
        ? null
        : expression.name === "True"
          ? true
          : expression.name === "False"
            ? false
            : undefined;
    default:
      return undefined;
  }
}

/** Returns an example call with the required fields. */
function formHint({ name, root }: Check): string {
  const required = Array.isArray(root["required"]) ? (root["required"] as readonly JsonValue[]) : [];
  const fields = required.slice(0, 5).map((field) => `${JSON.stringify(field)}: …`);
  return `write ${name}({${fields.length === 0 ? "…" : fields.join(", ")}})`;
}

/** Removes parentheses around an expression. */
export function withoutParens(expression: Expression): Expression {
  let inner = expression;
  while (inner.kind === "ParenExpression") inner = inner.expression;
  return inner;
}

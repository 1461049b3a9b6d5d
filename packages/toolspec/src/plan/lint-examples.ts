/** Checks the examples of a toolspec as its tests: each is planned and must produce the request that it states. */

import { isCodedError } from "@toolcrib/diagnostics";
import { type DocumentNode, entryOf, fieldOf, itemsOf, type OpenDocument, quote } from "@toolcrib/document";
import { parseHostPattern } from "@toolcrib/hosts";
import type { Toolspec, ToolspecExample, ToolspecTool } from "../spec/toolspec.ts";
import { compareExample } from "./check-example.ts";
import { exampleVariables } from "./example-variables.ts";
import { planRequest } from "./plan-request.ts";

/** Reports every example of `spec` that produces another request. */
export function lintExamples(spec: Toolspec, { tree, reporter }: OpenDocument): void {
  for (const [toolIndex, node] of itemsOf(tree, "tools").entries()) {
    const tool = spec.tools[toolIndex];
    for (const [index, found] of itemsOf(node, "examples").entries()) {
      const example = tool?.examples?.[index];
      if (tool === undefined || example === undefined) continue;
      for (const { part, message, hint } of failuresOf(tool, spec, example)) {
        reporter.report({
          code: "TOOLSPEC_EXAMPLE_FAILS",
          message: `Example ${index + 1} of tool ${quote(tool.name)} fails: ${message}`,
          hint,
          span: placeOf(found, part),
          path: `tools[${toolIndex}].examples[${index}]`,
        });
      }
    }
  }
}

interface Failure {
  readonly part: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

function failuresOf(tool: ToolspecTool, spec: Toolspec, example: ToolspecExample): readonly Failure[] {
  const host = /^https:\/\/([^/?#]*)/.exec(example.request.url)?.[1] ?? "";
  const pattern = parseHostPattern(host);
  if (pattern.kind === "invalid") return [{ part: "url", message: "its URL has no host" }];
  const baseUrl = tool.baseUrl ?? spec.baseUrl;
  const variables = exampleVariables(tool, spec, example.request.url);
  // The manifest decides which hosts are allowed; here another host is a difference in the URL.
  const own = parseHostPattern(baseUrl.replace(/^https:\/\//, ""));
  const egress = [pattern.value, ...(own.kind === "valid" ? [own.value] : [])];
  try {
    const plan = planRequest(tool, spec, example.args, { egress, variables });
    return compareExample(example, plan).map(({ part, expected, actual }) => ({
      part,
      message: `expected ${part} ${quote(expected)}, but it is ${quote(actual)}`,
    }));
  } catch (error) {
    if (!isCodedError(error)) throw error;
    if (error.code !== "TOOLSPEC_VARIABLE_UNSET")
      return [{ part: "args", message: error.message, hint: error.hint }];
    const hint = "the values of variables are read from the URL: write the intended value";
    return [{ part: "url", message: error.message, hint }];
  }
}

function placeOf(example: DocumentNode, part: string): DocumentNode["span"] {
  const request = fieldOf(example, "request");
  const [field = "", ...rest] = part.split(".");
  const entry = field === "args" ? entryOf(example, "args") : entryOf(request, field);
  const header = rest.length > 0 ? entryOf(entry?.value, rest.join(".")) : undefined;
  return (header ?? entry)?.value.span ?? entryOf(example, "request")?.keySpan ?? example.span;
}

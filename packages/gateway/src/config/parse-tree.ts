/**
 * A configuration text to a tree: JSON where it is JSON, else YAML. Says which
 * text may be shown. No I/O, no exceptions.
 */

import type { Source } from "@toolcrib/diagnostics";
import { configFileTooLarge } from "./codes.ts";
import { type ConfigNode, configMaxBytes } from "./config-tree.ts";
import { toDisplaySource } from "./display-source.ts";
import { parseJsonTree, skipJsonSpace } from "./parse-json-tree.ts";
import { parseYamlTree, type ReadPlainYaml } from "./parse-yaml-tree.ts";
import { createReporter, type Problem, type Reporter } from "./reporter.ts";

export interface ParsedTree {
  /** `undefined` for an empty text and for one with syntax errors. */
  readonly tree: ConfigNode | undefined;
  /** Holds what was found so far and the text that may be shown. */
  readonly reporter: Reporter;
}

/** Read `source`. A file named `.yaml` or `.yml` is YAML, any other is JSON when it begins like JSON. */
export function parseTree(source: Source, readPlain?: ReadPlainYaml): ParsedTree {
  const text = source.text.startsWith("\ufeff") ? source.text.slice(1) : source.text;
  if (Buffer.byteLength(text) > configMaxBytes) {
    const reporter = createReporter({ name: source.name, text: "" });
    reporter.report(tooLarge());
    return { tree: undefined, reporter };
  }
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const tree = isJson(source.name, text)
    ? parseJsonTree(text, report)
    : parseYamlTree(text, report, readPlain);
  const reporter = createReporter(toDisplaySource({ name: source.name, text }, tree));
  for (const problem of problems) reporter.report(problem);
  return { tree, reporter };
}

/** What is reported for a file of more than 1 MiB. */
export function tooLarge(): Problem {
  return {
    code: configFileTooLarge,
    message: `Cannot read a configuration of more than ${configMaxBytes.toLocaleString("en")} bytes`,
    hint: "split it into several files and give them all: they are composed left to right",
  };
}

function isJson(name: string, text: string): boolean {
  const first = text[skipJsonSpace(text, 0)];
  return !/\.ya?ml$/i.test(name) && (first === "{" || first === "[");
}

/** Results of tests as JUnit XML, which CI systems read. Pure. */

import type { TestResults } from "@toolcrib/mcpkg-runtime";

/** Returns the XML of a run. @param at RFC 3339 time of its start @param mode `live`, `record` or `replay` */
export function toJunit(
  { toolId, version, results, durationMs }: TestResults,
  at: string,
  mode: string,
): string {
  const failed = results.filter(({ outcome }) => outcome === "failed").length;
  const errors = results.filter(({ outcome }) => outcome === "error").length;
  const counts = `tests="${results.length}" failures="${failed}" errors="${errors}" time="${seconds(durationMs)}"`;
  const cases = results.map(({ path, name, outcome, failures, latencyMs }) => {
    const open = `    <testcase classname="${escaped(toolId)}" name="${escaped(name)}" file="${escaped(path)}" time="${seconds(latencyMs)}"`;
    if (outcome === "passed") return `${open}/>`;
    const element = outcome === "failed" ? "failure" : "error";
    return [
      `${open}>`,
      `      <${element} message="${escaped(failures[0] ?? "")}">${escaped(failures.join("\n"))}</${element}>`,
      "    </testcase>",
    ].join("\n");
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${escaped(`${toolId} ${version}`)}" ${counts} timestamp="${escaped(at)}">`,
    `    <properties><property name="toolcrib.mode" value="${escaped(mode)}"/></properties>`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

const entities: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
  "\t": "&#9;",
};

/** XML 1.0 has no other control characters, not even escaped. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"\n\t]/g, (character) => entities[character] ?? "");
}

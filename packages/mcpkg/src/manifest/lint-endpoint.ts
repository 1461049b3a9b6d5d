/** Checks an endpoint by itself: its URL and the input that it binds, or its command. Pure. */

import type { PackageFiles } from "../package-files.ts";
import type { MemberProblem } from "./lint-chain.ts";
import type { Endpoint, Manifest } from "./manifest-shape.ts";
import { parseCommand, pathsOfCommand } from "./parse-command.ts";

/** Returns the findings about `endpoint`, which is at the place `at` of the manifest. */
export function lintEndpoint(
  endpoint: Endpoint,
  { input_schema: inputSchema }: Manifest,
  files: Pick<PackageFiles, "has">,
  at: readonly (string | number)[],
): MemberProblem[] {
  switch (endpoint.type) {
    case "http":
      return lintUrl(endpoint.url, inputSchema, [...at, "url"]);
    case "starlark":
      return files.has(endpoint.source) ? [] : [missing(endpoint.source, [...at, "source"], "error")];
    case "local": {
      const command = parseCommand(endpoint.command);
      const place = [...at, "command"];
      if (command.kind === "invalid") {
        const message = `Cannot run "${endpoint.command.slice(0, 200)}": ${command.reason}`;
        return [{ code: "MCPKG_COMMAND_INVALID", message, at: place }];
      }
      const severity = command.kind === "file" ? "error" : "warning";
      return pathsOfCommand(command)
        .filter((path) => !files.has(path))
        .map((path) => missing(path, place, severity));
    }
  }
}

function missing(
  path: string,
  at: readonly (string | number)[],
  severity: "error" | "warning",
): MemberProblem {
  return {
    severity,
    code: "MCPKG_FILE_MISSING",
    message: `The package has no file "${path.slice(0, 240)}"`,
    at,
  };
}

/** A placeholder of a URL. */
const placeholder = /\{([^{}]*)\}/g;

function lintUrl(
  url: string,
  { properties }: Manifest["input_schema"],
  at: readonly (string | number)[],
): MemberProblem[] {
  const problem = (message: string, hint?: string): MemberProblem => ({
    code: "MCPKG_ENDPOINT_INVALID",
    message,
    hint,
    at,
  });
  const names = [...url.matchAll(placeholder)].map(([, name = ""]) => name);
  const known = typeof properties === "object" && properties !== null ? properties : {};
  const unknown = names.filter((name) => !Object.hasOwn(known, name));
  const problems = unknown.map((name) =>
    problem(
      `The URL has the placeholder {${name}}, which is no property of the input schema`,
      "a placeholder is filled with the input property of its name",
    ),
  );
  const sample = url.replaceAll(placeholder, "x");
  if (!URL.canParse(sample)) return [...problems, problem(`"${url.slice(0, 200)}" is not a URL`)];
  const { protocol, username, password, hash } = new URL(sample);
  if (protocol !== "https:" && protocol !== "http:") {
    problems.push(problem(`A URL begins with https://, and not with ${protocol}//`));
  }
  if (username !== "" || password !== "") {
    problems.push(
      problem("A URL has no user and no password", "write auth, and keep the secret in the secret store"),
    );
  }
  if (hash !== "") problems.push(problem("A URL of an endpoint has no part after #"));
  if (names.length > 0 && /^[a-z]+:\/\/[^/?#]*\{/i.test(url)) {
    problems.push(problem("A URL has no placeholder in its host", "an input must not choose the host"));
  }
  return problems;
}

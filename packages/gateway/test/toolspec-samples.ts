/** Manifests and toolspecs that several tests write. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Write `files`, texts by their paths, below `folder`. */
export function writeFiles(folder: string, files: { readonly [path: string]: string }): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** A sealed manifest with one credential, `token`, for the toolspec of `toolspec`. */
export function manifest(
  name: string,
  more: { readonly version?: string; readonly credentials?: string } = {},
): string {
  const { version = "0.1.0" } = more;
  const credentials =
    more.credentials ??
    `  - id: token
    type: api_key
    inject: { header: Authorization, format: "Bearer {token}" }
`;
  return `schemaVersion: 1
name: ${name}
version: ${version}
displayName: The ${name} service
description: Repositories and their issues
category: dev-tools
source: { repo: github.com/acme/${name}, tag: v${version} }
image:
  ref: registry.example/${name}
  digest: sha256:${"0".repeat(64)}
  entrypoint: /app/server
  builder: toolpack
tier: sealed
entitlements:
  egress: [api.${name}.example, "*.${name}.example"]
${credentials === "" ? "" : `credentials:\n${credentials}`}tools:
  - { name: list_repos, default: true }
  - { name: get_repo, default: true }
  - { name: add_repo, default: false }
`;
}

/** The toolspec of `manifest`. */
export function toolspec(name: string, { version = "0.1.0" }: { readonly version?: string } = {}): string {
  return `schemaVersion: 1
name: ${name}
version: ${version}
baseUrl: https://api.${name}.example
tools:
  - name: list_repos
    description: List the repositories of an owner
    method: GET
    path: /owners/{owner}/repos
    params:
      - { name: owner, in: path, type: string, required: true }
      - { name: limit, in: query, type: integer }
  - name: get_repo
    description: Get one repository
    method: GET
    path: /repos/{id}
    params:
      - { name: id, in: path, type: string, required: true }
  - name: add_repo
    description: Add a repository
    method: POST
    path: /repos
    params:
      - { name: name, in: body, type: string, required: true }
`;
}

/** The files of a catalogue with one version of each of `names`. */
export function catalog(...names: readonly string[]): { readonly [path: string]: string } {
  return Object.fromEntries(
    names.flatMap((name) => [
      [`manifests/${name}/0.1.0.yaml`, manifest(name)],
      [`toolspecs/${name}/0.1.0.yaml`, toolspec(name)],
    ]),
  );
}

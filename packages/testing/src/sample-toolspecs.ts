/** Valid manifests and toolspecs of fictional APIs, as texts. A test changes the part that it is about. */

/** Options of a sample. */
export interface SampleManifestOptions {
  /** @default "0.1.0" */
  readonly version?: string;
  /** @default "dev-tools" */
  readonly category?: string;
  /** Host patterns, as a list in YAML. @default `api.NAME.example` and all other hosts of `NAME.example` */
  readonly egress?: string;
  /** Secrets, as items of a YAML list, each with its newline; empty for an API without authentication. @default one API key, `token` */
  readonly credentials?: string;
}

const oneKey = `  - id: token
    type: api_key
    inject: { header: Authorization, format: "Bearer {token}" }
`;

/** Returns a sealed manifest for the toolspec of `sampleToolspec`. Two tools are enabled by default, one is not. */
export function sampleManifest(name: string, options: SampleManifestOptions = {}): string {
  const { version = "0.1.0", category = "dev-tools", credentials = oneKey } = options;
  const { egress = `[api.${name}.example, "*.${name}.example"]` } = options;
  return `schemaVersion: 1
name: ${name}
version: ${version}
displayName: The ${name} service
description: Repositories of ${name}, and what is in them. Takes what its settings give.
category: ${category}
source: { repo: github.com/acme/${name}, tag: v${version} }
image:
  ref: registry.example/${name}
  digest: sha256:${"0".repeat(64)}
  entrypoint: /app/server
  builder: toolpack
tier: sealed
entitlements:
  egress: ${egress}
${credentials === "" ? "" : `credentials:\n${credentials}`}tools:
  - { name: list_repos, default: true }
  - { name: get_repo, default: true }
  - { name: add_repo, default: false }
`;
}

/** Returns the toolspec for the manifest of `sampleManifest`. */
export function sampleToolspec(name: string, { version = "0.1.0" } = {}): string {
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

/** Returns the files of a catalog with one version of each of `names`, for `writeFiles`. */
export function sampleCatalog(...names: readonly string[]): { readonly [path: string]: string } {
  return Object.fromEntries(
    names.flatMap((name) => [
      [`manifests/${name}/0.1.0.yaml`, sampleManifest(name)],
      [`toolspecs/${name}/0.1.0.yaml`, sampleToolspec(name)],
    ]),
  );
}

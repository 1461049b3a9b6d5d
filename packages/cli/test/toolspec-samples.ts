/** A catalogue of two APIs, for tests of what is done with one. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Write the catalogue below `folder`. */
export function writeCatalog(folder: string): void {
  const files: { readonly [path: string]: string } = {
    "manifests/acme/0.1.0.yaml": manifest("acme", "0.1.0", keyCredential),
    "manifests/acme/0.2.0.yaml": manifest("acme", "0.2.0", keyCredential),
    "toolspecs/acme/0.1.0.yaml": toolspec("acme", "0.1.0"),
    "toolspecs/acme/0.2.0.yaml": toolspec("acme", "0.2.0"),
    "manifests/desk/0.1.0.yaml": manifest("desk", "0.1.0", basicCredential, "support").replace(
      "api.desk.example",
      '"*.desk.example"',
    ),
    "toolspecs/desk/0.1.0.yaml": toolspec("desk", "0.1.0")
      .replace("schemaVersion: 1", "schemaVersion: 2")
      .replace(
        "https://api.desk.example",
        'https://{tenant}.desk.example\nvariables:\n  tenant: { description: "name of the company, as in https://NAME.desk.example" }',
      ),
    "manifests/mail/0.1.0.yaml": manifest("mail", "0.1.0", oauthCredential, "comms"),
    "toolspecs/mail/0.1.0.yaml": toolspec("mail", "0.1.0").replaceAll("repositories", "messages"),
    "manifests/open/0.1.0.yaml": manifest("open", "0.1.0", "", "data").replaceAll(
      "default: true",
      "default: false",
    ),
    "toolspecs/open/0.1.0.yaml": toolspec("open", "0.1.0"),
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

const keyCredential = `credentials:
  - { id: token, type: api_key, inject: { header: Authorization, format: "Bearer {token}" } }
`;
const basicCredential = `credentials:
  - { id: login, type: basic, inject: { header: Authorization, format: "Basic {token}" } }
`;
const oauthCredential = `credentials:
  - id: access
    type: oauth2
    vendor: mail-example
    scopes: [read, send]
    inject: { header: Authorization, format: "Bearer {token}" }
`;

function manifest(name: string, version: string, credentials: string, category = "dev-tools"): string {
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
  egress: [api.${name}.example]
${credentials}tools:
  - { name: list_repos, default: true }
  - { name: get_repo, default: true }
  - { name: add_repo, default: false }
`;
}

function toolspec(name: string, version: string): string {
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

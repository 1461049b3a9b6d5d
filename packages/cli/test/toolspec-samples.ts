/** A catalog of four APIs for tests. */

import { type SampleManifestOptions, sampleManifest, sampleToolspec, writeFiles } from "@toolcrib/testing";

/** Writes the catalog below `folder`. */
export function writeCatalog(folder: string): void {
  writeFiles(folder, {
    "manifests/acme/0.1.0.yaml": manifest("acme"),
    "manifests/acme/0.2.0.yaml": manifest("acme", { version: "0.2.0" }),
    "toolspecs/acme/0.1.0.yaml": sampleToolspec("acme"),
    "toolspecs/acme/0.2.0.yaml": sampleToolspec("acme", { version: "0.2.0" }),
    "manifests/desk/0.1.0.yaml": manifest("desk", {
      credentials: basicCredential,
      category: "support",
      egress: '["*.desk.example"]',
    }),
    "toolspecs/desk/0.1.0.yaml": sampleToolspec("desk")
      .replace("schemaVersion: 1", "schemaVersion: 2")
      .replace(
        "https://api.desk.example",
        'https://{tenant}.desk.example\nvariables:\n  tenant: { description: "name of the company, as in https://NAME.desk.example" }',
      ),
    "manifests/mail/0.1.0.yaml": manifest("mail", { credentials: oauthCredential, category: "comms" }),
    "toolspecs/mail/0.1.0.yaml": sampleToolspec("mail").replaceAll("repositories", "messages"),
    "manifests/open/0.1.0.yaml": manifest("open", { credentials: "", category: "data" }).replaceAll(
      "default: true",
      "default: false",
    ),
    "toolspecs/open/0.1.0.yaml": sampleToolspec("open"),
  });
}

const basicCredential = `  - { id: login, type: basic, inject: { header: Authorization, format: "Basic {token}" } }
`;
const oauthCredential = `  - id: access
    type: oauth2
    vendor: mail-example
    scopes: [read, send]
    inject: { header: Authorization, format: "Bearer {token}" }
`;

/** Returns a manifest that allows one host, by default that of its name. */
function manifest(name: string, options: SampleManifestOptions = {}): string {
  return sampleManifest(name, { egress: `[api.${name}.example]`, ...options });
}

/** Valid files, for tests that change one thing in them. */

import assert from "node:assert/strict";
import { parseHostPattern } from "@toolcrib/hosts";
import {
  parseToolspec,
  planRequest,
  type RequestPlan,
  type Toolspec,
  type ToolspecTool,
} from "@toolcrib/toolspec";

/** Returns a valid manifest of the sealed tier. */
export const manifest = `schemaVersion: 1
name: demo
version: 0.1.0
source:
  repo: github.com/example/toolpack
  tag: v0.1.0
image:
  ref: ghcr.io/example/demo
  digest: sha256:${"0a".repeat(32)}
  entrypoint: /app/server
  builder: toolpack
tier: sealed
entitlements:
  egress:
    - api.example.com
credentials:
  - id: key
    type: api_key
    provider: demo
    inject:
      header: Authorization
      format: "Bearer {token}"
tools:
  - name: get_item
    default: true
`;

/** Returns its toolspec. */
export const toolspec = `schemaVersion: 1
name: demo
version: 0.1.0
baseUrl: https://api.example.com
tools:
  - name: get_item
    description: Get an item
    method: GET
    path: /items/{id}
    params:
      - {name: id, in: path, type: string, required: true}
      - {name: limit, in: query, type: integer}
`;

/** Returns `text` with one replacement. The replaced text must occur. */
export function change(text: string, from: string, to: string): string {
  assert.ok(text.includes(from), `no ${JSON.stringify(from)} to change`);
  return text.replace(from, () => to);
}

/** Parses a toolspec with one tool `call`. It need not be valid. */
export function specWith(lines: string, version = 1, top = ""): Toolspec {
  const text = `schemaVersion: ${version}
name: demo
version: 0.1.0
baseUrl: https://api.example.com
${top}tools:
  - name: call
    description: Call it
${lines.replace(/^/gm, "    ")}
`;
  const { value, diagnostics } = parseToolspec({ name: "demo.yaml", text });
  assert.ok(value, diagnostics.map(({ message }) => message).join("; "));
  return value;
}

/** Plans a call of the only tool of `spec`. */
export function plan(
  spec: Toolspec,
  args: object,
  options: Partial<Parameters<typeof planRequest>[3]> = {},
): RequestPlan {
  const egress = ["api.example.com", "*.example.net"].flatMap((text) => {
    const read = parseHostPattern(text);
    return read.kind === "valid" ? [read.value] : [];
  });
  return planRequest(spec.tools[0] as ToolspecTool, spec, args as Parameters<typeof planRequest>[2], {
    egress,
    ...options,
  });
}

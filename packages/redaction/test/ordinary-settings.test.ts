/** Settings of ordinary programs whose names or values only resemble those of secrets, and secrets that resemble them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { secretVerdict } from "@toolcrib/redaction";

type Case = Parameters<typeof secretVerdict>;

const ordinary: readonly Case[] = [
  ["variable", "SMTP_AUTH", "LOGIN"],
  ["variable", "SMTP_AUTH", "cram-md5"],
  ["variable", "DB_AUTH", "scram-sha-256"],
  ["variable", "AUTH", "ldap"],
  ["variable", "COMPASS", "north"],
  ["variable", "COMPASS", "north-west"],
  ["variable", "BYPASS", "localhost"],
  ["variable", "PROXY_BYPASS", "localhost,.internal"],
  ["variable", "OVERPASS", "https://overpass-api.de/api/interpreter"],
  ["variable", "LED_PIN", "1234"],
  ["variable", "SESSION_ID", "42"],
  ["variable", "MAX_TOKEN", "4096"],
  ["variable", "BUCKET", "my-company-prod-logs-eu-central-1-123456789012"],
  ["variable", "SPREADSHEET", "1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgVE2upms"],
  ["variable", "KUBE_CONTEXT", "gke_my-project-123456_europe-west1-b_production"],
  ["variable", "DOCS", "https://example.com/?keyword=cats"],
  ["variable", "SUMMARY", "keep each text short but say what was done with how many files"],
  ["url", "", "http://127.0.0.1:1/sse?design=1"],
  ["url", "", "https://example.com/mcp?assigned=me"],
  ["url", "", "https://example.com/mcp?author=me"],
  ["url", "", "https://example.com/mcp?primary_key=id"],
  ["url", "", "https://example.com/mcp?key=name"],
  ["argument", "", "--max-token=4096"],
  ["argument", "", "key=name"],
  ["argument", "", "primary_key=id"],
  ["argument", "", "SMTP_AUTH=LOGIN"],
  ["argument", "", "COMPASS=north"],
];

const secrets: readonly (readonly [Case, "certain" | "likely"])[] = [
  [["variable", "SMTP_AUTH", "ada:hunter2"], "likely"],
  [["variable", "DB_AUTH", "Hunter2!x9"], "likely"],
  [["variable", "DB_PASS", "north"], "certain"],
  [["variable", "DBPASS", "north"], "certain"],
  [["variable", "INPUT_TOKEN", "hunter2"], "certain"],
  [["variable", "CARD_PIN", "1234"], "likely"],
  [["variable", "SESSION_ID", "a8F2kQ9xL1"], "likely"],
  [["variable", "BUCKET", "aB3dE6gH9jK2-mN5pQ8sT1vW4-yZ7bC0dF3gH6"], "likely"],
  [
    ["variable", "WORDS", "legal winner thank year wave sausage worth useful legal winner thank yellow"],
    "likely",
  ],
  [["url", "", "https://example.com/mcp?key=hunter2x"], "likely"],
  [["url", "", "https://example.com/mcp?auth=hunter2x"], "likely"],
  [["argument", "", "--token=hunter2x"], "likely"],
  [["header", "X-Auth", "swordfish"], "likely"],
];

test("secretVerdict() takes ordinary settings for no secrets", () => {
  const others = ordinary.map((one) => [...one, secretVerdict(...one)]).filter((one) => one[3] !== undefined);
  assert.deepEqual(others, []);
});

test("secretVerdict() recognizes secrets that resemble ordinary settings", () => {
  const others = secrets.filter(([one, verdict]) => secretVerdict(...one) !== verdict);
  assert.deepEqual(
    others.map(([one, verdict]) => [...one, verdict, secretVerdict(...one)]),
    [],
  );
});

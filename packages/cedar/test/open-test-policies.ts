/** Opens policies for a test. */

import assert from "node:assert/strict";
import { openCedarPolicies, parsePolicies } from "@toolcrib/cedar";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { attributes } from "./policy-reference.ts";

/** Opens the policies of one file, with the roles and labels that the reference knows. Fails the test where they are faulty. */
export async function openTestPolicies(text: string): ReturnType<typeof openCedarPolicies> {
  const { value, diagnostics } = await parsePolicies([{ name: "main.cedar", text }]);
  assert.ok(value, formatDiagnostics(diagnostics));
  const attributesOf = ({ name }: { readonly name: string }) => attributes[name] ?? { roles: [], labels: {} };
  return openCedarPolicies(value, { attributesOf });
}

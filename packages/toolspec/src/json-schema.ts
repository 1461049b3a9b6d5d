/** JSON Schemas of manifests and toolspecs, for editors. Generated from the shapes that validate files. */

import type { JsonObject } from "@toolcrib/json";
import { manifestShape } from "./manifest/manifest-shape.ts";
import { toolspecShape } from "./spec/toolspec-shape.ts";

const draft = "https://json-schema.org/draft/2020-12/schema";

/** JSON Schema (draft 2020-12) of manifests of both schema versions. Rules that only lint checks are in the descriptions. */
export function manifestJsonSchema(): JsonObject {
  return { $schema: draft, title: "Toolcrib manifest", ...manifestShape.toJsonSchema() };
}

/** JSON Schema (draft 2020-12) of toolspecs of both schema versions. Rules that only lint checks are in the descriptions. */
export function toolspecJsonSchema(): JsonObject {
  return { $schema: draft, title: "Toolcrib toolspec", ...toolspecShape.toJsonSchema() };
}

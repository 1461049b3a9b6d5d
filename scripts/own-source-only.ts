/**
 * Preloaded by `npm test` on source: the condition `source` means the
 * sources of this repository. Other packages export a `source` of their own
 * (`eventsource`, `eventsource-parser`, which the MCP SDKs load), which Node
 * does not run from node_modules. Never touches how our own packages resolve.
 */

import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (
      !context.conditions.includes("source") ||
      !/^[@a-z]/.test(specifier) ||
      specifier.startsWith("@toolcrib/")
    ) {
      return nextResolve(specifier, context);
    }
    const conditions = context.conditions.filter((condition) => condition !== "source");
    return nextResolve(specifier, { ...context, conditions });
  },
});

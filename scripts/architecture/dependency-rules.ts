/**
 * Checks that the `package.json` of a package lists exactly the imports of its `src`:
 * packages of this repository at their own version, others at exact versions.
 */

import { isBuiltin } from "node:module";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { listModuleReferences } from "../syntax.ts";
import type { WorkspacePackage } from "../workspace.ts";

/** Returns a finding for each dependency of `owner` that is missing, unused or not pinned. */
export function checkDependencies(
  owner: WorkspacePackage,
  packages: readonly WorkspacePackage[],
): Diagnostic[] {
  const declared = { ...owner.manifest.dependencies, ...owner.manifest.optionalDependencies };
  const used = new Set<string>();
  const findings: Diagnostic[] = [];
  for (const file of owner.src) {
    for (const { specifier, span } of listModuleReferences(file.syntax)) {
      const name = packageOf(specifier);
      if (name === undefined || name === owner.manifest.name) continue;
      if (!used.has(name) && declared[name] === undefined) {
        const message = `"${name}" is imported and not among the dependencies of ${owner.manifestSource.name}`;
        findings.push({
          severity: "error",
          code: "ARCH_DEPENDENCY_MISSING",
          message,
          source: file,
          span,
        });
      }
      used.add(name);
    }
  }
  const report = (code: string, name: string, message: string) => {
    const { text } = owner.manifestSource;
    const start = Math.max(0, text.indexOf(`"${name}"`, text.indexOf('ependencies"')));
    const span = { start, end: start + name.length + 2 };
    findings.push({ severity: "error", code, message, source: owner.manifestSource, span });
  };
  for (const [name, version] of Object.entries(declared)) {
    if (!used.has(name))
      report("ARCH_DEPENDENCY_UNUSED", name, `"${name}" is a dependency that nothing imports`);
    const own = packages.find(({ manifest }) => manifest.name === name);
    const expected = own?.manifest.version;
    if (expected !== undefined && version !== expected)
      report("ARCH_DEPENDENCY_VERSION", name, `"${name}" is at ${expected} here, not "${version}"`);
    else if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      report("ARCH_DEPENDENCY_VERSION", name, `"${name}" is not pinned to one version but "${version}"`);
  }
  return findings;
}

/** Returns the package of a specifier; undefined for relative ones and for Node's own modules. */
function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith(".") || isBuiltin(specifier)) return undefined;
  const parts = specifier.split("/");
  return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : parts[0];
}

/**
 * Resolves the modules of a checkout without looking for them: Node tries several
 * places for each import and follows symbolic links, for some 800 modules. Saves a
 * fifth of the time to load the sources. In the build there is nothing to resolve.
 */

import { existsSync } from "node:fs";
import { registerHooks } from "node:module";

const packages = new URL("../../", import.meta.url);

/** Resolves packages of this repository, and relative imports between their sources. */
export function resolveSourcesDirectly(): void {
  // Not `url`: in the bundle of a checkout, it still names the source.
  if (!import.meta.filename.endsWith(".ts")) return;
  registerHooks({
    resolve(specifier, context, next) {
      const url = sourceOf(specifier, context.parentURL);
      // What is missing is reported by Node.
      return url === undefined || !existsSync(url)
        ? next(specifier, context)
        : { url: url.href, format: "module-typescript", shortCircuit: true };
    },
  });
}

function sourceOf(specifier: string, parentUrl: string | undefined): URL | undefined {
  const folder = /^@toolcrib\/([a-z-]+)$/.exec(specifier)?.[1];
  if (folder !== undefined) return new URL(`${folder}/src/index.ts`, packages);
  const isRelative = specifier.startsWith(".") && specifier.endsWith(".ts");
  return isRelative && parentUrl?.startsWith(packages.href) === true
    ? new URL(specifier, parentUrl)
    : undefined;
}

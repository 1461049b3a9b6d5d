/**
 * Completes a set of packages by the tools that their chains call (MCPKG document, section 11):
 * those that are installed, those that the lock file of the project names, and otherwise the newest ones of
 * the registry. Finds chains that call each other in a circle.
 */

import type { SchemaValidator } from "@toolcrib/json";
import { isToolId, type Manifest, toolIdOfName } from "@toolcrib/mcpkg";
import { InstallError } from "../install-error.ts";
import type { OpenedSource } from "../source/open-source.ts";
import { type InstallState, openIntact, visibleEntryOf } from "./install-state.ts";

/** A package that will be installed. */
export interface Candidate extends OpenedSource {
  /** The tools whose chains call it; empty: it was named. */
  readonly neededBy: readonly string[];
}

/** Packages by their toolIds. */
export type Candidates = Map<string, Candidate>;

/** Opens the package of a toolId: the locked one, or the newest one; undefined where there is none. */
export type OpenTool = (toolId: string) => Promise<OpenedSource | undefined>;

/**
 * Returns the toolIds that the chain of a manifest calls, by any of the names that the gateway has for them. Other names
 * are tools of the gateway.
 *
 * @param known toolIds of packages that are installed or will be
 */
export function toolsOfChain({ chain = [] }: Manifest, known: Iterable<string>): readonly string[] {
  const toolIds = [...known];
  return [...new Set(chain.map(({ tool }) => toolIdOfName(tool, toolIds)))].filter(isToolId);
}

/** The toolIds of all packages that are recorded or will be installed. */
export function knownToolIds(
  state: Pick<InstallState, "record">,
  candidates: ReadonlyMap<string, Candidate> = new Map(),
): readonly string[] {
  return [...candidates.keys(), ...state.record.packages.map(({ toolId }) => toolId)];
}

/**
 * Adds the missing tools to `candidates`.
 *
 * @param add adds one, and refuses too many.
 * @throws {InstallError} `INSTALL_TOOLS_MISSING`, `INSTALL_CHAIN_CYCLE`; as `openTool` and `add`.
 */
export async function resolveChains(
  state: InstallState,
  candidates: Candidates,
  validator: SchemaValidator,
  { openTool, add }: { readonly openTool: OpenTool; readonly add: (candidate: Candidate) => void },
): Promise<void> {
  const missing = new Map<string, string>();
  // A map can grow while it is iterated: the tools that are added have chains too.
  for (const [toolId, { opened }] of candidates) {
    for (const tool of toolsOfChain(opened.manifest, knownToolIds(state, candidates))) {
      if (candidates.has(tool) || missing.has(tool)) continue;
      const entry = visibleEntryOf(state, tool);
      if (entry !== undefined && openIntact(state.home, entry, validator) !== undefined) continue;
      const found = await openTool(tool);
      if (found === undefined) missing.set(tool, toolId);
      else add({ ...found, neededBy: [toolId] });
    }
  }
  if (missing.size > 0) {
    const list = [...missing].map(([tool, by]) => `${tool} (for ${by})`).join(", ");
    const names = [...missing.keys()].join(" ");
    throw new InstallError("INSTALL_TOOLS_MISSING", `Nothing is installed: a chain needs ${list}`, {
      hint:
        state.project === undefined
          ? `install them for the user first, or name their files in the same command; those of a project do not count, and no registry has ${names}`
          : `install them first, or name their files in the same command; they are not installed, and no registry has ${names}`,
    });
  }
  refuseCycles(state, candidates, validator);
}

/** @throws {InstallError} `INSTALL_CHAIN_CYCLE` */
function refuseCycles(state: InstallState, candidates: Candidates, validator: SchemaValidator): void {
  const known = knownToolIds(state, candidates);
  const tools = (toolId: string): readonly string[] => {
    const candidate = candidates.get(toolId);
    if (candidate !== undefined) return toolsOfChain(candidate.opened.manifest, known);
    const entry = visibleEntryOf(state, toolId);
    const opened = entry && openIntact(state.home, entry, validator);
    return opened === undefined ? [] : toolsOfChain(opened.manifest, known);
  };
  const done = new Set<string>();
  const visit = (toolId: string, path: readonly string[]): void => {
    const start = path.indexOf(toolId);
    if (start !== -1) {
      const circle = [...path.slice(start), toolId].join(" → ");
      throw new InstallError(
        "INSTALL_CHAIN_CYCLE",
        `Nothing is installed: chains call each other: ${circle}`,
        {
          hint: "a chain that reaches itself never ends; remove one of these steps",
        },
      );
    }
    if (done.has(toolId)) return;
    for (const tool of tools(toolId)) visit(tool, [...path, toolId]);
    done.add(toolId);
  };
  for (const toolId of candidates.keys()) visit(toolId, []);
}

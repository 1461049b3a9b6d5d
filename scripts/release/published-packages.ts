/** The packages that are published, each installable on its own: what is in them, and their limits. */

/** One published package. */
export interface PublishedPackage {
  readonly name: string;
  /** The folder below `packages` with its sources, its README and its dependencies. */
  readonly folder: string;
  /** A program has commands, and brings the catalog and the engine of toolpacks; a library has types. */
  readonly kind: "program" | "library";
  /** Whether it starts gateways. */
  readonly startsGateways: boolean;
  readonly description: string;
  readonly keywords: readonly string[];
}

/** All published packages. */
export const publishedPackages: readonly PublishedPackage[] = [
  {
    name: "toolcrib",
    folder: "cli",
    kind: "program",
    startsGateways: true,
    description:
      "MCP gateway: one endpoint for all tools of an AI agent, found by search, governed by policy, recorded in an audit trail",
    keywords: ["mcp", "model-context-protocol", "gateway", "agent", "tools", "policy", "audit"],
  },
  {
    name: "@toolcrib/registry",
    folder: "registry",
    kind: "library",
    startsGateways: true,
    description: "Functions and MCP servers under one index: searched, executed, served and governed",
    keywords: ["mcp", "model-context-protocol", "registry", "agent", "tools", "search"],
  },
  {
    name: "@toolcrib/mcpkg",
    folder: "mcpkg",
    kind: "library",
    startsGateways: false,
    description: "Tool packages (.mcpkg): built, read, checked, signed and verified",
    keywords: ["mcp", "mcpkg", "tools", "package", "signature"],
  },
  {
    name: "@toolcrib/starlark",
    folder: "starlark",
    kind: "library",
    startsGateways: false,
    description:
      "Starlark in TypeScript, with limits of steps, time and memory, and a machine that can wait at any call",
    keywords: ["starlark", "interpreter", "sandbox"],
  },
];

/** Limits of an installed package: its bytes and its files. */
export const packageLimits = { maxBytes: 16_000_000, maxFiles: 400 };

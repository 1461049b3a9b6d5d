/**
 * The gateway as chains see it: the tools that the caller of a chain may use, and calls of them
 * through the governed call. To a caller, tools that it may not use do not exist.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import type { ChainDeps } from "@toolcrib/mcpkg-runtime";
import { isOperator } from "@toolcrib/tool";
import type { GatewayCore } from "../gateway-core.ts";

type ChainTools = ReturnType<ChainDeps["tools"]>;

/** Creates the host of chains. @param chainOf returns the chain of an installed package */
export function chainHostOf(
  core: Pick<GatewayCore, "find" | "callInner" | "explain">,
  chainOf: ChainTools["chainOf"],
): Omit<ChainDeps, "validator" | "monotonicMs"> {
  return {
    tools: ({ identity }) => ({
      find(name) {
        const entry = core.find(identity, name);
        // Toolcrib's own tools change the gateway: a publisher must not have them called.
        if (entry === undefined || !entry.facts.isCallableByComposites) return undefined;
        return { source: entry.tool.namespace, inputSchema: entry.tool.definition.inputSchema };
      },
      chainOf,
    }),
    async callTool(context, name, args) {
      try {
        return await core.callInner(context, name, args);
      } catch (error) {
        const isDenied = isCodedError(error) && /^POLICY_(?:DENIED|UNAVAILABLE)$/.test(error.code);
        throw isDenied && !isOperator(context.identity) ? core.explain(context.identity, name) : error;
      }
    },
  };
}

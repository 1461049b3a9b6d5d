import { metaToolNames, ownNamespace, savedNamespace, toToolId } from "@toolcrib/tool";

/**
 * The tools that every allow list allows, unless a deny list denies them: the meta-tools and saved tools. They show
 * and call only what their caller may use. All other tools of Toolcrib need an entry, such as `toolcrib:save_tool`.
 */
export const defaultAllowedTools: readonly string[] = [
  ...Object.values(metaToolNames).map((name) => toToolId(ownNamespace, name)),
  toToolId(savedNamespace, "*"),
];

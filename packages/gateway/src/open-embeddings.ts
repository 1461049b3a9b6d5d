/** Opens the endpoint by which search goes by meaning; loads its code only where there is one. */

import { SecretResolver } from "@toolcrib/config";
import type { SearchEmbeddings } from "@toolcrib/embeddings";
import { readRegularFile } from "@toolcrib/files";
import type { HooksContext } from "@toolcrib/hook-programs";
import type { SourceContext } from "./sources/open-sources.ts";

/** @returns undefined without `search.embeddings` */
export async function openEmbeddings(
  context: Omit<HooksContext, "config"> & Pick<SourceContext, "config">,
  opening: AsyncDisposableStack,
): Promise<SearchEmbeddings | undefined> {
  const { embeddings } = context.config.search;
  if (embeddings === undefined) return undefined;
  const { SearchEmbeddings } = await import("@toolcrib/embeddings");
  const resolver = new SecretResolver({ ...context, readFile: readRegularFile });
  return opening.use(new SearchEmbeddings(embeddings, { ...context, resolver }));
}

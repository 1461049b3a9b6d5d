// For other packages here.
export { type EmbeddingsStatus, SearchEmbeddings } from "./search-embeddings.ts";

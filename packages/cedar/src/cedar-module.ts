/** The Cedar engine: a WebAssembly module of 4 MB that is loaded only where there are policy files. */

/** The functions of the engine. */
export type CedarModule = Awaited<ReturnType<typeof importCedar>>["default"];

const importCedar = () => import("@cedar-policy/cedar-wasm/nodejs");

/** Loads the engine, once for the process. */
export async function loadCedar(): Promise<CedarModule> {
  return (await importCedar()).default;
}

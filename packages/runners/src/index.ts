// For other packages here.
export { FetchSandbox } from "./fetch-sandbox.ts";
export { findRegistries } from "./find-registries.ts";
export { PackageStore, type StoredPackage } from "./package-store.ts";

/** The interface between installation and registries. Types only. */

/** Finds packages by their toolId. */
export interface PackageResolver {
  /** Where it looks, for messages and the record: such as the URL or the folder of a registry. */
  readonly place: string;
  /**
   * Finds the greatest version of a tool in a range.
   *
   * @param range of SemVer as npm reads it, such as `^1.2`, `1.0.0` or `*`; a pre-release only where the range names one.
   * @returns undefined where there is no such tool, or no version of it in the range.
   * @throws a `CodedError` where it cannot look, and the reason of `signal`.
   */
  resolve(toolId: string, range: string, signal: AbortSignal): Promise<ResolvedPackage | undefined>;
}

/** One version of a package that a resolver found. */
export interface ResolvedPackage {
  readonly version: string;
  /** Digest that the archive must have, such as `sha256:…`, as `digestArchive` of `mcpkg` gives it. */
  readonly digest: string;
  /** Id of the key that must have signed it, as `keyIdOf` gives it. @default any key, or none */
  readonly publisherKey?: string;
  /** Returns the bytes of the archive, at most 64 MiB. They are not trusted: the caller compares their digest. */
  fetch(): Promise<Uint8Array>;
}

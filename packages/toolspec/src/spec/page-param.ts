/** The parameter that selects a page, or a field of an object parameter, such as `variables.after` in GraphQL. */

/** A parameter, and its field when the field selects the page. */
export interface PageParam<T> {
  readonly param: T;
  readonly field: string | undefined;
}

/** Resolves `written` among `params`; a parameter with the whole name takes precedence. */
export function findPageParam<T extends { readonly name: string; readonly type: string | undefined }>(
  params: readonly T[],
  written: string,
): PageParam<T> | undefined {
  const param = params.find(({ name }) => name === written);
  if (param !== undefined) return { param, field: undefined };
  const owner = params.find(
    ({ name, type }) =>
      type === "object" && written.startsWith(`${name}.`) && written.length > name.length + 1,
  );
  return owner && { param: owner, field: written.slice(owner.name.length + 1) };
}

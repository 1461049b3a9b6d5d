/** A file of a client as a tree, whatever its format is. */

/** A value and where it begins, as an offset in the text. */
export type FileNode =
  | { readonly kind: "map"; readonly at: number; readonly members: readonly FileMember[] }
  | { readonly kind: "list"; readonly at: number; readonly items: readonly FileNode[] }
  | { readonly kind: "scalar"; readonly at: number; readonly value: string | number | boolean | null };

/** A member of a map. A key that occurs twice is two members. */
export interface FileMember {
  readonly key: string;
  readonly at: number;
  readonly value: FileNode;
}

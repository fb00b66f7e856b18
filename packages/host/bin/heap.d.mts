/** Flags for the Node process of a host. */
export const hostHeapFlags: readonly string[];

/** The flags that this command needs and does not have. */
export function missingHeapFlags(command?: {
  readonly args?: readonly string[];
  readonly nodeFlags?: readonly string[];
  readonly heapBytes?: number;
}): readonly string[];

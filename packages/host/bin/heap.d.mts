/** Flags for the Node process of a host. */
export const hostHeapFlags: readonly string[];

/** How many threads collect garbage on a machine with so many cores. */
export function collectors(cores: number): number;

/** Whether these arguments start a host. */
export function startsHost(args?: readonly string[]): boolean;

/** The flags that this command needs and does not have. */
export function missingHeapFlags(command?: {
  readonly args?: readonly string[];
  readonly nodeFlags?: readonly string[];
  readonly heapBytes?: number;
}): readonly string[];

/** Reads a caught error without knowing its class. */

export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Whether a system call failed with this code, for example `EEXIST`. */
export const hasErrorCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

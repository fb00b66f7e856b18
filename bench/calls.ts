/** Calls of other systems, as the load generator makes them. */
import type { Target } from './watched-run.ts';

/** Where the number of a call goes in its body. */
export const CALL_NUMBER = '#NUMBER#';

export interface CallLoad {
  readonly target: Target;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What every response holds. */
  readonly mark: string;
  readonly concurrency: number;
  readonly count: number;
}

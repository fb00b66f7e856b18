/** The ports of forks. */
import type { RunCreationPorts } from '../creation/create-run.ts';
import type { RunLoader } from '../loading/run-loader.ts';

export interface ForkPorts extends RunCreationPorts {
  readonly loader: RunLoader;
  /** Tells the scheduler that a run is due. */
  readonly nudge: () => void;
}

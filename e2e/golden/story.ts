/** A story makes one golden history: a program, and what people do with a run of it. */
import type { RunId } from '@cairn/protocol';
import type { GoldenApp, GoldenHost } from './golden-host.ts';

export interface Story {
  /** Of its file, and in the ids of its runs. */
  readonly name: string;
  readonly app: GoldenApp;
  /** Returns the run to record, with the runs below it. */
  readonly play: (host: GoldenHost) => Promise<RunId>;
}

/** The thread that watches the decisions of the event loop. It waits while there are none. */
import { closeSync, openSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { DecisionMemory } from './decision-memory.ts';
import { DecisionWatch, keptInFile, lookUntilStopped } from './decision-watch.ts';

export interface WatchData {
  readonly file: string;
  readonly shared: SharedArrayBuffer;
}

const { file, shared } = workerData as WatchData;
const memory = new DecisionMemory(shared);
const fd = openSync(file, 'r+');
const watch = new DecisionWatch(memory, keptInFile(fd));
await lookUntilStopped(memory, watch);
closeSync(fd);

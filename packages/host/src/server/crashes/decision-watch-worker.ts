/** The thread that watches the decisions of the event loop. It sleeps while there are none. */
import { closeSync, openSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { DecisionMemory } from './decision-memory.ts';
import { DecisionWatch, keptInFile } from './decision-watch.ts';

export interface WatchData {
  readonly file: string;
  readonly shared: SharedArrayBuffer;
}

/** A decision that fills the memory of the process takes far longer; an ordinary one takes well under 1 ms. */
const LOOK_MS = 20;

const { file, shared } = workerData as WatchData;
const memory = new DecisionMemory(shared);
const fd = openSync(file, 'r+');
const watch = new DecisionWatch(memory, keptInFile(fd));
while (!memory.isStopped) memory.sleep(watch.look(), LOOK_MS);
closeSync(fd);

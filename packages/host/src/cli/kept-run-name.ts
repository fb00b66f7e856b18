/** The same names of runs as `run-name.ts`, in a data folder. */
import type { ReadOnlyLog } from '../log/sqlite/folder/read-only.ts';
import { isNamed, LAST, onlyRun } from './run-name.ts';

export function keptRunNamed(log: Pick<ReadOnlyLog, 'runs'>, name: string): string {
  const found = [];
  for (const run of log.runs()) {
    if (isNamed(run, name)) found.push(run);
    if (name === LAST && found.length > 0) break;
  }
  return onlyRun(found, name) ?? name;
}

/** The same names of runs as `run-name.ts`, in a data folder. */
import { TerminalError } from '@cairn/protocol';
import { isNamed, LAST, type NamedRun, onlyRun } from './run-name.ts';

/** `log.runs` gives the newest first. */
export function keptRunNamed(log: { runs(): Iterable<NamedRun> }, name: string): string {
  const found: NamedRun[] = [];
  for (const run of log.runs()) {
    if (isNamed(run, name)) found.push(run);
    if (name === LAST && found.length > 0) break;
  }
  return onlyRun(found, name) ?? name;
}

export const noKeptRun = (name: string, place: string): TerminalError =>
  new TerminalError('not_found', {
    message: `There is no run ${JSON.stringify(name)} in ${place}.`,
    hint: '"cairn runs" lists runs. --data and --store select another store.',
  });

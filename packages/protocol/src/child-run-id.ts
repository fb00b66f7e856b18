/**
 * The id of a child run is a path: that of its parent with a number. Only this file builds and reads paths. Its readers
 * have no field to ask: a filter decides by the columns of a row, a fork names the runs at the same place of its tree, a
 * question goes to a run that is levels above, and a user types the beginning of an id.
 */
import type { RunId } from './ids.ts';

export const childRunIdOf = (parent: RunId, index: number): RunId => `${parent}.${index}` as RunId;

/** The id of a child's fork below the fork of its parent. It keeps its number, which no later child is given. */
export const forkedChildIdOf = (parent: RunId, child: RunId): RunId =>
  childRunIdOf(parent, Number(child.slice(child.lastIndexOf('.') + 1)));

/** The number of runs above a run, by its id. */
export const levelOfRun = (id: string): number => id.split('.').length - 1;

/** The run so many levels above; null when the id names none. */
export function runAbove(id: string, levels = 1): RunId | null {
  let end = id.length;
  for (let i = 0; i < levels; i += 1) {
    end = id.lastIndexOf('.', end - 1);
    if (end <= 0) return null;
  }
  return id.slice(0, end) as RunId;
}

/** Whether a run is below another one, at any level. */
export const isBelowRun = (id: string, above: string): boolean =>
  id.length > above.length && id.startsWith(above) && id[above.length] === '.';

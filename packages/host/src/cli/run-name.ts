/** Finds the run that a word names: an id, the beginning of one, or `last`. */
import type { Client } from '@cairn/client';
import { isBelowRun, isCairnError, type RunList } from '@cairn/protocol';
import { safe } from './render/style.ts';
import { usageError } from './usage-error.ts';

/** The newest run that no other run started. */
export const LAST = 'last';

/** How many pages of runs a search reads, newest first. A page may be short although more follow. */
const MAX_PAGES = 50;
const PAGE = 200;

/** The ids that hosts give: a UUID, and the number of each child run on the path to it. */
const WHOLE = /^run_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(\.\d+)*$/;

export interface NamedRun {
  readonly runId: string;
  readonly parentRunId?: string | undefined;
}

/** The id of the run. A name that no run matches is returned as it is: the host says that there is none. */
export async function runNamed(client: Client, name: string): Promise<string> {
  if (WHOLE.test(name)) return name;
  const found: NamedRun[] = [];
  try {
    let cursor: string | null = null;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const listed: RunList = await client.runs.list({ limit: PAGE, ...(cursor === null ? {} : { cursor }) });
      found.push(...listed.runs.filter((run) => isNamed(run, name)));
      cursor = listed.nextCursor;
      if (cursor === null || (name === LAST && found.length > 0)) break;
    }
  } catch (error) {
    // A key may cancel a run without the right to list runs.
    if (!isCairnError(error, 'forbidden')) throw error;
    return name;
  }
  if (name === LAST) return newest(found);
  return onlyRun(found, name) ?? name;
}

function newest([run]: readonly NamedRun[]): string {
  if (run !== undefined) return run.runId;
  throw usageError('There is no run yet.', 'Start one with: cairn run hello');
}

export const isNamed = ({ runId, parentRunId }: NamedRun, name: string): boolean =>
  name === LAST ? parentRunId === undefined : runId.startsWith(name) || runId.startsWith(`run_${name}`);

/** The run with exactly this id, or the only one; a run stands for the runs below it. Undefined if there is none. */
export function onlyRun(found: readonly NamedRun[], name: string): string | undefined {
  const exact = found.find(({ runId }) => runId === name);
  const [shortest] = found.toSorted((a, b) => a.runId.length - b.runId.length);
  if (exact !== undefined || shortest === undefined) return exact?.runId;
  const others = found.filter(({ runId }) => runId !== shortest.runId && !isBelowRun(runId, shortest.runId));
  if (others.length === 0) return shortest.runId;
  const shown = found.slice(0, 5).map(({ runId }) => safe(runId));
  throw usageError(
    `${safe(name)} is the beginning of ${found.length} runs.`,
    `Name one: ${shown.join(', ')}${found.length > 5 ? ', …' : ''}`,
  );
}

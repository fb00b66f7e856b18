/** Walks the chains of runs, request by request, and tells how far it is. */
import type { Runs } from '@cairn/client';

export interface Checked {
  readonly runs: number;
  readonly events: number;
  /** Events whose content was purged. */
  readonly retired: number;
  readonly problems: readonly { readonly runId: string; readonly sequence: number; readonly message: string }[];
  readonly isComplete: boolean;
}

export const nothingChecked: Checked = { runs: 0, events: 0, retired: 0, problems: [], isComplete: false };

type ChainCalls = Pick<Runs, 'chain' | 'all'>;

export async function* checkRun(calls: ChainCalls, runId: string, signal: AbortSignal): AsyncGenerator<Checked> {
  for await (const checked of walk(calls, runId, nothingChecked, signal)) yield checked;
}

/** From the newest run to the oldest. */
export async function* checkAll(calls: ChainCalls, signal: AbortSignal): AsyncGenerator<Checked> {
  let sum = nothingChecked;
  for await (const { runId } of calls.all({ limit: 200 }, { signal })) {
    for await (const checked of walk(calls, runId, sum, signal)) sum = checked;
    yield { ...sum, isComplete: false };
  }
  yield { ...sum, isComplete: true };
}

async function* walk(calls: ChainCalls, runId: string, before: Checked, signal: AbortSignal): AsyncGenerator<Checked> {
  let sum: Checked = { ...before, runs: before.runs + 1 };
  let after: number | undefined;
  do {
    const page = await calls.chain(runId, { signal, ...(after !== undefined && { after }) });
    after = page.next ?? undefined;
    sum = {
      ...sum,
      events: sum.events + page.checked,
      retired: sum.retired + page.retired,
      problems: [...sum.problems, ...page.problems.map((problem) => ({ runId, ...problem }))],
      isComplete: page.next === null,
    };
    yield sum;
  } while (after !== undefined);
}

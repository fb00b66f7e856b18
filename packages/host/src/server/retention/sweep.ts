/** Purges what the rules of the configuration let go, every hour and after each start. */
import { isCairnError } from '@cairn/protocol';
import type { Report, Timers } from '../../engine/ports.ts';
import { UNNAMED_BLOB_MS } from '../../log/ports/blobs.ts';
import type { RunGroup } from '../../log/ports/retention.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import type { Store } from '../../log/ports/store.ts';
import { hostInstruments } from '../../telemetry/instruments.ts';
import type { Recorder } from '../../telemetry/meter.ts';
import type { TreePurger } from './purger.ts';
import { expiry, type RetentionRule, ruleFor } from './rules.ts';

export interface SweepPorts {
  readonly store: Pick<Store, 'retention' | 'runIndex' | 'blobs'>;
  readonly purger: TreePurger;
  readonly timers: Timers;
  readonly now: () => number;
  readonly report: Report;
  readonly recorder: Recorder;
}

/** How often the rules are applied. */
const SWEEP_EVERY_MS = 3_600_000;

/** Runs that are looked at together. Other requests are served between two pages. */
const PAGE = 200;

export interface Swept {
  /** Root runs whose trees were purged. */
  readonly trees: number;
  readonly runs: number;
  readonly bytes: number;
  /** Trees that were to go, but that forks or active runs need. */
  readonly kept: number;
}

/** Starts to purge in the background. Returns the function that stops it after the tree that it purges. */
export function startRetention(rules: readonly RetentionRule[], ports: SweepPorts): () => Promise<void> {
  const { purger, timers, report } = ports;
  let cancel = (): void => {};
  let isClosed = false;
  const round = async (): Promise<void> => {
    try {
      const resumed = await purger.resume();
      const swept = await sweep(rules, ports, () => isClosed);
      await sweepBlobs(ports, () => isClosed);
      if (resumed === 0 && swept.trees === 0 && swept.kept === 0) return;
      const released = await purger.releaseSpace();
      report({ level: 'info', event: 'retention.swept', facts: { ...swept, resumed, releasedBytes: released } });
    } catch (error) {
      if (!isClosed) report({ level: 'warn', event: 'retention.failed', error });
    }
  };
  let current: Promise<void> = Promise.resolve();
  const go = (): void => {
    current = round().then(() => {
      if (!isClosed) cancel = timers.after(SWEEP_EVERY_MS, go);
    });
  };
  go();
  return async () => {
    isClosed = true;
    cancel();
    await current;
  };
}

/** Purges every tree that the rules let go. A tree that cannot go is counted, and tried again the next time. */
export async function sweep(
  rules: readonly RetentionRule[],
  ports: SweepPorts,
  isClosed: () => boolean = () => false,
): Promise<Swept> {
  const swept = { trees: 0, runs: 0, bytes: 0, kept: 0 };
  for await (const run of expired(rules, ports)) {
    if (isClosed()) break;
    try {
      const { runs, bytes } = await ports.purger.purge(run, false);
      swept.trees += 1;
      swept.runs += runs;
      swept.bytes += bytes;
    } catch (error) {
      if (isCairnError(error, 'run_purged')) continue;
      if (!isCairnError(error, 'conflict')) throw error;
      swept.kept += 1;
      ports.recorder.add(hostInstruments.keptTrees, []);
    }
  }
  return swept;
}

/** Removes blobs that a writer put and never named, such as those of a host that was killed in between. */
export async function sweepBlobs(
  { store: { blobs }, now }: Pick<SweepPorts, 'store' | 'now'>,
  isClosed: () => boolean,
): Promise<void> {
  const before = now() - UNNAMED_BLOB_MS;
  while (!isClosed() && (await blobs.sweepSome(before)) > 0);
}

/** The root runs that the rules let go, of all tenants or of one. */
export async function* expired(
  rules: readonly RetentionRule[],
  { store: { retention, runIndex }, now }: Pick<SweepPorts, 'store' | 'now'>,
  tenant?: string,
): AsyncGenerator<RunRecord> {
  const at = now();
  let group: RunGroup | null = tenant === undefined ? null : { tenant, workflowId: '' };
  for (;;) {
    group = rules.length === 0 ? null : await retention.nextGroup(group);
    if (group === null || (tenant !== undefined && group.tenant !== tenant)) return;
    const rule = ruleFor(rules, group);
    if (rule === null) continue;
    const isExpired = expiry(rule, at);
    for (let cursor: string | undefined; ; ) {
      const page = await runIndex.list({ ...group, limit: PAGE, cursor });
      for (const run of page.runs) if (isExpired(run)) yield run;
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
  }
}

/** Reads both logs of a diff: page by page, in turns with other work, keeping hashes and positions only. */
import {
  DiffSide,
  foldEventOf,
  isJsonObject,
  type JsonObject,
  type OwnIds,
  type RunView,
  SideArtifacts,
} from '@cairn/protocol';
import type { RunHead } from '../../log/ports/event-log.ts';
import type { ContentPorts } from './artifact-content.ts';

/** A run to compare. */
export interface DiffRun {
  readonly head: RunHead;
  /** The view after its last event. */
  readonly view: RunView;
}

export interface SideRequest {
  readonly run: DiffRun;
  /** The last row that both logs share. */
  readonly sharedUpTo: number;
  readonly ids: OwnIds;
  /** The visits of nodes at the last shared row. */
  readonly visits: Readonly<Record<string, number>>;
  readonly audience: 'client' | undefined;
}

export interface ReadSide {
  readonly side: DiffSide;
  readonly artifacts: SideArtifacts;
  /** The row that begins a branch, if it lies in what was read. */
  readonly branch: JsonObject | null;
  /** Rows after the most that one diff reads. */
  readonly unread: number;
}

/** Rows of one run that a diff reads. They cost about 20 µs and 60 bytes each. */
const MAX_ROWS = 200_000;

const PAGE = { limit: 250, maxBytes: 131_072 };

/** Parsing and hashing a character takes this many times as long as writing it. */
const COST = 8;
/** What a row costs besides its payload. */
const ROW_COST = 1_024;

export async function readSide(request: SideRequest, { store: { log }, turns }: ContentPorts): Promise<ReadSide> {
  const { run, sharedUpTo, ids, visits, audience } = request;
  const { runId, tenant } = run.head.record;
  const last = Math.min(run.head.seq, sharedUpTo + MAX_ROWS);
  const side = new DiffSide({ ids, visits, isWhole: audience === undefined });
  const artifacts = new SideArtifacts(ids);
  let branch: JsonObject | null = null;
  for (let after = sharedUpTo; after < last; ) {
    const rows = await log.read({ runId, after, audience, ...PAGE, isForFrames: true });
    for (const row of rows) {
      if (row.seq > last) break;
      await turns.take(tenant, () => {
        const event = foldEventOf(row);
        side.add(event);
        artifacts.add(event);
        if (row.type === 'cairn.run.forked' && isJsonObject(event.payload)) branch = event.payload;
        turns.charge(ROW_COST + row.payload.length * COST);
      });
    }
    after = rows.at(-1)?.seq ?? last;
  }
  return { side, artifacts, branch, unread: run.head.seq - last };
}

/** The columns of runs and interrupts as every database has them, and their conversion to records. */
import type { ContextId, RunId, RunStatus } from '@cairn/protocol';
import type { RunFork } from './ports/event-log.ts';
import type { InterruptRecord, ListedRun, RunPage, RunRecord, RunSummary, Vote } from './ports/run-index.ts';
import { noSummary } from './run-summary.ts';

/** Columns of a run. The key is first. */
export const RUN_COLUMNS = `runs.key, runs.id, runs.tenant, runs.context, runs.origin, runs.parent, runs.workflow,
  runs.definition, runs.principal, runs.status, runs.node, runs.tags, runs.error_code, runs.error_message,
  runs.created_at, runs.ended_at, runs.imported_at, runs.scope, runs.fork_source, runs.fork_seq, runs.fork_mode,
  runs.summary`;

export type RunColumns = [
  key: number,
  runId: RunId,
  tenant: string,
  contextId: ContextId,
  originRunId: RunId,
  parentRunId: RunId | null,
  workflowId: string,
  definitionHash: string,
  principal: string | null,
  status: RunStatus,
  currentNodeId: string | null,
  tags: string,
  errorCode: string | null,
  errorMessage: string | null,
  createdAt: number,
  endedAt: number | null,
  importedAt: number | null,
  scopeId: string | null,
  sourceRunId: RunId | null,
  fromSeq: number | null,
  mode: RunFork['mode'] | null,
  summary: string,
];

export function recordOf(run: RunColumns): RunRecord {
  return {
    runId: run[1],
    tenant: run[2],
    contextId: run[3],
    originRunId: run[4],
    parentRunId: run[5],
    workflowId: run[6],
    definitionHash: run[7],
    principal: run[8],
    status: run[9],
    currentNodeId: run[10],
    tags: parseTexts(run[11]),
    errorCode: run[12],
    errorMessage: run[13],
    createdAt: run[14],
    endedAt: run[15],
    importedAt: run[16],
    scopeId: run[17],
    fork: forkOf(run[18], run[19], run[20]),
    summary: parseSummary(run[21]),
  };
}

/** A run as the list reads it: the status that the list shows, then its columns. */
export type ListColumns = [shown: RunStatus, ...RunColumns];

/** Characters of tags, summaries and error messages on one page. One run more may fit on it, however large. */
const PAGE_CHARS = 262_144;

/** A page of the run list. Reads one run more than the page has, to know whether more follow. */
export function runPageOf(found: Iterable<ListColumns>, limit: number): RunPage {
  const runs: ListedRun[] = [];
  let last = 0;
  let chars = 0;
  for (const [shownStatus, ...columns] of found) {
    if (runs.length === limit || chars > PAGE_CHARS) return { runs, nextCursor: String(last) };
    runs.push({ ...recordOf(columns), shownStatus });
    [last] = columns;
    chars += charsOf(columns);
  }
  return { runs, nextCursor: null };
}

/** The columns that have no small bound. */
const charsOf = (columns: RunColumns): number => columns[11].length + (columns[13]?.length ?? 0) + columns[21].length;

export const forkOf = (
  sourceRunId: RunId | null,
  fromSeq: number | null,
  mode: RunFork['mode'] | null,
): RunFork | null =>
  sourceRunId === null || fromSeq === null || mode === null ? null : { sourceRunId, fromSeq, mode };

export type InterruptColumns = [
  interruptId: string,
  nodeId: string,
  kind: string,
  open: number,
  requestedAt: number,
  seq: number,
  votes: string,
  title: string,
];

/** Columns of an interrupt. */
export const INTERRUPT_COLUMNS = `interrupts.id, interrupts.node, interrupts.kind, interrupts.open,
  interrupts.requested_at, interrupts.seq, interrupts.votes, interrupts.title`;

export function interruptOf(runId: RunId, columns: InterruptColumns): InterruptRecord {
  const [interruptId, nodeId, kind, open, requestedAt, seq, votesText, title] = columns;
  const votes: readonly Vote[] = JSON.parse(votesText);
  return { runId, interruptId, nodeId, kind, title, open: open === 1, requestedAt, seq, votes };
}

/** Most runs of most hosts have no agent and no title: they share one object, and an empty column. */
export const summaryText = (summary: RunSummary): string => (summary === noSummary ? '' : JSON.stringify(summary));

function parseSummary(column: string): RunSummary {
  if (column === '') return noSummary;
  const summary: RunSummary = JSON.parse(column);
  return summary;
}

/** A column that holds a JSON array of texts. */
export function parseTexts(column: string): readonly string[] {
  const texts: readonly string[] = JSON.parse(column);
  return texts;
}

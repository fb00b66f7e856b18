/** One line for the start and one for the end of a run, as `cairn dev` prints them. */
import type { RunNotice } from '../../server/run-notices.ts';
import { oneLine, type Style, safe } from '../render/style.ts';
import { span } from '../render/time.ts';

const MAX_ERROR = 200;

const ends = {
  'run.completed': ['✓', 'green', 'completed'],
  'run.failed': ['✗', 'red', 'failed'],
  'run.cancelled': ['■', 'yellow', 'cancelled'],
} as const;

/** A child run is indented below its parent. */
export function runLine(notice: RunNotice, style: Style, now: number): string {
  const { runId, workflowId, depth } = notice;
  const start = `${style.dim(timeOfDay(now))} ${'  '.repeat(depth)}`;
  const name = `${safe(workflowId)}  ${style.dim(safe(runId))}`;
  if (notice.type === 'run.started') return `${start}▸ ${name}`;
  const [mark, colour, word] = ends[notice.type];
  const took =
    notice.durationMs === null ? '' : ` ${notice.type === 'run.completed' ? 'in' : 'after'} ${span(notice.durationMs)}`;
  const why = notice.reason === null ? '' : `: ${oneLine(notice.reason, MAX_ERROR)}`;
  return `${start}${style[colour](mark)} ${name}  ${word}${took}${why}`;
}

const timeOfDay = (now: number): string => new Date(now).toTimeString().slice(0, 8);

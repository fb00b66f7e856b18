/** One question of the inbox on a line: who asks, on which way it came, what, since when, until when. */
import type { InboxEntry } from '@cairn/protocol';
import { oneLine, type Style, safe } from './style.ts';
import { ago, span } from './time.ts';

export const INBOX_HEADER = ['#', 'WHO ASKS', 'WHERE', 'SINCE', 'EXPIRES', 'QUESTION'];

export function inboxRow(entry: InboxEntry, number: number, style: Style, now: number): readonly string[] {
  return [
    style.bold(String(number)),
    whoAsks(entry),
    way(entry),
    ago(Date.parse(entry.requestedAt), now),
    expiry(entry, now),
    `${asked(entry)}${style.dim(votes(entry))}`,
  ];
}

/** Several questions in one are one line. */
export const asked = ({ title }: InboxEntry, width?: number): string => oneLine(title.replaceAll('\n', ' / '), width);

/** The last part of an agent's id says most; without an agent, the node. */
export const whoAsks = ({ agentId, nodeId }: InboxEntry): string =>
  safe(agentId === undefined ? nodeId : (agentId.split('.').at(-1) ?? agentId));

/** The workflows from the root down. */
export const way = ({ path }: InboxEntry): string => path.map(({ workflowId }) => safe(workflowId)).join(' > ');

function expiry({ expiresAt }: InboxEntry, now: number): string {
  if (expiresAt === undefined) return '-';
  const left = Date.parse(expiresAt) - now;
  return left <= 0 ? 'now' : `in ${span(left)}`;
}

function votes({ quorum, assignees }: InboxEntry): string {
  const so =
    quorum === undefined || quorum.required === 1 ? '' : `  ${quorum.approvals} of ${quorum.required} approved`;
  return assignees === undefined ? so : `${so}  for ${assignees.map(safe).join(', ')}`;
}

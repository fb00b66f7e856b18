/** Formats a question of the inbox on one line. */
import type { InboxEntry } from '@cairn/protocol';
import { oneLine, type Style, safe } from './style.ts';
import { ago, span } from './time.ts';

export const INBOX_HEADER = ['#', 'FROM', 'PATH', 'SINCE', 'EXPIRES', 'QUESTION'];

export function inboxRow(entry: InboxEntry, number: number, style: Style, now: number): readonly string[] {
  return [
    style.bold(String(number)),
    askerName(entry),
    pathText(entry),
    ago(Date.parse(entry.requestedAt), now),
    expiry(entry, now),
    `${questionText(entry)}${style.dim(votes(entry))}`,
  ];
}

/** Joins several questions into one line. */
export const questionText = ({ title }: InboxEntry, width?: number): string =>
  oneLine(title.replaceAll('\n', ' / '), width);

/** The last part of the agent id, or the node id without an agent. */
export const askerName = ({ agentId, nodeId }: InboxEntry): string =>
  safe(agentId === undefined ? nodeId : (agentId.split('.').at(-1) ?? agentId));

/** The workflows from the root to the run that asks, after the host that called. */
export const pathText = ({ path }: InboxEntry): string =>
  path.map((step) => safe('hostId' in step ? step.hostId : step.workflowId)).join(' > ');

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

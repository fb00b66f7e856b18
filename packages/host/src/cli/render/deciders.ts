/** Formats who decides on a question: the votes so far, who may vote, and why the reader may not. */
import type { InboxEntry, OpenInterrupt } from '@cairn/protocol';
import { fieldsOf } from './fields.ts';
import { oneLine, type Style, safe } from './style.ts';

/** Who decides on a question. Only the list of a run's interrupts says it. */
export interface Decided {
  readonly kind: string;
  readonly assignees?: OpenInterrupt['assignees'];
  readonly quorum?: InboxEntry['quorum'];
  /** The error that an answer of this caller would get. */
  readonly refusal?: OpenInterrupt['refusal'];
}

export function deciderLines({ quorum, assignees, refusal, kind }: Decided, style: Style): readonly string[] {
  const lines: string[] = [];
  if (quorum !== undefined && (quorum.required > 1 || quorum.votes.length > 0)) {
    const votes = quorum.votes.map(({ principal, action }) => `${safe(principal)} ${safe(action)}`);
    const given = votes.length === 0 ? '' : `: ${votes.join(', ')}`;
    lines.push(`${style.dim('votes')}  ${quorum.approvals} of ${quorum.required} approved${given}`);
  }
  const who = assignees === undefined ? anyone(kind, quorum) : assignees.map(safe).join(', ');
  if (who !== '') lines.push(`${style.dim('may vote')}  ${who}`);
  if (refusal !== undefined) lines.push(style.yellow(`you cannot answer: ${oneLine(fieldsOf(refusal).message ?? '')}`));
  return lines;
}

/** Says that everyone may vote only for a gate with several votes; for any other gate a person expects it. */
const anyone = (kind: string, quorum: Decided['quorum']): string =>
  kind === 'approval' && quorum !== undefined ? 'anyone' : '';

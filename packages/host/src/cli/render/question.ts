/** What a run asks of a person, and the commands that would answer it. */
import type { JsonObject } from '@cairn/protocol';
import { lookOf } from './status.ts';
import { oneLine, type Style, safe } from './style.ts';

/** An open question as a snapshot or the list of questions gives it. */
export interface Question {
  readonly interruptId: string;
  readonly nodeId: string;
  readonly kind: string;
  readonly data: JsonObject;
}

interface Asked {
  readonly id: string;
  readonly question: string;
}

export const questionsOf = (data: JsonObject): readonly Asked[] =>
  Array.isArray(data.questions) ? (data.questions as unknown as readonly Asked[]) : [];

/** What is offered to an approver; `ask` is never an answer. */
export const actionsOf = (data: JsonObject): readonly string[] =>
  (Array.isArray(data.actions) ? data.actions.map(String) : ['accept', 'reject']).filter((action) => action !== 'ask');

export const actionWords = (data: JsonObject, between: string): string => actionsOf(data).map(safe).join(between);

/** The question itself, then what it is about. */
export function questionLines(question: Question, style: Style): readonly string[] {
  const { kind, nodeId, data } = question;
  const heading = `${lookOf('suspended', style).mark} ${style.bold(safe(nodeId))} ${headline(question)}`;
  const about: string[] = [];
  if (typeof data.description === 'string') about.push(safe(data.description));
  if (data.artifactData !== undefined) about.push(style.dim(oneLine(data.artifactData, 400)));
  if (kind === 'clarification') {
    for (const { id, question: text } of questionsOf(data)) about.push(`${style.dim(safe(id))}  ${safe(text)}`);
  }
  return [heading, ...about.map((line) => `    ${line}`)];
}

function headline({ kind, data }: Question): string {
  if (kind === 'approval') return `asks for approval: ${oneLine(data.title ?? '')} (${actionWords(data, ', ')})`;
  if (kind === 'clarification') return 'asks:';
  if (kind === 'external-event')
    return `waits for the event ${oneLine(data.eventType ?? '')} ${oneLine(data.correlation ?? {})}`;
  return `waits for an answer of kind ${safe(kind)}: ${oneLine(data, 200)}`;
}

/** The command that would answer; values to fill in are in capitals. */
export function answerCommand(runId: string, { kind, nodeId, data }: Question, isOnly = true): string {
  const node = isOnly ? '' : ` --node ${quotedWord(nodeId)}`;
  const command = `cairn answer ${quotedWord(runId)}${node}`;
  if (kind === 'approval') return `${command} ${quotedWord(actionsOf(data)[0] ?? 'accept')}`;
  if (kind !== 'clarification') return `${command} --value JSON`;
  return `${command} ${questionsOf(data)
    .map(({ id }) => `${quotedWord(id)}=ANSWER`)
    .join(' ')}`;
}

/** For a shell. Control characters are shown here too: a word with any of them has to be typed by whoever knows it. */
const quotedWord = (word: string): string =>
  /^[\w.@:/-]+$/.test(word) ? word : `'${safe(word).replaceAll("'", `'\\''`)}'`;

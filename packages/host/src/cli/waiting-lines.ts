/** Formats what a run waits for: its own questions, and those of the runs below it. */
import type { Client } from '@cairn/client';
import { type InboxEntry, isCairnError, type RunSnapshot } from '@cairn/protocol';
import { below, entryName } from './inbox-entries.ts';
import { openQuestions } from './open-questions.ts';
import { pathText } from './render/inbox-line.ts';
import { answerCommand, type Question, questionLines } from './render/question.ts';
import type { Style } from './render/style.ts';

export async function waitingLines(client: Client, run: RunSnapshot, style: Style): Promise<readonly string[]> {
  const questions = await openQuestions(client, run);
  const own = questions.flatMap((question) => [
    ...questionLines(question, style),
    ...answerLine(answerCommand(style, run.runId, question, questions.length === 1), question),
  ]);
  const lower = await questionsBelow(client, run);
  return [...own, ...lower.flatMap((entry) => entryLines(entry, style))];
}

/** Of runs with child runs that wait. The inbox is optional: a host may have none. */
export async function questionsBelow(client: Client, run: RunSnapshot): Promise<readonly InboxEntry[]> {
  if (!(run.childRuns ?? []).some(({ status }) => status.startsWith('waiting-'))) return [];
  try {
    return await below(client, run.runId);
  } catch (error) {
    if (isCairnError(error)) return [];
    throw error;
  }
}

/** A question of a run below, with the path to it. */
export function entryLines(entry: InboxEntry, style: Style): readonly string[] {
  const { interruptId, nodeId, kind, data = { title: entry.title }, assignees, quorum } = entry;
  const question: Question = {
    interruptId,
    nodeId,
    kind,
    data,
    ...(assignees === undefined ? {} : { assignees }),
    ...(quorum === undefined ? {} : { quorum }),
  };
  const [heading = '', ...details] = questionLines(question, style);
  return [
    heading,
    `    ${style.dim(pathText(entry))}`,
    ...details,
    ...answerLine(answerCommand(style, entryName(entry), question), question),
  ];
}

const answerLine = (command: string, { refusal }: Question): readonly string[] =>
  refusal === undefined ? [`    answer with: ${command}`] : [];

/** Formats a run as a page: its status, its nodes as a tree, its questions and its result. */
import type { RunSnapshot } from '@cairn/protocol';
import { type Fields, fieldsOf, isFields } from './fields.ts';
import { answerCommand, type Question, questionLines } from './question.ts';
import { errorLines } from './run-error.ts';
import { lookOf } from './status.ts';
import { manyLines, oneLine, type Style, safe } from './style.ts';
import { table } from './table.ts';
import { ago, span } from './time.ts';

export interface PageOptions {
  readonly style: Style;
  readonly columns: number | null;
  readonly now: number;
  /** The time of the shown state; the end of the duration of running nodes. */
  readonly instant: number;
  readonly questions: readonly Question[];
  /** The lines of the runs below, and of their questions. */
  readonly children: readonly string[];
  /** Show the state after this event; null: the current state. */
  readonly at: number | null;
}

export function runPage(run: RunSnapshot, options: PageOptions): readonly string[] {
  const { style, questions, at } = options;
  const { mark, paint } = lookOf(run.status, style);
  const asOf = at === null ? '' : style.dim(` as of event ${at}`);
  const lines = [`${mark} ${style.bold(safe(run.runId))}  ${paint(run.status)}${asOf}`, ...factLines(run, options)];
  const nodes = nodeLines(run, options);
  if (nodes.length > 0) lines.push('', ...nodes);
  lines.push(...options.children);
  for (const question of questions) {
    lines.push('', ...questionLines(question, style));
    const command = answerCommand(style, run.runId, question, questions.length === 1);
    const isAnswerable = at === null && run.importedAt === undefined && question.refusal === undefined;
    if (isAnswerable) lines.push(`    answer with: ${command}`);
  }
  const error = errorLines(run, style);
  if (error.length > 0) lines.push('', ...error);
  lines.push(...block('outputs', run.outputs, style));
  if (run.outputs === undefined) lines.push(...block('variables', run.variables, style));
  return lines;
}

function factLines(run: RunSnapshot, { style, columns, now }: PageOptions): readonly string[] {
  const started = run.startedAt === undefined ? null : Date.parse(run.startedAt);
  const ended = run.completedAt === undefined ? null : Date.parse(run.completedAt);
  const facts: [string, string][] = [['workflow', safe(run.workflowId)]];
  if (started !== null) {
    const took = ended === null ? '' : `, took ${span(ended - started)}`;
    facts.push(['started', `${ago(started, now)} (${run.startedAt})${took}`]);
  }
  if (run.owner?.principal !== undefined) facts.push(['by', safe(run.owner.principal)]);
  if (run.tags !== undefined && run.tags.length > 0) facts.push(['tags', run.tags.map(safe).join(', ')]);
  if (run.inputs !== undefined && Object.keys(run.inputs).length > 0) facts.push(['inputs', oneLine(run.inputs)]);
  if (run.parentRunId !== undefined) facts.push(['parent', safe(run.parentRunId)]);
  if (run.fork !== undefined)
    facts.push([run.fork.mode, `of ${safe(run.fork.sourceRunId)} at event ${run.fork.fromSeq}`]);
  if (run.importedAt !== undefined) facts.push(['imported', `${ago(Date.parse(run.importedAt), now)}; read-only`]);
  const rows = facts.map(([name, value]) => [style.dim(name), value]);
  return table(rows, { style, columns, indent: '  ' });
}

/** A node in the state that a host reports. */
interface NodeState {
  readonly nodeId: string;
  readonly status: string;
  readonly typeId: string;
  readonly attempt: number;
  readonly visit: number;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly error?: Fields;
}

function nodeStateOf(nodeId: string, state: unknown): NodeState {
  const { status, typeId, attempt, visit, startedAt, endedAt, error } = fieldsOf(state);
  return {
    nodeId,
    status: textOf(status),
    typeId: textOf(typeId),
    attempt: typeof attempt === 'number' ? attempt : 0,
    visit: typeof visit === 'number' ? visit : 0,
    ...(typeof startedAt === 'string' ? { startedAt } : {}),
    ...(typeof endedAt === 'string' ? { endedAt } : {}),
    ...(isFields(error) ? { error } : {}),
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Nodes in the order of their start. An edge may join branches, so the tree has one level. */
function nodeLines(run: RunSnapshot, { style, columns, instant }: PageOptions): readonly string[] {
  const nodes = Object.entries(run.nodeStates ?? {})
    .map(([nodeId, state]) => nodeStateOf(nodeId, state))
    .toSorted((a, b) => (a.startedAt ?? '~').localeCompare(b.startedAt ?? '~'));
  const rows = nodes.map((node, i) => {
    const { mark, paint } = lookOf(node.status, style);
    const branch = style.dim(i === nodes.length - 1 ? '└─' : '├─');
    const name = `${branch} ${mark} ${safe(node.nodeId)}`;
    return [name, style.dim(safe(node.typeId)), paint(node.status), timeOf(node, instant), noteOf(node, style)];
  });
  return table(rows, { style, columns, wraps: true });
}

function timeOf({ startedAt, endedAt, status }: NodeState, instant: number): string {
  if (startedAt === undefined || status === 'skipped') return '';
  return span((endedAt === undefined ? instant : Date.parse(endedAt)) - Date.parse(startedAt));
}

function noteOf({ attempt, visit, error }: NodeState, style: Style): string {
  const notes: string[] = [];
  if (visit > 0) notes.push(`visit ${visit + 1}`);
  if (attempt > 0) notes.push(`attempt ${attempt + 1}`);
  if (error !== undefined) notes.push(style.red(`${oneLine(error.code ?? '')}: ${oneLine(error.message ?? '')}`));
  return notes.join('  ');
}

function block(name: string, value: Readonly<Record<string, unknown>> | undefined, style: Style): readonly string[] {
  if (value === undefined || Object.keys(value).length === 0) return [];
  return ['', style.dim(name), ...manyLines(value).map((line) => `  ${line}`)];
}
